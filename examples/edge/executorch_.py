"""Classifies images with ExecuTorch: the bundle's tensor is the input of a .pte program.

usage: executorch_.py NET.bundle MODEL.pte IMAGE...
"""

import sys

import infer_prep
import torch
from executorch.runtime import Runtime


def main(bundle, model, *images):
    graph = infer_prep.Graph.from_bundle(bundle)
    net = Runtime.get().load_program(model).load_method("forward")
    for name in images:
        with open(name, "rb") as f:
            tensor = torch.from_numpy(graph.run(f.read()))  # shares the array's memory
        (scores,) = net.execute([tensor[None]])
        print(name, scores[0].argmax().item())


main(*sys.argv[1:])
