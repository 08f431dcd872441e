"""Makes testdata/configs/mindir and importer/mindir/testdata: MindIR files with a preprocessor field, the steps of others, and what MindSpore's own pipeline gives.

Run with Python 3.11 and requirements-mindspore.txt. Every run gives the same bytes: the time and the process's number, which
MindSpore writes into a file, are replaced by zeros.
"""

import os
import pathlib
import re
import tempfile

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.dataset import transforms as t
from mindspore.dataset import vision as v
from mindspore.train.mind_ir_pb2 import ModelProto

import importer_goldens as common
import importers_more

Inter = v.Inter


class Net(nn.Cell):
    def construct(self, x):
        return x + 1


def exported(make, name):
    """The MindIR file of a net and the map steps."""
    with tempfile.TemporaryDirectory() as d:
        (pathlib.Path(d) / "a").mkdir()
        (pathlib.Path(d) / "a" / "x.png").write_bytes((common.ROOT / common.PNG[0]).read_bytes())
        data = make(ds.ImageFolderDataset(d, shuffle=False), v, t, ms)
        out = os.path.join(d, name)
        ms.export(Net(), ms.Tensor(np.zeros((1, 3, 2, 2), np.float32)), file_name=out, file_format="MINDIR", dataset=data)
        b = pathlib.Path(out + ".mindir").read_bytes()
    return re.sub(rb"(export\.mindir\.)(\d+\.\d+\.\d+)", lambda m: m[1] + re.sub(rb"\d", b"0", m[2]), b)


def steps(make):
    """The fields of the preprocessor, as the file has them."""
    m = ModelProto()
    m.ParseFromString(exported(make, "x"))
    return [{"input_columns": o.input_columns, "output_columns": o.output_columns, "project_columns": o.project_columns,
             "op_type": o.op_type, "operations": o.operations, "offload": o.offload} for o in m.preprocessor.op]


def chain(*ops, decode=True):
    return lambda data, *_: data.map(([v.Decode()] if decode else []) + list(ops), "image")


MEAN, STD = importers_more.MEAN255, importers_more.STD255


