"""The predictions of the trained model in Python: Pillow's and numpy's preprocessing, and ONNX Runtime.

usage: predict.py MODEL IMAGE...
Prints a JSON list with, for each image, the SHA-256 of the model's input and the scores.
Needs the packages of parity/requirements-onnx.txt.
"""

import hashlib
import json
import sys

import numpy as np
import onnxruntime
from PIL import Image


def tensor(path):
    """The preprocessing of the training without its augmentations, as a Python program writes it."""
    im = Image.open(path).convert("RGB").resize((32, 32), Image.Resampling.BILINEAR)
    x = np.asarray(im).transpose(2, 0, 1).astype(np.float32) / np.float32(255)
    return np.ascontiguousarray((x - np.float32(0.5)) / np.float32(0.25))


def main():
    session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
    results = []
    for path in sys.argv[2:]:
        x = tensor(path)
        scores = session.run(None, {"image": x[None]})[0][0]
        results.append({"sha256": hashlib.sha256(x.tobytes()).hexdigest(), "scores": [float(s) for s in scores]})
    json.dump(results, sys.stdout)


main()
