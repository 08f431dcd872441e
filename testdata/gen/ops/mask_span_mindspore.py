"""Writes MindSpore's goldens of mask_span: MaskAlongAxis.

Run with MindSpore 2.10.0 (run.sh --mindspore). Every run gives the same bytes.
"""

import mindspore.dataset.audio as audio
import numpy as np

from golden import Golden


def main():
    g = Golden("mask_span", "MindSpore 2.10.0 MaskAlongAxis", "mask_span_mindspore")
    for rows, columns in ((20, 5), (1, 3), (41, 60)):
        x = (np.random.default_rng([rows, columns]).standard_normal((rows, columns)) * 4 - 3).astype(np.float32)
        for axis, n in enumerate(x.shape):
            for start, length, value in ((0, 1, 0.0), (n - 1, 1, -1.5), (n // 3, n // 2, 0.1), (0, n, 1e7)):
                if length < 1:
                    continue  # MindSpore refuses a mask without a length
                want = audio.MaskAlongAxis(start, length, value, axis + 1)(x[None])
                params = {"axis": axis, "start": start, "length": length, "value": value}
                g.columns_case(f"{rows}x{columns} {axis} {start} {length}", params, [x], [np.ascontiguousarray(want.reshape(x.shape))])
    g.write()


if __name__ == "__main__":
    main()
