"""Measures references whose own bits depend on the processor, and how far infer-prep is from them.

A script of such a reference calls main. The reference runs once for each of VARIANTS, which are the code paths that this
processor has: torch's kernels without vectors, and MKL's code for AMD, for Intel (forced by a library that the script
compiles with gcc and preloads), for Intel with SSE4.2, and for every processor. Without torch they are OpenBLAS's code for
this processor and for SSE. The Go test then computes the same, and the file gets the bounds of each group and kind of sound:
the largest distance of infer-prep from a variant, beside that between two variants. main prints where the former is the larger.
If BOUNDED_ONLY has names of groups, with commas, only these are computed, and the others keep what the files have.

Run on x86-64 with AVX2. On another processor the variants have other distances. If BOUNDED_FOUND names a file, the
outputs of the reference are kept there, and read from there the next time.
"""

import base64
import importlib.util
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile

import numpy as np

from golden import digest
from sound import sound

ROOT = pathlib.Path(__file__).resolve().parents[3]
SAMPLES = 300  # stored values of an output


def variants(folder):
    """The environments of the code paths, by name; those of torch and MKL where torch is installed."""
    numpy = {"plain": {}, "openblas": {"OPENBLAS_CORETYPE": "Nehalem"}}
    if not importlib.util.find_spec("torch"):
        return numpy
    source, library = folder / "intel.c", folder / "intel.so"
    source.write_text("int mkl_serv_intel_cpu_true(void) { return 1; }\nint mkl_serv_intel_cpu(void) { return 1; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    intel = {"LD_PRELOAD": str(library)}
    return numpy | {
        "scalar": {"ATEN_CPU_CAPABILITY": "default"}, "any": {"MKL_CBWR": "COMPATIBLE"}, "intel": intel,
        "intel sse": {**intel, "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"}, "threads": {"BOUNDED_THREADS": "2"},
    }


def compute(cases, outputs):
    """Runs the reference for all cases: [{"group", "config", "results": [{"sound", "samples"}]}]."""
    if importlib.util.find_spec("torch"):
        import torch
        torch.set_num_threads(int(os.environ.get("BOUNDED_THREADS", "1")))
    found = {}
    for i, c in enumerate(cases):
        for j, r in enumerate(c["results"]):
            try:
                named = outputs(c["config"], sound(r["sound"], r["samples"]))
                found[i, j] = {k: np.array(v, order="C") for k, v in named.items()}
            except (ValueError, IndexError, RuntimeError, AssertionError):
                found[i, j] = None
    return found


def entry(a):
    """What stands for an array: floats as samples, others as digests."""
    if a.dtype != np.float32:
        return digest(a) if a.size else {"dtype": a.dtype.name, "shape": list(a.shape)}
    step = max(1, a.size // SAMPLES)
    if step > 1 and step % 2 == 0:
        step += 1
    return {"dtype": "float32", "shape": list(a.shape), "step": step, "base64": base64.b64encode(a.reshape(-1)[::step].astype("<f4").tobytes()).decode()}


def distances(a, b):
    """Absolute differences of float outputs, which are NaN at the same places or nowhere, as are infinities."""
    d = []
    for k, v in a.items():
        if v.dtype == np.float32:
            assert v.shape == b[k].shape, (k, v.shape, b[k].shape)
            x, y = v.astype(np.float64).ravel(), b[k].astype(np.float64).ravel()
            both = (np.isnan(x) & np.isnan(y)) | (x == y)
            d.append(np.where(both, 0, np.abs(x - y)))
        else:
            assert np.array_equal(v, b[k]), k
    return np.concatenate(d) if d else np.zeros(0)


def summary(d):
    return [float(np.percentile(d, 99)), float(d.max())] if d.size else [0.0, 0.0]


def write(out, reference, cases, bounds):
    lines = ",\n".join(json.dumps(c) for c in cases)
    out.write_text(json.dumps({"reference": reference})[:-1] + ', "bounds": ' + json.dumps(bounds) + ', "cases": [\n' + lines + "\n]}\n")


def ours(folder, c, i, j):
    named = {}
    for k, e in c["results"][j]["outputs"].items():
        raw = (folder / f"{i}-{j}-{k}").read_bytes()
        named[k] = np.frombuffer(raw, e["dtype"]).reshape(e["shape"])
    return named


def short(v):
    return "0" if v == 0 else f"{v:.0e}".replace("e-0", "e-").replace("e+00", "")


def main(out, reference, cases, outputs, package, heading, test="Bounded"):
    """Writes the file out with the values of a Go test of the package, and the table below the comment with heading in docs/exactness.md."""
    only = [n for n in os.environ.get("BOUNDED_ONLY", "").split(",") if n]
    kept = {"cases": [], "bounds": {}}
    if only:
        cases = [c for c in cases if c["group"] in only]
        old = json.loads(out.read_text())
        kept = {"cases": [c for c in old["cases"] if c["group"] not in only], "bounds": {g: v for g, v in old["bounds"].items() if g not in only}}
    if sys.argv[1:2] == ["--child"]:
        pathlib.Path(sys.argv[2]).write_bytes(pickle.dumps(compute(cases, outputs)))
        return
    with tempfile.TemporaryDirectory() as t:
        folder = pathlib.Path(t)
        found, keep = {}, pathlib.Path(os.environ.get("BOUNDED_FOUND", folder / "all"))
        if keep.exists():
            found = pickle.loads(keep.read_bytes())
        else:
            for name, env in variants(folder).items():
                file = folder / "found"
                subprocess.run([sys.executable, sys.argv[0], "--child", file], check=True, env={**os.environ, **env})
                found[name] = pickle.loads(file.read_bytes())
            keep.write_bytes(pickle.dumps(found))
        plain = found["plain"]
        for i, c in enumerate(cases):
            for j, r in enumerate(c["results"]):
                if plain[i, j] is None:
                    r["refused"] = True
                else:
                    r["outputs"] = {k: entry(v) for k, v in plain[i, j].items()}
        write(out, reference, cases, {})
        subprocess.run(["go", "test", package, "-run", test, "-count=1"], check=True, cwd=ROOT, env={**os.environ, "INFER_PREP_BOUNDED": str(folder)})
        self, mine, stored = {}, {}, {}  # group, kind: distances
        for i, c in enumerate(cases):
            for j, r in enumerate(c["results"]):
                if "refused" in r:
                    continue
                key = c["group"], r["sound"]
                mine_now = ours(folder, c, i, j)
                for k, e in r["outputs"].items():
                    if "step" in e:
                        each = slice(None, None, e["step"])
                        stored.setdefault(key, []).append(distances({k: mine_now[k].ravel()[each]}, {k: plain[i, j][k].ravel()[each]}))
                names = list(found)
                for n, a in enumerate(names):
                    mine.setdefault(key, []).append(distances(mine_now, found[a][i, j]))
                    for b in names[n + 1:]:
                        self.setdefault(key, {}).setdefault((a, b), []).append(distances(found[a][i, j], found[b][i, j]))
    bounds, rows, worse = {}, [], []
    for key in self:
        pairs = [summary(np.concatenate(v)) for v in self[key].values()]
        most = [max(p[0] for p in pairs), max(p[1] for p in pairs)]
        # Of the variants, the farthest from ours.
        per = len(found)
        got = [summary(np.concatenate(mine[key][k::per])) for k in range(per)]
        sampled = np.sort(np.concatenate(stored[key]))
        sampled = float(sampled[(len(sampled) - 1) * 99 // 100])  # what the test sees
        got = [max(g[0] for g in got), max(g[1] for g in got)]
        bounds.setdefault(key[0], {})[key[1]] = {"ours": [max(got[0], sampled), got[1]], "itself": most}
        rows.append((*key, got, most))
        if got[0] > most[0] or got[1] > most[1]:
            worse.append(f"{key}: ours {got}, itself {most}")
    write(out, reference, kept["cases"] + cases, kept["bounds"] | bounds)
    kinds = list(dict.fromkeys(r[1] for r in rows if r[1] != "silence"))
    table = f"| features | {' | '.join(kinds)} |\n|---|" + "---|" * len(kinds) + "\n"
    for group in dict.fromkeys(r[0] for r in rows):
        of = {kind: (got, most) for g, kind, got, most in rows if g == group}
        cells = ["; ".join(f"{short(of[k][0][n])} ({short(of[k][1][n])})" for n in range(2)) if k in of else "" for k in kinds]
        table += f"| {group.removesuffix('FeatureExtractor')} | {' | '.join(cells)} |\n"
    print(table)
    for w in worse:
        print("farther than the reference from itself:", w)
    docs = ROOT / "docs" / "exactness.md"
    text = docs.read_text()
    old = re.search(rf"<!-- {re.escape(heading)} -->\n((?:\|.*\n)*)", text)[1].splitlines(keepends=True)[2:]
    if only:
        head, own = table.splitlines(keepends=True)[:2], table.splitlines(keepends=True)[2:]
        named = [f"| {g.removesuffix('FeatureExtractor')} |" for g in only]
        table = "".join(head + [r for r in old if not r.startswith(tuple(named))] + own)
    changed = re.sub(rf"(<!-- {re.escape(heading)} -->\n)(?:\|.*\n)*", lambda m: m[1] + table, text)
    docs.write_text(changed)
