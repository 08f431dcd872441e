"""Golden files of ops, shared by the scripts beside this one: see transforms/golden_test.go."""

import io
import json
import pathlib
import zipfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2] / "transforms" / "testdata"


def image(h, w, c, dtype="uint8"):
    """A HWC image of noise that depends on its arguments alone."""
    rng = np.random.default_rng([h, w, c, sum(map(ord, dtype))])
    if dtype == "bool":
        return rng.integers(0, 2, (h, w, c)).astype(bool)
    if "float" in dtype:
        return (rng.standard_normal((h, w, c)) * 100).astype(dtype)
    i = np.iinfo(dtype)
    return rng.integers(i.min, i.max, (h, w, c), dtype, endpoint=True)


def chw(a):
    return np.ascontiguousarray(a.transpose(2, 0, 1))


class Golden:
    """Collects the cases of one op; equal arrays are stored once."""

    def __init__(self, op, reference):
        self.op, self.reference, self.cases, self.arrays, self.names = op, reference, [], {}, {}

    def _add(self, a):
        a = np.array(a, order="C")  # keeps scalars scalars
        key = (a.dtype.str, a.shape, a.tobytes())
        if key not in self.names:
            self.names[key] = f"a{len(self.names)}"
            self.arrays[self.names[key]] = a
        return self.names[key]

    def case(self, name, params, src, want, layout="HWC", out_layout=None):
        self.cases.append({
            "name": name,
            "params": params,
            "in": [{"array": self._add(src), "layout": layout}],
            "out": [{"array": self._add(want), "layout": out_layout or layout}],
        })

    def encoded_case(self, name, params, data, want, allocates=""):
        """A case whose input is an encoded image; the arrays hold its bytes as uint8.

        allocates says why decoding it allocates in steady state, if it does.
        """
        self.case(name, params, np.frombuffer(data, np.uint8), want)
        self.cases[-1]["in"][0] = {"array": self.cases[-1]["in"][0]["array"], "layout": "none", "encoded": True}
        if allocates:
            self.cases[-1]["allocates"] = allocates

    def write(self):
        folder = ROOT / self.op
        folder.mkdir(parents=True, exist_ok=True)
        head = json.dumps({"op": self.op, "reference": self.reference})[:-1]
        lines = ",\n".join("  " + json.dumps(c) for c in self.cases)
        (folder / "cases.json").write_text(head + ', "cases": [\n' + lines + "\n]}\n")
        with zipfile.ZipFile(folder / "golden.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
            for name, a in self.arrays.items():
                b = io.BytesIO()
                np.lib.format.write_array(b, a)
                info = zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0))
                info.compress_type = zipfile.ZIP_DEFLATED
                z.writestr(info, b.getvalue(), zipfile.ZIP_DEFLATED, 9)
