"""Makes testdata/configs/tflite, importer/tflite/testdata and the goldens of the op resize_libyuv: models that give their input
back, with metadata by tflite-support's writers, and what the TFLite Task Library feeds them with.

Run with Python 3.11 and requirements-tflite.txt, on x86-64. Every run gives the same bytes.
"""

import flatbuffers
import numpy as np
from tensorflow_lite_support.metadata import metadata_schema_py_generated as meta
from tensorflow_lite_support.metadata import schema_py_generated as schema
from tensorflow_lite_support.metadata.python.metadata_writers import metadata_info, metadata_writer

import importer_goldens as common
import importers_more
from golden import Golden, image

TYPES = {"float32": schema.TensorType.FLOAT32, "uint8": schema.TensorType.UINT8, "int8": schema.TensorType.INT8}


def made(cls, **fields):
    o = cls()
    for k, v in fields.items():
        setattr(o, k, v)
    return o


def model(h, w, dtype, name=b"image", channels=3, inputs=1):
    """A reshape of the input to [1, n]."""
    n = h * w * channels
    quantized = made(schema.QuantizationParametersT, scale=[1.0], zeroPoint=[0]) if dtype != "float32" else None

    def tensor(name, shape, kind, buffer=0, q=None):
        return made(schema.TensorT, name=name, shape=shape, type=kind, buffer=buffer, quantization=q)

    tensors = [tensor(name, [1, h, w, channels], TYPES[dtype], 0, quantized), tensor(b"shape", [2], schema.TensorType.INT32, 1),
               tensor(b"flat", [1, n], TYPES[dtype], 0, quantized), tensor(b"more", [1], TYPES[dtype], 0, quantized)]
    op = made(schema.OperatorT, opcodeIndex=0, inputs=[0, 1], outputs=[2], builtinOptionsType=schema.BuiltinOptions.ReshapeOptions,
              builtinOptions=made(schema.ReshapeOptionsT, newShape=[1, n]))
    code = made(schema.OperatorCodeT, builtinCode=schema.BuiltinOperator.RESHAPE, deprecatedBuiltinCode=int(schema.BuiltinOperator.RESHAPE), version=1)
    graph = made(schema.SubGraphT, tensors=tensors, inputs=[0] if inputs == 1 else [0, 3], outputs=[2], operators=[op])
    m = made(schema.ModelT, version=3, description="gives its input back", operatorCodes=[code], subgraphs=[graph],
             buffers=[schema.BufferT(), made(schema.BufferT, data=np.array([1, n], np.int32).view(np.uint8))])
    b = flatbuffers.Builder(1024)
    b.Finish(m.Pack(b), b"TFL3")
    return bytes(b.Output())


def annotated(buf, mean, std, dtype, color=meta.ColorSpaceType.RGB):
    """The model with metadata."""
    image = metadata_info.InputImageTensorMd(name="image", description="an image", norm_mean=mean, norm_std=std, color_space_type=color,
                                             tensor_type=TYPES[dtype])
    general = metadata_info.GeneralMd(name="identity", version="1")
    writer = metadata_writer.MetadataWriter.create_from_metadata_info(
        bytearray(buf), general_md=general, input_md=[image], output_md=[metadata_info.TensorMd(name="flat")])
    return bytes(writer.populate())


def op():
    g = Golden("resize_libyuv", "tflite-support 0.4.4 Task Library")
    sizes = ((8, 8), (7, 11), (20, 25), (20, 16), (3, 2), (1, 2), (24, 37), (23, 40), (1, 1), (12, 10), (23, 20), (8, 12), (12, 9), (24, 9), (12, 18), (9, 13))
    for h, w in ((23, 37), (8, 8), (7, 2), (40, 32), (3, 50), (48, 36), (27, 39)):
        a = image(h, w, 3)
        for oh, ow in sizes:
            run = importers_more.tflite_bytes(annotated(model(oh, ow, "uint8"), [0.0], [1.0], "uint8"))
            g.case(f"{h}x{w} to {oh}x{ow}", {"height": oh, "width": ow}, a, run(a))
    g.write()


MODELS = {
    # name: (height, width, dtype, mean, std)
    "mobilenet_v1": (224, 224, "float32", [127.5], [127.5]),
    "mobilenet_v1_bytes": (224, 224, "uint8", [127.5], [127.5]),
    "resnet": (224, 192, "float32", importers_more.MEAN255, importers_more.STD255),
}
SMALL = {
    "one": (20, 31, "float32", [0.0], [1.0]), "byte": (20, 31, "uint8", [0.0], [1.0]), "third": (33, 47, "float32", [1.5], [255.0]),
    "channels": (61, 20, "float32", [1.25, 2.5, 130.0], [3.0, 7.0, 0.1]), "same": (47, 61, "float32", [127.0], [128.0]),
}


def main():
    configs, own = common.ROOT / "testdata" / "configs" / "tflite", common.folder("tflite")
    configs.mkdir(exist_ok=True)
    cases = []
    for folder, models in ((configs, MODELS), (own, SMALL)):
        for name, (h, w, dtype, mean, std) in models.items():
            b = annotated(model(h, w, dtype, b"serving_default_x:0" if name == "resnet" else b"image"), mean, std, dtype)
            f = folder / (name + ".tflite")
            f.write_bytes(b)
            cases.append((name, {"file": f.relative_to(common.ROOT).as_posix()}, importers_more.tflite(b), common.PNG + common.JPEG))
    refused = {
        "no_metadata": model(20, 31, "float32"), "gray": annotated(model(20, 31, "float32", channels=1), [0.0], [1.0], "float32", meta.ColorSpaceType.GRAYSCALE),
        "no_normalization": annotated(model(20, 31, "float32"), None, None, "float32"), "int8": annotated(model(20, 31, "int8"), [0.0], [1.0], "int8"),
        "unknown_color": annotated(model(20, 31, "float32"), [0.0], [1.0], "float32", meta.ColorSpaceType.UNKNOWN),
    }
    for name, b in refused.items():
        (own / ("refused_" + name + ".tflite")).write_bytes(b)
        try:
            importers_more.tflite(b)(common.ROOT / common.PNG[0])
        except Exception as e:
            print(f"refused: {name}: {str(e).splitlines()[0]}")
            continue
        raise RuntimeError(f"{name} is not refused")
    common.write("tflite", cases, [(n, {"file": f"importer/tflite/testdata/refused_{n}.tflite"}) for n in refused])
    op()


if __name__ == "__main__":
    main()
