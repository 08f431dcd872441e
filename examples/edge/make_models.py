"""Converts the classifier of ../classifier: make_models.py tflite, or pte.

model.tflite takes images of NHWC. It was made with tensorflow 2.21.0 and onnx 1.23.2, model.pte
with executorch 1.5.1, torch 2.15.0 and onnx 1.23.2.
"""

import sys
from pathlib import Path

import onnx
from onnx import numpy_helper

HERE = Path(__file__).resolve().parent
W = {w.name: numpy_helper.to_array(w).copy() for w in onnx.load(HERE.parent / "classifier" / "model.onnx").graph.initializer}


def tflite():
    import tensorflow as tf

    class Net(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([1, 40, 40, 3], tf.float32)])
        def forward(self, x):
            for i in (0, 2, 4):
                x = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
                x = tf.nn.conv2d(x, W[f"features.{i}.weight"].transpose(2, 3, 1, 0), 2, "VALID")
                x = tf.nn.relu(x + W[f"features.{i}.bias"])
            return tf.reshape(tf.transpose(x, [0, 3, 1, 2]), [1, -1]) @ W["head.weight"].T + W["head.bias"]

    net = Net()
    c = tf.lite.TFLiteConverter.from_concrete_functions([net.forward.get_concrete_function()], net)
    (HERE / "model.tflite").write_bytes(c.convert())


def pte():
    import torch
    from executorch.exir import to_edge
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 32, 3, 2, 1), nn.ReLU())
            self.head = nn.Linear(32 * 25, 4)

        def forward(self, image):
            return self.head(self.features(image).flatten(1))

    net = Net().eval()
    net.load_state_dict({k: torch.from_numpy(W[k]) for k in net.state_dict()})
    (HERE / "model.pte").write_bytes(to_edge(torch.export.export(net, (torch.zeros(1, 3, 40, 40),))).to_executorch().buffer)


{"tflite": tflite, "pte": pte}[sys.argv[1]]()
