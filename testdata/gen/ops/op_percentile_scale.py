"""Writes the goldens of percentile_scale: NumPy 2.4.6, nanpercentile of each channel, then subtract, divide and clip.

Every run gives the same bytes. Takes no arguments.
"""

import warnings

import numpy as np

from golden import Golden, chw, image

np.seterr(all="ignore")
warnings.simplefilter("ignore")


def reference(a, low, high, epsilon, no_data):
    out = np.empty(a.shape, np.float32)
    for k in range(a.shape[2]):
        x = a[..., k]
        values = x.ravel()
        if no_data:
            values = values[values != np.array(no_data[k if len(no_data) > 1 else 0]).astype(x.dtype)]
        lo, hi = np.nan, np.nan
        if values.size and not np.isnan(values).all():
            lo, hi = np.nanpercentile(values, float(low)), np.nanpercentile(values, float(high))
        out[..., k] = np.clip((x - lo) / (hi - lo + epsilon), 0, 1).astype(np.float32)
    return out


def percentile_scale():
    g = Golden("percentile_scale", "NumPy 2.4.6")
    for dtype in ("uint8", "uint16", "int16", "float32"):
        for h, w, c in [(3, 5, 2), (8, 9, 4), (1, 1, 3), (7, 2, 13), (1, 9, 1), (40, 31, 1)]:
            a = image(h, w, c, dtype)
            if dtype == "int16" and h < 8:
                a //= 3  # differences that do not wrap
            a[0, 0, 0] = 7
            for low, high, epsilon, no_data in ((2, 98, 1e-5, []), (0, 100, 0, []), (25, 75, 0, [7]), (10.5, 33.3, 1e-5, [7] * c), (1, 99.9, 0.25, [])):
                params = {"low": low, "high": high, "epsilon": epsilon, "no_data": no_data}
                want = reference(a, low, high, epsilon, no_data)
                g.case(f"{dtype}_{c}_{w}x{h}_{low}_{high}_{len(no_data)}", params, a, want)
                if c == 4:
                    g.case(f"{dtype}_{c}_{w}x{h}_{low}_{high}_{len(no_data)}_chw", params, chw(a), chw(want), "CHW")
    a = image(9, 8, 3, "float32")
    a[2:5, 1:3] = np.nan
    a[..., 2] = np.nan
    for low, high in ((2, 98), (0, 100), (30, 60)):
        params = {"low": low, "high": high, "epsilon": 1e-5, "no_data": []}
        g.case(f"nan_{low}_{high}", params, a, reference(a, low, high, 1e-5, []))
    a = np.full((4, 5, 2), 6, np.uint16)
    a[0, 0, 1] = 9
    for epsilon in (0, 1e-5):
        params = {"low": 2, "high": 90, "epsilon": epsilon, "no_data": [9, 6]}
        g.case(f"constant_{epsilon}", params, a, reference(a, 2, 90, epsilon, [9, 6]))
    g.write()


if __name__ == "__main__":
    percentile_scale()
