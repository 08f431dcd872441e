#!/usr/bin/env python3
"""Checks an engine against the conformance pack.

    run.py PACK [--engine COMMAND] [--name NAME] [--per-case] [--only TEXT] [--json FILE] [--svg FILE] [--badge FILE]

PACK is a .tar.gz file of make.py or its unpacked folder. COMMAND starts the engine; README.md has its contract. The
report goes to standard output: for each area the number of cases that are exact, within a float tolerance, within 1 of
255, failed and not supported, then the failures and their likely causes. The exit status is 1 if a case failed.
Python 3.9 and NumPy are enough.
"""

import argparse
import collections
import hashlib
import html
import io
import json
import os
import pathlib
import queue
import shlex
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile

import numpy as np

LEVELS = ("exact", "tolerance", "within 1", "failed", "not supported")
COLOURS = {"exact": "#2e7d32", "tolerance": "#8bc34a", "within 1": "#ffb300", "failed": "#c62828", "not supported": "#bdbdbd"}
# A float output is within the tolerance if no value differs by more than this part of what 1 of 255 is in it.
TOLERANCE = 0.01
TIMEOUT = 120  # seconds that an engine may take for one case


# The pack.


class Pack:
    def __init__(self, path):
        path = pathlib.Path(path)
        self._tmp = None
        if path.is_file():
            self._tmp = tempfile.TemporaryDirectory(prefix="conformance-")
            with tarfile.open(path) as t:
                for m in t.getmembers():
                    if not m.isreg() or m.name.startswith("/") or ".." in m.name.split("/"):
                        raise ValueError(f"{path}: member {m.name!r}: want a regular file below the pack")
                # Not in every Python 3.9.
                t.extractall(self._tmp.name, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
            path = pathlib.Path(self._tmp.name)
        self.root = path / "pack" if (path / "pack").is_dir() else path
        self.head = json.loads((self.root / "pack.json").read_text())
        if self.head["format"] != 1:
            raise ValueError(f"{path}: format {self.head['format']}: this runner reads 1")
        self.cases = [json.loads(l) for l in (self.root / "cases.jsonl").read_text().splitlines()]
        self._values = tarfile.open(self.root / "values.tar")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._values.close()
        if self._tmp:
            self._tmp.cleanup()

    def values(self, key):
        return np.load(io.BytesIO(self._values.extractfile(key + ".npy").read()), allow_pickle=False)

    def at(self, size):
        """The flat indices of the values of an output that the pack does not hold whole."""
        s = self.head["samples"]
        return np.arange(s["count"], dtype=np.int64) * s["stride"] % size


def request(case, root):
    """What an engine is told of a case."""
    return {"id": case["id"], "task": case["task"], "files": [str(root / f) for f in case["files"]], "outputs": [o["name"] for o in case["outputs"]]}


# The engine.


class Engine:
    """One process that answers JSON lines; it is started again when it ends or takes too long."""

    def __init__(self, command, out):
        self.command, self.out, self.process = command, out, None

    def start(self):
        self.process = subprocess.Popen(self.command + ["--lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, args=(self.process.stdout, self.lines), daemon=True)
        self.reader.start()

    @staticmethod
    def _read(out, lines):
        """Reads in a thread of its own, since a pipe has no time limit; None is the end."""
        for line in out:
            lines.put(line)
        lines.put(None)

    def line(self):
        try:
            line = self.lines.get(timeout=TIMEOUT)
        except queue.Empty:
            raise RuntimeError(f"no answer in {TIMEOUT} s") from None
        if line is None:
            raise RuntimeError("the engine ended")
        return line

    def ask(self, what):
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(json.dumps(what).encode() + b"\n")
            self.process.stdin.flush()
            answer = json.loads(self.line())
            if not isinstance(answer, dict):
                raise RuntimeError("the answer is no JSON object")
            return answer
        except (RuntimeError, ValueError, OSError) as e:
            self.stop()
            return {"error": str(e)}

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.reader.join()
            try:
                self.process.stdin.close()
            except OSError:  # what it did not read
                pass
            self.process.stdout.close()
            self.process = None


class PerCase(Engine):
    """Starts the command for each case: COMMAND CASE.json FILE... -o OUT."""

    def ask(self, what):
        file = pathlib.Path(self.out) / "case.json"
        file.write_text(json.dumps(what))
        try:
            r = subprocess.run(self.command + [str(file), *what["files"], "-o", what["out"]], stdout=subprocess.PIPE, timeout=TIMEOUT)
        except (OSError, subprocess.TimeoutExpired) as e:
            return {"error": str(e)}
        text = r.stdout.strip().splitlines()
        if text and text[-1].startswith(b"{"):
            try:
                return json.loads(text[-1])
            except ValueError as e:
                return {"error": str(e)}
        return {"file": what["out"]} if r.returncode == 0 else {"error": f"exit status {r.returncode}"}


def describe(command):
    """The engine's own words about itself: {"name", "version", "settings"}."""
    try:
        r = subprocess.run(command + ["--describe"], stdout=subprocess.PIPE, timeout=TIMEOUT)
        return json.loads(r.stdout.splitlines()[-1])
    except Exception:
        return {}


def read(path, names):
    """The arrays of an npy file, or of an npz file with several."""
    if zipfile.is_zipfile(path):
        with np.load(path, allow_pickle=False) as z:
            return {n: z[n] for n in z.files}
    a = np.load(path, allow_pickle=False)
    return {names[0]: a}


# Comparing.


def kind(a):
    return a.dtype.name if a.dtype.kind != "V" else "bfloat16"


def floats(a, dtype):
    """Values as float64; bfloat16 comes as its 16 bits."""
    if dtype == "bfloat16":
        a = (a.reshape(-1).view(np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(a.shape)
    return a.astype(np.float64)


def compare(pack, out, a, area=""):
    """Returns (level, what is to be said) of one output. area is the case's area and family, for the likely cause."""
    want_shape = tuple(out["shape"])
    bits = out["dtype"] == "bfloat16" and a.dtype.itemsize == 2 and a.dtype.kind in "uV"
    same = bits or a.dtype.name == out["dtype"]
    if a.shape == want_shape and same and hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest() == out["sha256"]:
        return "exact", ""
    want = pack.values(out["values"])
    if a.shape != want_shape:
        return "failed", f"shape {list(a.shape)}, want {list(want_shape)}{'' if out['dtype'].startswith('int') else shapes(a.shape, want_shape)}"
    if not same and (a.dtype.kind == "f") != (out["dtype"] in ("bfloat16", "float16", "float32", "float64")):
        return "failed", f"dtype {a.dtype.name}, want {out['dtype']}" + ("; the likely cause: values are not rescaled" if a.dtype == np.uint8 else "")
    index = np.arange(a.size) if out["whole"] else pack.at(a.size)
    w = floats(want, out["dtype"])
    g = floats(a.reshape(-1)[index], out["dtype"] if bits else a.dtype.name)
    finite = np.isfinite(w) & np.isfinite(g)
    if not np.array_equal(g[~finite], w[~finite], equal_nan=True) or out.get("finite") and a.dtype.kind == "f" and not np.isfinite(a).all():
        return "failed", "other values that are not finite"
    d = np.abs(g - w)[finite]
    most = float(d.max()) if d.size else 0.0
    floating = out["dtype"] in ("bfloat16", "float16", "float32", "float64")
    step = out.get("step", 1.0)
    note = f"at most {most / step:.3g} of 255, {100 * float((d != 0).mean()) if d.size else 0:.2g}% of {'all' if out['whole'] else d.size} values"
    if not same:
        note += f"; dtype {a.dtype.name}, want {out['dtype']}"
    if most == 0 and not same:  # such as integers of another width
        return "failed" if out["dtype"] == "uint8" else "tolerance", note
    if most == 0:  # values that the pack does not hold
        note = "the values that the pack holds are equal, the digest is not"
    if floating and most <= TOLERANCE * step:
        return "tolerance", note
    if (floating or out["dtype"] == "uint8") and most <= step * 1.001:
        return "within 1", note
    return "failed", f"at most {most:.4g}" + (f" ({most / step:.3g} of 255)" if floating else "") + f", {100 * float((d != 0).mean()):.2g}% of values; the likely cause: {cause(out, a, index, w, step, area)}"


def shapes(have, want):
    if len(have) == len(want) and sorted(have) == sorted(want):
        if len(have) == 3 and (have[0], want[2]) in ((3, 3), (1, 1)) or len(have) == 3 and (have[2], want[0]) == (3, 3):
            return "; the likely cause: the layout, CHW or HWC"
        return "; the likely cause: the EXIF orientation, or height and width swapped"
    if len(have) == len(want) + 1 and have[0] == 1:
        return "; the likely cause: an axis of one image in front"
    if len(have) == len(want) and sum(abs(a - b) == 1 for a, b in zip(have, want)) == sum(a != b for a, b in zip(have, want)):
        return "; the likely cause: the rounding of the size"
    return "; the likely cause: the size rule"


def cause(out, a, index, w, step, area):
    """Names the simplest change that explains the values."""
    shape, name = a.shape, out["dtype"]
    if name.startswith("int"):
        return "the rule of sizes or indices"
    if a.dtype.kind == "u" and a.dtype.name != name:
        return f"dtype {a.dtype.name}, want {name}"
    f = floats(a, "bfloat16" if name == "bfloat16" and a.dtype.kind in "uV" else a.dtype.name)
    channel = next((i for i in (len(shape) - 1, len(shape) - 3) if shape[i] == 3), None) if len(shape) >= 3 else None

    def share(x):
        """The part of the values that are right in a changed output."""
        return float(np.mean(np.abs(np.ascontiguousarray(x).reshape(-1)[index] - w) <= step * 1.001)) if x.size == a.size else 0.0

    now = share(f)
    explains = lambda x: share(x) > max(0.9, now + 0.1)
    if channel is not None and explains(np.flip(f, channel)):
        return "RGB and BGR swapped"
    axes = [i for i in range(max(0, len(shape) - 3), len(shape)) if i != channel][-2:] if len(shape) >= 2 else []
    if len(axes) == 2:
        y, x = axes
        for label, g in (("mirrored", np.flip(f, x)), ("upside down", np.flip(f, y)), ("rotated by 180 degrees", np.flip(f, (x, y)))):
            if explains(g):
                return f"the EXIF orientation (the image is {label})"
        if shape[y] == shape[x] and explains(np.swapaxes(f, x, y)):
            return "height and width swapped, or the EXIF orientation"
        if "nearest" in area:
            return "nearest takes another pixel: the rule of coordinates"
        if not area.startswith("decode"):
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    if (dy or dx) and share(np.roll(f, (dy, dx), (y, x))) > max(0.85, now + 0.3):
                        return f"a crop or padding that is off by one ({-dy} rows, {-dx} columns)"
    g = f.reshape(-1)[index]
    mean = float(np.mean(np.abs(g - w))) / step
    if area.startswith("decode"):
        if "JPEG" in area or "WebP" in area:
            return "the decoder: rounding in the inverse DCT or the colours" if mean < 1 else "the decoder: another rule for chroma or colours"
        return "the decoder: another rule for depth, palettes, transparency or frames"
    if w.size > 3 and np.std(w) > 0 and np.std(g) > 0:
        parts = (index // int(np.prod(shape[channel + 1:], dtype=np.int64))) % 3 if channel is not None else np.zeros(index.size, int)
        fits, changed = True, False
        for c in range(int(parts.max()) + 1):
            some = parts == c
            if some.sum() > 3 and np.std(g[some]) > 0:
                slope, shift = np.polyfit(g[some], w[some], 1)
                fits &= float(np.max(np.abs(slope * g[some] + shift - w[some]))) < 1.5 * step
                changed |= abs(slope - 1) > 0.01 or abs(shift) > 2 * step
        if fits and changed:
            return "rescaling or normalisation: it is missing, or uses other numbers"
        if mean < 0.6:
            return "small differences in a resize: rounding, clamping or edges"
        if float(np.corrcoef(g, w)[0, 1]) > 0.8:
            return "another resize kernel, or antialiasing"
    return "another image: crop, padding, order or orientation"


def check(pack, case, answer, tmp):
    """Returns (level, what is to be said) of a case: the worst of its outputs."""
    if "skip" in answer:
        return "not supported", str(answer["skip"])
    if "error" in answer:
        return "failed", "error: " + str(answer["error"])[:300]
    try:
        have = read(answer.get("file") or answer["npy"], [o["name"] for o in case["outputs"]])
    except Exception as e:
        return "failed", f"error: unreadable output: {e}"
    worst, said = "exact", ""
    for o in case["outputs"]:
        if o["name"] not in have:
            level, note = "failed", "no such output"
        else:
            level, note = compare(pack, o, have[o["name"]], case["area"] + ": " + case["family"])
        if LEVELS.index(level) > LEVELS.index(worst):
            worst, said = level, f"{o['name']}: {note}"
    return worst, said


# Reports.


def table(results, key):
    """{key: {level: count}}, in the order of the pack."""
    out = {}
    for r in results:
        out.setdefault(r[key], collections.Counter())[r["level"]] += 1
    return out


def text(report, lines=12):
    areas = table(report["results"], "area")
    width = max(map(len, [*areas, "area"]))
    out = [f"{report['engine']}", "", f"{'area':{width}}  " + "  ".join(f"{l:>13}" for l in LEVELS)]
    for area, counts in areas.items():
        out.append(f"{area:{width}}  " + "  ".join(f"{counts[l]:13}" for l in LEVELS))
    causes = collections.Counter()
    for r in report["results"]:
        if r["level"] == "failed":
            causes[(r["area"], r["note"].split("the likely cause: ")[-1] if "likely cause" in r["note"] else r["note"].split(": ", 1)[-1][:80])] += 1
    if causes:
        out += ["", "failed, by the likely cause:"]
        out += [f"  {n:5}  {a}: {c}" for (a, c), n in causes.most_common(12)]
    bad = [r for r in report["results"] if r["level"] in ("failed", "within 1", "tolerance")]
    if bad:
        out += ["", *(f"  {r['level']:9}  {r['id']}: {r['note'][:200]}" for r in bad[:lines])]
        if len(bad) > lines:
            out.append(f"  … {len(bad) - lines} more, which --json lists")
    return "\n".join(out)


def picture(title, groups):
    """Bars of the levels. groups are {heading: {name: {level: count}}}."""
    rows = [r for heading, names in groups.items() for r in [(heading, None), *names.items()]]
    left = max([200, *(16 + 7 * len(name) for name, _ in rows)])
    bar, line = 420, 18
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + bar + 90}" height="{line * len(rows) + 70}" font-family="sans-serif" font-size="12">',
           f'<rect width="100%" height="100%" fill="#fff"/><text x="10" y="22" font-size="15" font-weight="bold">{html.escape(title)}</text>']
    x = left
    for l in LEVELS:
        out.append(f'<rect x="{x}" y="34" width="11" height="11" fill="{COLOURS[l]}"/><text x="{x + 15}" y="44">{l}</text>')
        x += 30 + 7 * len(l)
    y = 56
    for name, counts in rows:
        if counts is None:
            out.append(f'<text x="10" y="{y + 13}" font-weight="bold">{html.escape(name)}</text>')
        else:
            total, x = sum(counts.values()), float(left)
            out.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{html.escape(name)}</text>')
            for l in LEVELS:
                w = bar * counts[l] / total
                if w:
                    out.append(f'<rect x="{x:.1f}" y="{y + 2}" width="{w:.1f}" height="{line - 4}" fill="{COLOURS[l]}"><title>{l}: {counts[l]} of {total}</title></rect>')
                x += w
            out.append(f'<text x="{left + bar + 8}" y="{y + 13}">{counts["exact"]} of {total}</text>')
        y += line
    return "\n".join(out) + "\n</svg>\n"


def families(report):
    """The picture of one engine: the families of each area that it supports."""
    groups, left_out = {}, 0
    for area in table(report["results"], "area"):
        for name, counts in table([r for r in report["results"] if r["area"] == area], "family").items():
            if counts["not supported"] == sum(counts.values()):
                left_out += 1
            else:
                groups.setdefault(area, {})[name] = counts
    return picture(report["engine"] + (f" ({left_out} families not supported)" if left_out else ""), groups)


def badge(report):
    """The share of exact cases, with the versions of the references."""
    counts = collections.Counter(r["level"] for r in report["results"])
    done = sum(counts.values()) - counts["not supported"]
    share = 100 * counts["exact"] / done if done else 0
    versions = report["references"]
    left = "preprocessing conformance"
    right = f"{counts['exact']} of {done} exact" + (f", {counts['not supported']} not supported" if counts["not supported"] else "")
    colour = COLOURS["exact"] if done and counts["exact"] == done else COLOURS["failed"] if share < 50 else COLOURS["within 1"]
    a, b = 8 + 7 * len(left), 12 + 7 * len(right)
    title = html.escape(f"{report['engine']}; references: " + ", ".join(f"{k} {v}" for k, v in versions.items()))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{a + b}" height="20" font-family="sans-serif" font-size="11" role="img"><title>{title}</title>'
            f'<rect width="{a}" height="20" fill="#555"/><rect x="{a}" width="{b}" height="20" fill="{colour}"/>'
            f'<text x="6" y="14" fill="#fff">{left}</text><text x="{a + 6}" y="14" fill="#fff">{right}</text></svg>\n')


def run(pack, command, name="", only="", per_case=False, progress=False):
    """Runs an engine on a pack's cases and returns the report."""
    said = describe(command)
    if not said and not name:
        raise SystemExit(f"run.py: {shlex.join(command)} --describe prints no JSON object: give the engine a --name, or see why it does not start")
    name = name or " ".join(filter(None, (said.get("name"), said.get("version"))))
    results = []
    with tempfile.TemporaryDirectory(prefix="conformance-") as tmp:
        engine = (PerCase if per_case else Engine)(command, tmp)
        for n, case in enumerate(pack.cases):
            if only and only not in case["id"]:
                continue
            out = os.path.join(tmp, f"{n}." + ("npy" if len(case["outputs"]) == 1 else "npz"))
            answer = engine.ask(request(case, pack.root) | {"out": out})
            level, note = check(pack, case, answer, tmp)
            results.append({"id": case["id"], "area": case["area"], "family": case["family"], "level": level, "note": note})
            if os.path.exists(out):
                os.remove(out)
            if progress and n % 100 == 99:
                print(f"{n + 1} of {len(pack.cases)}", file=sys.stderr, flush=True)
        engine.stop()
    return {"engine": name, "settings": said.get("settings", ""), "references": pack.head["references"], "results": results}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("pack")
    p.add_argument("--engine", required=True, help="the command that starts the engine")
    p.add_argument("--name", default="", help="what the report calls it; the default is what it says with --describe")
    p.add_argument("--per-case", action="store_true", help="start the engine for each case")
    p.add_argument("--only", default="", help="run the cases whose id contains this")
    for what in ("json", "svg", "badge"):
        p.add_argument("--" + what, default="", metavar="FILE")
    args = p.parse_args()
    with Pack(args.pack) as pack:
        report = run(pack, shlex.split(args.engine), args.name, args.only, args.per_case, sys.stderr.isatty())
    for file, make in ((args.json, lambda r: json.dumps(r, indent=1) + "\n"), (args.svg, families), (args.badge, badge)):
        if file:
            pathlib.Path(file).write_text(make(report))
    print(text(report))
    return 1 if any(r["level"] == "failed" for r in report["results"]) else 0


if __name__ == "__main__":
    sys.exit(main())
