"""Writes the models of device/ort's tests to device/ort/testdata.

Run with Python 3.11 and onnx 1.23.2. Every run gives the same bytes.
"""

import os

from onnx import TensorProto, checker, helper

OUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "..", "..", "device", "ort", "testdata")
F, I, U, B, S = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8, TensorProto.BOOL, TensorProto.STRING


def value(name, kind, *dims):
    return helper.make_tensor_value_info(name, kind, dims)


def const(name, kind, values, dims=()):
    return helper.make_tensor(name, kind, dims, values)


def save(file, nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, file, inputs, outputs, list(constants))
    model = helper.make_model(graph, producer_name="", opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    checker.check_model(model, full_check=True)
    with open(os.path.join(OUT, file + ".onnx"), "wb") as f:
        f.write(model.SerializeToString(deterministic=True))


node = helper.make_node
half = [const("two", F, [2.0]), const("one", F, [1.0])]
linear = [node("Mul", ["pixel_values", "two"], ["product"]), node("Add", ["product", "one"], ["linear"])]
best = node("ArgMax", ["linear"], ["best"], axis=1, keepdims=0)

# 2x + 1, which is exact, and the brightest channel of each pixel.
save("batched", linear + [best], [value("pixel_values", F, "n", 3, "h", "w")], [value("linear", F, "n", 3, "h", "w"), value("best", I, "n", "h", "w")], half)
save("plain", linear, [value("pixel_values", F, 3, "h", "w")], [value("linear", F, 3, "h", "w")], half)
save("fixed", linear, [value("pixel_values", F, 1, 3, 8, 8)], [value("linear", F, 1, 3, 8, 8)], half)
# Takes the graph's only output, whatever its name is.
save("bytes", [node("Cast", ["anything"], ["wide"], to=I)], [value("anything", U, 1, "h", "w", 3)], [value("wide", I, 1, "h", "w", 3)])
# Two inputs, by their names.
save("two", [node("Add", ["a", "b"], ["sum"])], [value("a", F, 1, 3, "h", "w"), value("b", F, 3, "h", "w")], [value("sum", F, 1, 3, "h", "w")])
# Outputs that no tensor here holds.
save("text", [node("Cast", ["pixel_values"], ["text"], to=S)], [value("pixel_values", F, 3, "h", "w")], [value("text", S, 3, "h", "w")])
save("sequence", [node("SequenceConstruct", ["pixel_values"], ["list"])], [value("pixel_values", F, 3, "h", "w")],
     [helper.make_tensor_sequence_value_info("list", F, None)])
# Never ends, unless it is told to.
body = helper.make_graph(
    [node("Identity", ["more"], ["again"]), node("Mul", ["x", "minus"], ["y"])], "body",
    [value("i", I), value("more", B), value("x", F, "c", "h", "w")], [value("again", B), value("y", F, "c", "h", "w")], [const("minus", F, [-1.0])])
save("endless", [node("Loop", ["", "true", "pixel_values"], ["never"], body=body)],
     [value("pixel_values", F, 3, "h", "w")], [value("never", F, "c", "h", "w")], [const("true", B, [1])])
