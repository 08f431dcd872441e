"""Golden files of ops, shared by the scripts beside this one: see transforms/golden_test.go."""

import hashlib
import io
import json
import os
import pathlib
import sys
import zipfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3] / "transforms" / "testdata"
IMAGES = pathlib.Path(__file__).resolve().parents[2] / "images"


def image(h, w, c, dtype="uint8"):
    """A HWC image of noise that depends on its arguments alone."""
    rng = np.random.default_rng([h, w, c, sum(map(ord, dtype))])
    if dtype == "bool":
        return rng.integers(0, 2, (h, w, c)).astype(bool)
    if "float" in dtype:
        return (rng.standard_normal((h, w, c)) * 100).astype(dtype)
    i = np.iinfo(dtype)
    return rng.integers(i.min, i.max, (h, w, c), dtype, endpoint=True)


def wave(n, channels=None, seed=0):
    """A sound of a repeated pattern, which deflates well: float32 (samples) or (channels, samples)."""
    r = np.random.default_rng([n, channels or 0, seed])
    size = (997,) if channels is None else (channels, 997)
    x = r.integers(-2**15, 2**15, size).astype(np.float32) / 2**15
    return np.tile(x, -(-n // 997))[..., :n]


def chw(a):
    return np.ascontiguousarray(a.transpose(2, 0, 1))


# Outputs of more bytes are stored as digests.
WHOLE = 4096


def digest(a):
    """What stands for an array: see Go's internal/golden."""
    flat = a.reshape(-1)
    return {"dtype": a.dtype.name, "shape": list(a.shape), "sha256": hashlib.sha256(a.tobytes()).hexdigest(),
            "values": [flat[i * flat.size // 17].item() + 0 for i in range(16)]}


def equal(entry, arrays, got):
    """Whether an array is the one of an entry of cases.json."""
    if "array" in entry:
        return np.array_equal(arrays[entry["array"]], got)
    return digest(np.ascontiguousarray(got)) == {k: entry[k] for k in ("dtype", "shape", "sha256", "values")}


class Golden:
    """Collects the cases of one op. Equal arrays are stored once, large outputs as digests.

    If GOLDENS names a folder, write writes there, and outputs are stored whole.
    """

    def __init__(self, op, reference, folder=None, root=ROOT):
        self.op, self.reference, self.cases, self.arrays, self.names = op, reference, [], {}, {}
        self.folder, self.root = folder or op, root

    def _add(self, a):
        a = np.array(a, order="C")  # keeps scalars scalars
        key = (a.dtype.str, a.shape, a.tobytes())
        if key not in self.names:
            self.names[key] = f"a{len(self.names)}"
            self.arrays[self.names[key]] = a
        return self.names[key]

    def case(self, name, params, src, want, layout="HWC", out_layout=None, more=(), second=None):
        """more are outputs after the first, which have no layout. second is a second input of the first one's layout."""
        self.cases.append({
            "name": name,
            "params": params,
            "in": [{"array": self._add(a), "layout": layout} for a in (src, second) if a is not None],
            "out": [{"array": self._add(want), "layout": out_layout or layout}]
            + [{"array": self._add(a), "layout": "none"} for a in more],
        })

    def columns_case(self, name, params, src, want):
        """A case of several columns: lists of arrays, or of pairs of an array and its layout."""
        def entries(arrays):
            pairs = (a if isinstance(a, tuple) else (a, "none") for a in arrays)
            return [{"array": self._add(a), "layout": layout} for a, layout in pairs]

        self.cases.append({"name": name, "params": params, "in": entries(src), "out": entries(want)})

    def encoded_case(self, name, params, data, want, allocates=""):
        """A case whose input is an encoded image; the arrays hold its bytes as uint8.

        allocates says why decoding it allocates in steady state, if it does.
        """
        self.case(name, params, np.frombuffer(data, np.uint8), want)
        self.cases[-1]["in"][0] = {"array": self.cases[-1]["in"][0]["array"], "layout": "none", "encoded": True}
        if allocates:
            self.cases[-1]["allocates"] = allocates

    def _stored(self):
        """The arrays to store whole: inputs, small ones, those with a tolerance, and those with a NaN, whose bits vary."""
        whole = {e["array"] for c in self.cases for e in c["in"] + (c["out"] if c.get("tolerance") else [])}
        return {n: a for n, a in self.arrays.items()
                if n in whole or a.nbytes <= WHOLE or a.dtype.kind not in "biuf" or not np.isfinite(a).all() or "GOLDENS" in os.environ}

    def write(self):
        folder = pathlib.Path(os.environ.get("GOLDENS", self.root)) / self.folder
        folder.mkdir(parents=True, exist_ok=True)
        stored = self._stored()
        names = {n: f"a{i}" for i, n in enumerate(stored)}

        def entry(array, **rest):
            return {"array": names[array], **rest} if array in names else rest | digest(self.arrays[array])

        for c in self.cases:
            c |= {side: [entry(**e) for e in c[side]] for side in ("in", "out")}
        head = json.dumps({"op": self.op, "reference": self.reference})[:-1]
        lines = ",\n".join("  " + json.dumps(c) for c in self.cases)
        script = os.path.relpath(os.path.abspath(sys.argv[0]), os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        (folder / "cases.json").write_text(head + ', "cases": [\n' + lines + f'\n], "script": "{script}"}}\n')
        with zipfile.ZipFile(folder / "golden.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
            for name, a in stored.items():
                b = io.BytesIO()
                np.lib.format.write_array(b, a)
                info = zipfile.ZipInfo(names[name] + ".npy", (1980, 1, 1, 0, 0, 0))
                info.compress_type = zipfile.ZIP_DEFLATED
                z.writestr(info, b.getvalue(), zipfile.ZIP_DEFLATED, 9)


class Draws:
    """Collects what a random op of the reference draws: see transforms/draws_test.go."""

    def __init__(self, op, reference, folder=None):
        self.op, self.reference, self.cases, self.folder = op, reference, [], folder or op

    def case(self, name, params, size, drawn, file=None, boxes=None, batch=0):
        """drawn has a list of (op, parameters) for every sample of an image of size (height, width)."""
        outcomes = {}
        for ops in drawn:
            outcomes.setdefault(" ".join(n for n, _ in ops), []).append(ops)
        result = {}
        for key, samples in sorted(outcomes.items()):
            values = {}
            for i, (_, params_) in enumerate(samples[0]):
                columns = {k: [s[i][1][k] for s in samples] for k in params_}
                if "left" in columns and "width" in columns:
                    columns |= box(columns, size if i == 0 or file else None)
                for k, v in columns.items():
                    values[f"{i}.{k}"] = self.stat(np.array(v, float))
            result[key] = {"count": len(samples), "values": values}
        c = {"name": name, "params": params, "height": size[0], "width": size[1], "n": len(drawn), "outcomes": result}
        if file:
            c["file"] = file
        if boxes:
            c["boxes"] = boxes
        if batch:
            c["batch"] = batch
        self.cases.append(c)

    @staticmethod
    def stat(v):
        """Mean, standard deviation, least, largest, and the fraction that is at most so much at nine places."""
        r = lambda x: float(f"{x:.7g}")
        at = np.unique(np.quantile(v, np.arange(1, 10) / 10, method="lower"))
        at = [r(a + 1e-5 * abs(a)) for a in at]  # not just where a value that comes often lies
        return {"mean": r(v.mean()), "sd": r(v.std()), "min": r(v.min()), "max": r(v.max()), "at": at,
                "up_to": [r((v <= a).mean()) for a in at]}

    def write(self):
        folder = ROOT / self.folder
        folder.mkdir(parents=True, exist_ok=True)
        head = json.dumps({"op": self.op, "reference": self.reference})[:-1]
        lines = ",\n".join("  " + json.dumps(c) for c in self.cases)
        (folder / "draws.json").write_text(head + ', "cases": [\n' + lines + "\n]}\n")


def box(columns, size):
    """What else there is to know of boxes: the area, the ratio, and whether it is in the image's middle."""
    top, left, h, w = (np.array(columns[k]) for k in ("top", "left", "height", "width"))
    more = {"area": h * w, "ratio": w / h}
    if size:
        more["middle"] = (top == (size[0] - h) // 2) & (left == (size[1] - w) // 2)
    return more
