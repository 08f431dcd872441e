"""Runs the ecosystems' own code on the files that importer/{keras,mindir,opencv,tflite} read.

As a module: one function for each ecosystem. For a configuration, it returns a function from an image's path to {output: array}.
It imports the ecosystem's packages when it is called, since no environment holds all of them. As a script:

    importers_more.py ECOSYSTEM INFER_PREP [FOLDER]...

compares the command line's tensors with the reference's, byte for byte. It uses the images of testdata/images and of the
folders. For each configuration of the ecosystem it prints

    <reference>  <configuration>  exact n of m

m counts the images that the reference accepts. If images differ, it names them and exits with 1. parity/more.sh runs all ecosystems.
"""

import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

for _v in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_v, "1")

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
MEAN255, STD255 = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]


def configs(ecosystem):
    """Lists the files of testdata/configs of that ecosystem, sorted."""
    return sorted((ROOT / "testdata" / "configs" / ecosystem).iterdir())


# mindir: the map steps of the configurations, as a function of a dataset.

def mindspore_modules():
    import mindspore
    import mindspore.dataset as ds

    return mindspore, ds


def ms_resnet(data, v, t, ms):
    return data.map([v.Decode(), v.Resize(256), v.CenterCrop(224), v.Normalize(MEAN255, STD255), v.HWC2CHW()], "image")


def ms_columns(data, v, t, ms):
    data = data.map(v.Decode(), "image").map([v.Resize((160, 192), v.Inter.PILCUBIC), v.Rescale(1 / 127.5, -1.0)], "image")
    return data.map(v.HWC2CHW(), "image", output_columns=["pixels"]).map(t.TypeCast(ms.int32), "label")


def ms_half(data, v, t, ms):
    return data.map([v.Decode(), v.Resize((224, 224), v.Inter.AREA), v.ToTensor(), v.Normalize(MEAN, STD, is_hwc=False), t.TypeCast(ms.float16)], "image")


MINDIR = {"resnet": ms_resnet, "columns": ms_columns, "half": ms_half}


def mindir(make):
    """Returns the reference for map steps: MindSpore's own pipeline."""
    ms, ds = mindspore_modules()
    from mindspore.dataset import transforms, vision

    def run(path):
        with tempfile.TemporaryDirectory() as d:
            (pathlib.Path(d) / "a").mkdir()
            name = pathlib.Path(d) / "a" / "x.jpg"  # MindSpore detects the format by the contents
            name.write_bytes(pathlib.Path(path).read_bytes())
            data = make(ds.ImageFolderDataset(d, shuffle=False, num_parallel_workers=1), vision, transforms, ms)
            row = next(data.create_dict_iterator(num_epochs=1, output_numpy=True))
        (name, a), = ((k, a) for k, a in row.items() if k != "label")
        return {name: a}

    return run


def digest(array):
    """Returns the SHA-256 of the array's bytes, little endian, in C order."""
    a = np.ascontiguousarray(array)
    return hashlib.sha256(a.astype(a.dtype.newbyteorder("<"), copy=False).tobytes()).hexdigest()


