"""Classifies images with LiteRT (TensorFlow Lite): the bundle's graph writes its tensor
to the memory of the model's input, without a copy.

usage: litert_.py NET.bundle MODEL.tflite IMAGE...
"""

import sys

import infer_prep
from ai_edge_litert.interpreter import Interpreter


def main(bundle, model, *images):
    graph = infer_prep.Graph.from_bundle(bundle)
    net = Interpreter(model_path=model)
    net.allocate_tensors()
    image, scores = net.get_input_details()[0]["index"], net.get_output_details()[0]["index"]
    for name in images:
        with open(name, "rb") as f:
            graph.run_into(f.read(), net.tensor(image)()[0])  # the view ends here: invoke allows none
        net.invoke()
        print(name, net.get_tensor(scores)[0].argmax())


main(*sys.argv[1:])
