"""Writes data sets of TensorFlow Datasets and what tfds reads of them."""

import hashlib
import os
import shutil
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow_datasets as tfds
from shared import DATASETS, array, case, encoded, write

F = tfds.features
IMAGES = DATASETS.parent / "images"


class Pictures(tfds.core.GeneratorBasedBuilder):
    """Images in files of their own format, labels and text, in three shards."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(builder=self, features=F.FeaturesDict({
            "image": F.Image(shape=(None, None, 3)), "label": F.ClassLabel(names=["cat", "dog", "größe"]), "text": F.Text(), "id": np.int64}))

    def _split_generators(self, _):
        return {"train": self._generate_examples(7), "test": self._generate_examples(3)}

    def _generate_examples(self, n):
        small = sorted(IMAGES.glob("*.jpg"), key=lambda p: (p.stat().st_size, p.name))
        for i in range(n):
            yield i, {"image": str(small[i]), "label": i % 3, "text": f"é {i}", "id": -i}


class Numbers(tfds.core.GeneratorBasedBuilder):
    """Every kind of feature that is read."""

    VERSION = tfds.core.Version("2.1.0")

    def _info(self):
        return tfds.core.DatasetInfo(builder=self, features=F.FeaturesDict({
            "tensor": F.Tensor(shape=(2, 3), dtype=np.float32), "zlib": F.Tensor(shape=(None, None), dtype=np.float64, encoding="zlib"),
            "raw": F.Tensor(shape=(2,), dtype=np.int16, encoding="bytes"), "scalar": F.Scalar(np.uint8), "uint32": np.uint32, "bool": np.bool_, "half": F.Scalar(np.float16),
            "objects": F.Sequence({"bbox": F.BBoxFeature(), "id": np.int64, "label": F.ClassLabel(num_classes=3)}),
            "list": F.Sequence(np.int32), "nested": F.Sequence(F.Sequence(np.float32)), "pairs": F.Sequence(F.Tensor(shape=(2,), dtype=np.int64), length=2),
            "audio": F.Audio(), "text": F.Translation(["en", "de"]), "struct": {"x": np.float64, "y": {"z": np.int8}}, "words": F.Sequence(F.Text())}))

    def _split_generators(self, _):
        return {"validation": self._generate_examples()}

    def _generate_examples(self):
        for i in range(4):
            box = lambda j: {"bbox": F.BBox(0.0, 0.0, 0.5, j / 4), "id": j, "label": j % 3}
            yield i, {
                "tensor": np.arange(6, dtype=np.float32).reshape(2, 3) / (i + 1), "zlib": np.full((i, 2), i / 3), "raw": np.array([i, -300 * i], np.int16),
                "scalar": 255 - i, "uint32": 4294967295 - i, "bool": i % 2 == 0, "half": np.float16(i / 3), "objects": [box(j) for j in range(i)],
                "list": list(range(i)), "nested": [[1.5, j] for j in range(i + 1)], "pairs": np.full((2, 2), i), "audio": np.arange(i + 1),
                "text": {"en": "a" * i, "de": "ü"}, "struct": {"x": i / 3, "y": {"z": -i}}, "words": ["a"] * i}


def flat(prefix, value, out):
    for k, v in value.items():
        if isinstance(v, dict):
            flat(f"{prefix}{k}.", v, out)
        elif isinstance(v, bytes):
            out[prefix + k] = encoded(v)
        elif k != "words":
            v = np.array(v.to_list() if hasattr(v, "to_list") else v, dtype=np.float32 if k == "nested" else None)
            v = np.asarray(v.astype(np.int64) if v.dtype == np.uint32 else v, order="C")
            out[prefix + k] = array(v) if v.dtype.name in ("float32", "float64", "int32", "int64", "uint8") else {"dtype": v.dtype.name, "shape": list(v.shape), "sha256": hashlib.sha256(v.tobytes()).hexdigest()}
    return out


def cases():
    below = DATASETS / "tfds"
    shutil.rmtree(below, ignore_errors=True)
    for maker, splits in [(Pictures, ["train", "test"]), (Numbers, ["validation"])]:
        with tempfile.TemporaryDirectory() as made:
            b = maker(data_dir=made, file_format="tfrecord")
            b.download_and_prepare(download_config=tfds.download.DownloadConfig(num_shards=3 if maker is Pictures else 1))
            to = below / b.info.name / str(b.version)
            shutil.copytree(b.data_dir, to)
        b = tfds.builder_from_directory(str(to))
        for split in splits:
            decoders = {"image": tfds.decode.SkipDecoding()} if maker is Pictures else None
            rows = tfds.as_numpy(b.as_dataset(split=split, decoders=decoders, shuffle_files=False))
            rows = [flat("", r, {}) for r in rows]
            names = None
            if maker is Pictures:
                names = {n: i for i, n in enumerate(b.info.features["label"].names)}
            c = case("tfds", {"dir": f"tfds/{b.info.name}/{b.version}", "split": split, "columns": sorted(rows[0])}, rows, names)
            c["params"]["dir"] = c["params"]["dir"].replace("../../../", "../../")
            yield c


write("tfds", f"tensorflow-datasets {tfds.__version__}", cases())