def chains():
    for side in (7, 20, 33, 40, 61, 100):
        yield f"resize {side}", [v.Resize(side)]
    for i in Inter.NEAREST, Inter.BILINEAR, Inter.BICUBIC, Inter.AREA, Inter.PILCUBIC:
        for size in ((20, 30), (47, 70), (100, 15), (13, 61)):
            yield f"{i.name.lower()} {size[0]}x{size[1]}", [v.Resize(size, i)]
        yield f"{i.name.lower()} 31", [v.Resize(31, i)]
        yield f"box {i.name.lower()}", [v.ResizedCrop(1, 2, 5, 6, (21, 9), i)]
    for i in Inter.NEAREST, Inter.BILINEAR, Inter.BICUBIC, Inter.AREA:
        yield f"float {i.name.lower()}", [v.Rescale(1 / 255, 0.0), v.Resize((23, 31), i)]
    for size in (20, 21, (7, 12), (18, 19), 91, (92, 61), (30, 100), 130, 131):
        yield f"crop {size}", [v.CenterCrop(size)]
    yield "window", [v.Crop((1, 2), (5, 6))]
    yield "normalize", [v.Normalize(MEAN, STD)]
    yield "normalize one", [v.Normalize([120.5], [61.3])]
    yield "normalize float", [v.Rescale(1 / 255, 0.0), v.Normalize(importers_more.MEAN, importers_more.STD)]
    yield "normalize planes", [v.HWC2CHW(), v.Normalize(MEAN, STD, is_hwc=False)]
    yield "pad channel", [v.HWC2CHW(), v.NormalizePad(MEAN, STD, is_hwc=False)]
    yield "pad channel half", [v.HWC2CHW(), v.NormalizePad(MEAN, STD, "float16", is_hwc=False)]
    for scale, shift in ((1 / 255, 0.0), (1 / 127.5, -1.0), (0.017, -1.7), (2.0, 0.5), (1 / 255, 0.1), (0.3, 1e-7)):
        yield f"rescale {scale:.4f} {shift}", [v.Rescale(scale, shift)]
    yield "tensor", [v.ToTensor()]
    yield "tensor normalized", [v.ToTensor(), v.Normalize(importers_more.MEAN, importers_more.STD, is_hwc=False)]
    for d in ms.uint8, ms.int8, ms.int16, ms.uint16, ms.int32, ms.int64, ms.float16, ms.float32, ms.float64:
        yield f"cast {d}", [t.TypeCast(d)]
    for d in ms.float16, ms.int32, ms.int64, ms.int16, ms.float64:
        yield f"cast {d} of floats", [v.Normalize(MEAN, STD), t.TypeCast(d)]
    yield "flips", [v.HorizontalFlip(), v.VerticalFlip(), v.Invert()]
    yield "flip", [v.HorizontalFlip()]
    yield "pad", [v.Pad([1, 2, 3, 4], (1, 2, 3))]
    yield "pad edge", [v.Pad(3, padding_mode=v.Border.EDGE)]
    yield "pad reflect", [v.Pad([3, 0, 5, 1], padding_mode=v.Border.REFLECT)]
    yield "pad symmetric", [v.Pad([3, 0, 5, 1], padding_mode=v.Border.SYMMETRIC)]
    yield "brightness", [v.AdjustBrightness(1.3)]
    yield "contrast", [v.AdjustContrast(0.7)]
    yield "saturation", [v.AdjustSaturation(1.4)]
    yield "hue", [v.AdjustHue(0.2)]
    for f in (0.3, 1.9):
        yield f"sharpness {f}", [v.AdjustSharpness(f)]
    for g, gain in ((2.2, 1.0), (0.45, 1.7)):
        yield f"gamma {g} {gain}", [v.AdjustGamma(g, gain)]
    for cutoff, ignore in ((0.0, None), (5.5, [3, 255]), (10, 0)):
        yield f"autocontrast {cutoff}", [v.AutoContrast(cutoff, ignore)]
    yield "equalize", [v.Equalize()]
    yield "posterize", [v.Posterize(3)]
    for threshold in ((10, 200), 99.5, (0, 255)):
        yield f"solarize {threshold}", [v.Solarize(threshold)]
    yield "imagenet", [v.Resize(50), v.CenterCrop(44), v.Normalize(MEAN, STD), v.HWC2CHW(), t.TypeCast(ms.float16)]
    yield "pad end", [t.PadEnd([100, 50, 3], 7)]
    yield "pad end planes", [v.HWC2CHW(), t.TypeCast(ms.float32), t.PadEnd([3, 40, 100], -1.1)]
    yield "fill", [t.Fill(9)]
    for r in range(6):
        yield f"mask {r}", [t.Mask(list(t.Relational)[r], 100)]
    yield "mask float", [v.Rescale(1 / 255, 0.0), t.Mask(t.Relational.LE, 0.3)]


def refused():
    yield "random", chain(v.Resize(20), v.RandomHorizontalFlip(0.3), v.RandomColorAdjust())
    yield "random crop", chain(v.RandomCropDecodeResize(20), decode=False)
    yield "lambda", chain(lambda x: x)
    yield "pil", chain(v.Decode(to_pil=True), v.Resize(20), v.ToTensor(), decode=False)
    yield "applied", chain(t.RandomApply([v.HorizontalFlip()]))
    yield "channels", chain(v.HWC2CHW(), v.Resize(10))
    yield "layout", chain(v.Normalize(MEAN, STD, is_hwc=False))
    yield "packed", chain(v.NormalizePad(MEAN, STD))
    yield "blur", chain(v.GaussianBlur(3))


def main():
    ds.config.set_num_parallel_workers(1)
    out = common.ROOT / "testdata" / "configs" / "mindir"
    out.mkdir(exist_ok=True)
    cases = []
    for name, make in importers_more.MINDIR.items():
        (out / (name + ".mindir")).write_bytes(exported(make, name))
        cases.append((name, {"file": f"testdata/configs/mindir/{name}.mindir"}, importers_more.mindir(make), common.PNG + common.JPEG))
    for i, (name, ops) in enumerate(chains()):
        make = chain(*ops)
        images = common.PNG + common.JPEG if i % 6 == 0 else (common.PNG[:3] + common.JPEG)[i % 4:][:2]
        cases.append((name, {"steps": steps(make)}, importers_more.mindir(make), images))
    make = lambda data, *_: data.map(v.Resize(20), "image")  # noqa: E731 - the source decodes
    cases.append(("decoded before", {"steps": steps(make)}, importers_more.mindir(chain(v.Resize(20))), common.PNG[:2]))
    common.write("mindir", cases, [(name, {"steps": steps(make)}) for name, make in refused()])


if __name__ == "__main__":
    main()