def result(outputs):
    """Returns outputs in the form of a golden file."""
    r = {}
    for name, a in outputs.items():
        a = np.asarray(a)
        flat = a.reshape(-1)
        r[name] = {"dtype": str(a.dtype), "shape": list(a.shape), "sha256": digest(a),
                   "values": [float(f"{float(flat[i]):.6g}") for i in (0, flat.size // 3)]}
    return r


# opencv

def opencv(config):
    """Returns the reference: cv2.imread, then the blob of one image without its first axis."""
    import cv2

    cv2.setNumThreads(1)
    cv2.ipp.setUseIPP(False)  # its rounding depends on the CPU
    c = dict(config.get("opencv", config))
    depth = {"CV_32F": cv2.CV_32F, "CV_8U": cv2.CV_8U}
    layout = {"NCHW": cv2.DATA_LAYOUT_NCHW, "NHWC": cv2.DATA_LAYOUT_NHWC}
    c["ddepth"] = depth.get(c.get("ddepth"), c.get("ddepth", cv2.CV_32F))
    plain = {"scalefactor", "size", "mean", "swapRB", "crop", "ddepth"}

    def run(path):
        im = cv2.imread(str(path), cv2.IMREAD_COLOR)
        if im is None:
            raise ValueError("refused")
        if set(c) <= plain and not isinstance(c.get("scalefactor"), list):
            return {"blob": cv2.dnn.blobFromImage(im, **c)[0]}
        p = cv2.dnn.Image2BlobParams()
        if c.get("crop"):
            p.paddingmode = cv2.dnn.DNN_PMODE_CROP_CENTER
        for k, v in c.items():
            if k == "crop":
                continue
            if k == "datalayout":
                v = layout.get(v, v)
            if k == "scalefactor" and not isinstance(v, list):
                v = [v] * 4
            setattr(p, k, tuple(v) if isinstance(v, list) else v)
        return {"blob": cv2.dnn.blobFromImageWithParams(im, p)[0]}

    return run


# keras

def keras(config):
    """Returns the reference: Keras's own functions, with the NumPy backend, since no other is needed."""
    os.environ["KERAS_BACKEND"] = "numpy"
    os.environ["KERAS_HOME"] = tempfile.mkdtemp()  # not the user's settings
    from keras.applications import imagenet_utils
    from keras.utils import img_to_array, load_img

    c = dict(config.get("keras", config))
    mode, layout = c.pop("mode"), c.pop("data_format", None)
    size = c.pop("target_size", c.pop("size", None))

    def run(path):
        a = img_to_array(load_img(io.BytesIO(pathlib.Path(path).read_bytes()), target_size=size, **c), data_format=layout)
        if mode is not None:
            a = imagenet_utils.preprocess_input(a, mode=mode, data_format=layout)
        return {"image": np.ascontiguousarray(a)}

    return run


# tflite

def tflite_bytes(model):
    """Returns a function from RGB pixels to the Task Library's input of the model, which must return its input, flattened."""
    from tensorflow_lite_support.metadata import schema_py_generated as schema
    from tflite_support.task import core, processor, vision

    tensor = tflite_input(model)
    dtype = {schema.TensorType.FLOAT32: np.float32, schema.TensorType.UINT8: np.uint8, schema.TensorType.INT8: np.int8}[tensor.type]
    options = processor.EmbeddingOptions(l2_normalize=False, quantize=False)
    embedder = vision.ImageEmbedder.create_from_options(vision.ImageEmbedderOptions(core.BaseOptions(file_content=model), options))

    def run(rgb):
        vector = embedder.embed(vision.TensorImage.create_from_array(rgb)).embeddings[0].feature_vector.value
        return np.array(vector).astype(dtype).reshape([int(n) for n in tensor.shape[1:]])

    return run


def tflite_input(model):
    """Returns the model's input tensor."""
    from tensorflow_lite_support.metadata import schema_py_generated as schema

    graph = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(model, 0)).subgraphs[0]
    return graph.tensors[graph.inputs[0]]


def tflite(model):
    """Returns tflite_bytes for an image file; model is a file's name or its bytes."""
    from PIL import Image

    if not isinstance(model, bytes):
        model = pathlib.Path(model).read_bytes()
    embed = tflite_bytes(model)
    name = tflite_input(model).name.decode()
    name = "".join(c if c.isascii() and c.isalnum() or c in "_.-" else "_" for c in name)
    return lambda path: {name: embed(np.asarray(Image.open(io.BytesIO(pathlib.Path(path).read_bytes())).convert("RGB")))}


# Files that the Go importers decode differently from the reference (mindir) or refuse (opencv), as their package comments state.
LEFT_OUT = {
    "mindir": re.compile(r"\.(tiff?)$|bmp_16|cmyk|ycck|jpeg_quant", re.I),
    "opencv": re.compile(r"cmyk|ycck|apng|bmp_16|gif_.*(local_only|transparent|animated|gray_local|no_table|offset)|"
                         r"tiff_(int16|pa[._]|plane[18][.]|rgb16|rgb8_(alpha|assoc)|rgba|white16)", re.I),
}


def mindir_written(program, config):
    """Reports whether MindSpore loads and runs a file into which program wrote the steps of config, and whether they are those that
    MindSpore stored. A file with two maps of the image becomes one map."""
    ms, _ = mindspore_modules()
    from mindspore import nn
    from mindspore.train.mind_ir_pb2 import ModelProto

    def ops(path):
        m = ModelProto()
        m.ParseFromString(path.read_bytes())
        return [x for o in m.preprocessor.op if json.loads(o.input_columns) == ["image"] for x in json.loads(o.operations)]

    with tempfile.TemporaryDirectory() as d:
        graph, bare, out = (pathlib.Path(d, n) for n in ("g.json", "bare.mindir", "out.mindir"))
        m = ModelProto()
        m.ParseFromString(config.read_bytes())
        m.ClearField("preprocessor")
        bare.write_bytes(m.SerializeToString())
        graph.write_bytes(subprocess.run([program, "graph", "import", "--mindir", config], stdout=subprocess.PIPE, check=True).stdout)
        subprocess.run([program, "graph", "export-mindir", "--graph", graph, "--merge", bare, "-o", out], check=True)
        x = ms.Tensor(np.zeros((1, 3, 2, 2), np.float32))
        same = (nn.GraphCell(ms.load(str(out)))(x).asnumpy() == nn.GraphCell(ms.load(str(config)))(x).asnumpy()).all()
        return bool(same) and ops(out) == ops(config)


def who(ecosystem):
    from importlib.metadata import version

    package = {"opencv": "opencv-python-headless", "keras": "keras", "mindir": "mindspore", "tflite": "tflite-support"}[ecosystem]
    return f"{package} {version(package)}"


def reference(ecosystem, path):
    if ecosystem == "mindir":
        return mindir(MINDIR[path.stem])  # the file holds JSON; the reference runs the ops from which the file was made
    if ecosystem == "tflite":
        return tflite(path)
    return {"opencv": opencv, "keras": keras}[ecosystem](json.loads(path.read_text()))


def main(ecosystem, program, *folders):
    folders = [ROOT / "testdata" / "images", *map(pathlib.Path, folders)]
    images = sorted(p.resolve() for f in folders for p in f.rglob("*")
                    if p.suffix.lower() in (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp")
                    and not (ecosystem in LEFT_OUT and LEFT_OUT[ecosystem].search(p.name)))
    program = os.path.abspath(program)
    scratch = tempfile.TemporaryDirectory()
    os.chdir(scratch.name)  # MindSpore leaves unreadable images in the working directory
    only = os.environ.get("ONLY", "")
    bad = 0
    for config in configs(ecosystem):
        if only not in f"{ecosystem} {config.stem}":
            continue
        run = reference(ecosystem, config)
        exact, total, notes, worst = 0, 0, [], 0.0
        with tempfile.TemporaryDirectory() as tmp:
            for n, p in enumerate(images):  # a folder for each, since names may repeat
                os.makedirs(os.path.join(tmp, "in", str(n)))
                os.symlink(p, os.path.join(tmp, "in", str(n), p.name))
            subprocess.run([program, "run", "--allow-outside", f"--{ecosystem}", config, "-o", os.path.join(tmp, "out"), os.path.join(tmp, "in")],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for n, p in enumerate(images):
                try:
                    (want,) = run(p).values()
                except Exception:
                    continue
                total += 1
                f = pathlib.Path(tmp, "out", str(n), p.name + ".npy")
                if not f.exists():
                    notes.append(f"{p.name}: refused")
                    continue
                have = np.load(f)
                f.unlink()
                if have.dtype == want.dtype and have.shape == want.shape and have.tobytes() == np.ascontiguousarray(want).tobytes():
                    exact += 1
                elif have.shape != want.shape:
                    notes.append(f"{p.name}: {have.dtype} {have.shape}, want {want.dtype} {want.shape}")
                else:
                    d = np.abs(have.astype(float) - want.astype(float))
                    worst = max(worst, float(d.max()))
                    notes.append(f"{p.name}: {int((d != 0).sum())} of {d.size} differ, by up to {d.max():g}")
        print(f"{who(ecosystem):34} {config.stem:24} exact {exact} of {total}, worst difference {worst:g}", flush=True)
        for n in notes[:int(os.environ.get("NOTES", 5))]:
            print(f"    {n}")
        bad += exact != total
        if ecosystem == "mindir":
            written = mindir_written(program, config)
            print(f"{who(ecosystem):34} {config.stem:24} export-mindir: {'equal ops, loaded' if written else 'OTHER OPS'}", flush=True)
            bad += not written
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("opencv", "keras", "mindir", "tflite"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
