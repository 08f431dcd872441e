"""Writes the goldens of mixup whose reference is MindSpore's MixUpBatch. What it drew is read off the labels, which are the unit
vectors. Run with mindspore 2.10.0. Every run gives the same bytes.
"""

import mindspore.dataset as ds
import mindspore.dataset.vision as vision
import numpy as np

from golden import Golden


def run(op, image, label):
    d = ds.NumpySlicesDataset({"image": [image], "label": [label]}, shuffle=False).map(op, ["image", "label"])
    for row in d.create_dict_iterator(num_epochs=1, output_numpy=True):
        return row["image"], row["label"]


def main():
    g = Golden("mixup", "MindSpore 2.10.0 MixUpBatch", "mixup_mindspore")
    rng = np.random.default_rng(1)
    for i in range(16):
        n = 2 + i % 7
        ds.config.set_seed(i)
        x = rng.integers(0, 256, (n, 5 + i, 6, 3)).astype(np.uint8)
        a, b = run(vision.MixUpBatch(1.0 + i % 3), x, np.eye(n, dtype=np.float32))
        partners = [int(np.argmax(np.where(np.arange(n) == j, 0, row))) if row[j] < 1 else j for j, row in enumerate(b)]
        own = [float(row[j]) for j, row in enumerate(b) if partners[j] != j]
        if own:
            g.columns_case(f"{i}", {"factors": own[:1], "partners": partners, "classes": 0}, [x, np.eye(n, dtype=np.float32)], [a, b])
    g.write()


if __name__ == "__main__":
    main()
