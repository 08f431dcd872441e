"""ONNX Runtime's CPU provider, one thread: `files` by onnxruntime-extensions, which decodes
in the model too, `tensors` by its own operators on decoded images.

With MODEL=FILE in the environment `tensors` runs that model; its input is an image, uint8 HWC.
"""
import io
import os

import numpy as np
import onnx
import onnxruntime
import onnxruntime_extensions
from onnxruntime_extensions.tools import pre_post_processing as pp
from PIL import Image

import common


def session(model):
    o = onnxruntime.SessionOptions()
    o.intra_op_num_threads = o.inter_op_num_threads = 1
    o.log_severity_level = 3
    o.register_custom_ops_library(onnxruntime_extensions.get_library_path())
    return onnxruntime.InferenceSession(model, o, providers=["CPUExecutionProvider"])


def tensors(images, _):
    s = session(os.environ["MODEL"])
    name = s.get_inputs()[0].name
    decoded = [np.asarray(Image.open(io.BytesIO(b)).convert("RGB")) for b in images]
    return common.Each(lambda i: s.run(None, {name: decoded[i]})[0])


def files(images, _):
    """The pipeline that the package's own tools make: decode, short edge 256, crop 224, normalise."""
    p = pp.PrePostProcessor([pp.create_named_value("image", onnx.TensorProto.UINT8, ["bytes"])], 18)
    p.add_pre_processing([
        pp.ConvertImageToBGR(),
        pp.ReverseAxis(axis=2, dim_value=3, name="RGB"),
        pp.Resize(256),
        pp.CenterCrop(224, 224),
        pp.ChannelsLastToChannelsFirst(),
        pp.ImageBytesToFloat(),
        pp.Normalize(list(zip(common.MEAN, common.STD)), layout="CHW"),
    ])
    value = onnx.helper.make_tensor_value_info
    # The tools only put it in front of a model: one that does nothing.
    model = onnx.helper.make_model(
        onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "nothing",
                               [value("x", onnx.TensorProto.FLOAT, [3, 224, 224])], [value("y", onnx.TensorProto.FLOAT, [3, 224, 224])]),
        opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    s = session(p.run(model).SerializeToString())
    name = s.get_inputs()[0].name
    arrays = [np.frombuffer(b, np.uint8) for b in images]
    return common.Each(lambda i: s.run(None, {name: arrays[i]})[0])


common.main(f"{onnxruntime.__version__}, extensions {onnxruntime_extensions.__version__}", {"tensors": tensors, "files": files})
