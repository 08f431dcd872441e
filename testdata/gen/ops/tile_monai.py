"""Writes the goldens of Tile whose last windows are shifted.

Run with Python 3.11, NumPy 2.4.6, torch 2.15.0 and monai 1.6.1. Every run gives the same bytes.
"""

import numpy as np
from monai.data.utils import dense_patch_slices

from golden import Golden, chw, image


def main():
    g = Golden("tile", "monai 1.6.1 dense_patch_slices", "tile_monai")
    for i, a in enumerate([image(1, 1, 3), image(7, 9, 3), image(8, 8, 1), image(9, 6, 4, "float32"), image(6, 11, 2, "int16"), image(5, 5, 3, "bool")]):
        h, w, c = a.shape
        for j, (th, tw, oh, ow) in enumerate([(1, 1, 0, 0), (2, 3, 0, 0), (3, 4, 1, 2), (5, 4, 4, 0), (h, w, 0, 0), (h, w - w // 2, 0, 1)]):
            if th > h or tw > w or ow >= tw:
                continue
            want = np.stack([a[s] for s in dense_patch_slices((h, w), (th, tw), (th - oh, tw - ow))])
            q = {"height": th, "width": tw, "overlap_height": oh, "overlap_width": ow, "edge": "shift", "fill": [0]}
            g.case(f"{i}_{j}", q, a, want, "HWC", "none")
            g.case(f"{i}_{j}_chw", q, chw(a), np.ascontiguousarray(want.transpose(0, 3, 1, 2)), "CHW", "none")
    g.write()


if __name__ == "__main__":
    main()
