"""Writes the tables of dataset/columnar/testdata and what pyarrow and datasets read
of them: Parquet files with every encoding and compression that is read, three sounds and five
images in the layouts of Hugging Face's datasets."""

import base64
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HOME"] = tempfile.mkdtemp()

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Array2D, Audio, ClassLabel, Dataset, Features, Image, List, Value, load_dataset, load_from_disk
from shared import EXTENSIONS, encoded, file, integer

ROOT = Path(__file__).resolve().parent.parent.parent.parent
OUT = ROOT / "dataset" / "columnar" / "testdata"
IMAGES = ["jpeg_fill_bytes.jpg", "png_exif2_gray.png", "webp_exif8.webp", "bmp_1bit.bmp", "jpeg_size_2x2_17x33.jpg"]
SOUNDS = ["tone", "samples_160", "fmt_18"]  # of sound/flac and sound/wav
DTYPES = {"uint32": "int64", "uint64": "int64"}  # of those that infer-prep lacks


def value(t, v):
    """A value of an Arrow type as sourcetest.Golden compares it."""
    if pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_binary(t) or pa.types.is_fixed_size_binary(t):
        return encoded(v if isinstance(v, bytes) else v.encode())
    while pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        t = t.value_type
    if pa.types.is_temporal(t):
        raise SystemExit(f"huggingface.py: {t}: compare its integer")
    name = {"halffloat": "float16", "float": "float32", "double": "float64"}.get(str(t), str(t))
    a = np.asarray(v, dtype=DTYPES.get(name, name))
    x = {"dtype": str(a.dtype), "shape": list(a.shape)}
    if a.size <= 16 and name in ("float32", "float64", "int32", "int64", "uint8"):
        return x | {"data": [str(x) for x in a.ravel().tolist()]}
    return x | {"sha256": hashlib.sha256(a.tobytes()).hexdigest()}


def rows(table):
    """The rows of a table: structs are columns with a dot, an image's struct is its bytes."""
    def flat(name, t, v, out):
        if pa.types.is_struct(t):
            image = {f.name for f in t} == {"bytes", "path"}
            for f in t:
                flat(name if image and f.name == "bytes" else f"{name}.{f.name}", f.type, v[f.name], out)
        elif pa.types.is_list(t) and pa.types.is_struct(t.value_type):
            for f in t.value_type:
                flat(f"{name}.{f.name}", pa.list_(f.type), [x[f.name] for x in v], out)
        else:
            out[name] = value(t, v)

    for r in table.to_pylist():
        out = {}
        for f in table.schema:
            flat(f.name, f.type, r[f.name], out)
        yield out


def case(source, files, rows, classes=None):
    c = {"source": source, "params": {"files": [f"../testdata/{f}" for f in files], "columns": []}, "rows": list(rows)}
    return c if classes is None else c | {"class_indexing": classes}


def write(name, reference, cases):
    lines = []
    for c in cases:
        head = json.dumps({k: v for k, v in c.items() if k != "rows"})
        lines.append(head[:-1] + ', "rows": [\n' + ",\n".join(map(json.dumps, c["rows"])) + "\n]}")
    (OUT / name).write_text(f'{{"reference": {json.dumps(reference)}, "cases": [\n' + ",\n".join(lines) + "\n]}\n")


def numbers():
    """14 rows of every type, so that a group of 5 rows ends within."""
    n = 14
    i = np.arange(n)
    a = {
        "text": pa.array([f"text {k % 4} é" for k in i]),
        "binary": pa.array([bytes(range(k)) for k in i]),
        "fixed": pa.array([bytes([k, 1, 2]) for k in i], pa.binary(3)),
        "bool": pa.array([k % 3 == 0 for k in i]),
        "half": pa.array((i / 4).astype(np.float16)),
        "float": pa.array((i / 3).astype(np.float32)),
        "double": pa.array(i / 3),
        "list": pa.array([list(range(k % 4)) for k in i], pa.list_(pa.int64())),
        "matrix": pa.array([np.full((k % 3 + 1, 2), k / 8).tolist() for k in i], pa.list_(pa.list_(pa.float32()))),
        "objects": pa.array([[{"box": [k, j], "area": j / 2} for j in range(k % 3 + 1)] for k in i], pa.list_(pa.struct([("box", pa.list_(pa.int32(), 2)), ("area", pa.float64())]))),
        "struct": pa.array([{"x": int(k), "y": str(k)} for k in i], pa.struct([("x", pa.int16()), ("y", pa.string())])),
    }
    for t in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
        info = np.iinfo(t)
        a[t] = pa.array(np.array([max(info.min, -(k**4)) if info.min else min(info.max // 2, k**9) for k in i.tolist()], t))
    return pa.table(a)


def parquet():
    t = numbers()
    plain = {"use_dictionary": False}
    delta = {"use_dictionary": False, "column_encoding": {
        **{c: "DELTA_BINARY_PACKED" for c in ["int32", "int64", "uint64", "list.list.element"]},
        **{c: "DELTA_LENGTH_BYTE_ARRAY" for c in ["text", "binary"]},
        **{c: "BYTE_STREAM_SPLIT" for c in ["float", "double", "half"]}}}
    files = {
        "plain": dict(compression="none", **plain),
        "snappy": dict(compression="snappy", row_group_size=5),
        "gzip": dict(compression="gzip", data_page_version="2.0", **plain),
        "zstd": dict(compression="zstd", row_group_size=5, data_page_size=16, write_batch_size=2, write_page_index=True),
        "brotli": dict(compression="brotli", data_page_size=16, write_batch_size=2, **plain),
        "lz4": dict(compression="lz4", data_page_version="2.0", data_page_size=16, write_batch_size=2),
        "delta": dict(compression="none", data_page_size=64, write_batch_size=3, write_page_index=True, **delta),
    }
    (OUT / "parquet").mkdir()
    for name, options in files.items():
        file = OUT / "parquet" / f"{name}.parquet"
        pq.write_table(t, file, store_schema=False, **options)
        assert list(rows(pq.read_table(file))) == list(rows(t)), name
    nulls = pa.table({"x": pa.array([1, None, 3]), "list": pa.array([[1], None, []], pa.list_(pa.int64())), "ragged": pa.array([[[1], [2, 3]], [[1]], [[]]]),
                      "inner": pa.array([[1, None], [2], [3]]), "words": pa.array([["a"], ["b"], []]), "when": pa.array([1, 2, 3], pa.timestamp("us"))})
    pq.write_table(nulls, OUT / "parquet" / "odd.parq", store_schema=False)
    with pa.ipc.new_stream(OUT / "numbers.arrow", t.schema) as w:
        w.write_table(t, max_chunksize=5)
    for source, file in [("parquet", "parquet/plain.parquet"), ("arrow", "numbers.arrow")]:
        write(f"pyarrow_{source}.json", f"pyarrow {pa.__version__}", [case(source, [file], rows(t))])


def images():
    """Five images in the layouts of datasets."""
    features = Features({"image": Image(), "label": ClassLabel(names=["cat", "dog", "größe"]), "caption": Value("string"), "box": List(Value("float32"), length=4), "ids": List(Value("int64"))})
    columns = {"image": [], "label": [], "caption": [], "box": [], "ids": []}
    for i, name in enumerate(IMAGES):
        columns["image"].append({"bytes": (ROOT / "testdata" / "images" / name).read_bytes(), "path": name})
        columns["label"].append(i % 3)
        columns["caption"].append(f"image {i}")
        columns["box"].append([i, 0.5, 1 / 3, -i])
        columns["ids"].append(list(range(i)))
    d = Dataset.from_dict(columns, features=features)
    classes = {n: i for i, n in enumerate(features["label"].names)}
    want = list(rows(d.data.table))
    cases = []

    # As push_to_hub names and splits them.
    (OUT / "hub" / "data").mkdir(parents=True)
    files = [f"data/train-{k:05d}-of-00002.parquet" for k in range(2)]
    for k in range(2):
        d.shard(2, k, contiguous=True).to_parquet(OUT / "hub" / files[k])
    back = load_dataset("parquet", data_files=[str(OUT / "hub" / f) for f in files], split="train")
    assert back.features == features and list(rows(back.data.table)) == want
    cases.append(case("parquet", ["hub"], want, classes))

    d.save_to_disk(OUT / "saved", num_shards=2)
    assert list(rows(load_from_disk(str(OUT / "saved")).data.table)) == want
    cases.append(case("arrow", ["saved"], want, classes))

    with tempfile.TemporaryDirectory() as cache:
        load_dataset("parquet", data_files=[str(OUT / "hub" / f) for f in files], split="train", cache_dir=cache)
        made = next(Path(cache).rglob("parquet-train.arrow"))
        (OUT / "cache").mkdir()
        shutil.copy(made, OUT / "cache" / made.name)
    cases.append(case("arrow", [f"cache/{made.name}"], want, classes))
    return cases


def folder():
    """The folder of classes that other references read, too."""
    below = ROOT / "testdata" / "datasets" / "imagefolder"
    with tempfile.TemporaryDirectory() as cache:
        d = load_dataset("imagefolder", data_dir=str(below / "flat"), split="train", cache_dir=cache)
        names = d.features["label"].names
        want = [{"image": file(Path(r["image"]["path"])), "label": integer(r["label"])} for r in d.cast_column("image", Image(decode=False))]
    params = {"dir": "../../testdata/datasets/imagefolder/flat", "extensions": EXTENSIONS, "class_indexing": {}}
    return {"source": "image_folder", "params": params, "rows": want, "class_indexing": {n: i for i, n in enumerate(names)}}


def metadata():
    """Folders with metadata.jsonl and metadata.csv."""
    out = ROOT / "testdata" / "datasets" / "metadatafolder"
    shutil.rmtree(out, ignore_errors=True)
    images = sorted((ROOT / "testdata" / "images").glob("*.jpg"), key=lambda p: (p.stat().st_size, p.name))[:4]

    def folder(name, *files):
        (out / name).mkdir(parents=True, exist_ok=True)
        for i, f in enumerate(files):
            (out / name / f).parent.mkdir(exist_ok=True)
            shutil.copy(images[i % 4], out / name / f)
        return out / name

    def lines(folder, rows):
        (folder / "metadata.jsonl").write_text("".join(json.dumps(r, ensure_ascii=k % 2 == 0) + "\n" for k, r in enumerate(rows)))

    lines(folder("jsonl/train", "0.jpg", "sub/1.jpg", "2.jpg", "not listed.jpg"), [
        {"file_name": "sub/1.jpg", "mask_file_name": "0.jpg", "label": 3, "score": 1, "ok": True, "caption": "größe 😀", "objects": {"bbox": [[1, 2.5, 3, 4], [5, 6, 7, 8]], "ids": [7, 9]}, "grid": [[1], [2]]},
        {"label": -1, "file_name": "./0.jpg", "mask_file_name": "sub/../2.jpg", "score": 0.1, "ok": False, "caption": "", "objects": {"ids": [], "bbox": [[0, 0, 0, 1]]}, "grid": [[], []]},
        {"file_name": "2.jpg", "mask_file_name": "2.jpg", "label": 1 << 62, "score": 1e300, "ok": True, "caption": "a\n\"b\"", "objects": {"bbox": [[0, 0, 0, 0]], "ids": [-5]}, "grid": [[1, 2, 3]]}])
    lines(folder("jsonl/my_test-2", "0.jpg"), [
        {"file_name": "0.jpg", "mask_file_name": "0.jpg", "label": 0, "score": 0.0, "ok": False, "caption": "t", "objects": {"bbox": [[0.5, 0, 0, 0]], "ids": [1]}, "grid": [[5]]}])
    root = folder("csv", "a/0.jpg", "b/1.jpg", "b/2.jpg")
    (root / "metadata.csv").write_text('file_name,count,weight,flag,name,"odd, name"\r\na/0.jpg,7,0.5,TRUE,"two\nlines",1\r\nb/1.jpg,-07,2,False,"a ""b""",x\r\n"b/2.jpg", 8 ,1e-3,true,ü,TRUE\r\n')
    (folder("two/valid/x", "0.jpg") / "metadata.csv").write_text("image_file_name,label\n0.jpg,1\n")
    cases = []
    for name, split in [("jsonl", "train"), ("jsonl", "test"), ("csv", "train"), ("two", "validation")]:
        with tempfile.TemporaryDirectory() as cache:
            d = load_dataset("imagefolder", data_dir=str(out / name), split=split, cache_dir=cache)
            for c, f in d.features.items():
                if isinstance(f, Image):
                    d = d.cast_column(c, Image(decode=False))
            want = [{k: v for k, v in r.items() if not k.endswith(".path")} for r in rows(Filled(d.data.table))]
        params = {"dir": f"../../testdata/datasets/metadatafolder/{name}", "split": "" if name == "csv" else split, "columns": []}
        cases.append({"source": "metadata_folder", "params": params, "rows": want})
    write("../../../testdata/datasets/metadatafolder/datasets.json", f"datasets {datasets.__version__}", cases)


def paths():
    """Tables whose images are paths: Parquet and Arrow, in a folder with the images."""
    out = OUT / "paths"
    out.mkdir()
    images = sorted((ROOT / "testdata" / "images").glob("*.jpg"), key=lambda p: (p.stat().st_size, p.name))[:2]
    for i, p in enumerate(images):
        (out / "images").mkdir(exist_ok=True)
        shutil.copy(p, out / "images" / f"{i}.jpg")
    features = Features({"image": Image(), "label": Value("int64")})
    table = {"image": [{"bytes": None, "path": "images/1.jpg"}, {"bytes": b"here", "path": "images/0.jpg"}, {"bytes": None, "path": "images/0.jpg"}], "label": [1, 2, 3]}
    d = Dataset.from_dict(table, features=features)
    before = os.getcwd()
    os.chdir(out)  # datasets opens paths relative to the working directory
    try:
        pq.write_table(d.data.table, "data.parquet")
        with pa.ipc.new_stream("data.arrow", d.data.table.schema) as w:  # as datasets' cache; save_to_disk embeds the files
            w.write_table(d.data.table.combine_chunks())
        want = []
        for r, raw in zip(load_dataset("parquet", data_files="data.parquet", split="train").cast_column("image", Image(decode=False)), table["image"]):
            assert r["image"] == raw
            want.append({"image": encoded(raw["bytes"] or Path(raw["path"]).read_bytes()), "image.path": encoded(raw["path"].encode()), "label": value(pa.int64(), r["label"])})
        assert Dataset.from_file("data.arrow")[0]["image"].size == load_dataset("parquet", data_files="data.parquet", split="train")[0]["image"].size
    finally:
        os.chdir(before)
    return [case("parquet", ["paths/data.parquet"], want), case("arrow", ["paths/data.arrow"], want)]


def sounds():
    """Three sounds, as a table of datasets' type Audio: Parquet, and a folder of save_to_disk."""
    files = {c["name"]: base64.b64decode(c["file"]) for k in ["flac", "wav"] for c in json.loads((ROOT / "sound" / k / "testdata" / "cases.json").read_text())}
    table = {"audio": [{"bytes": files[n], "path": n} for n in SOUNDS], "text": ["one", "zwei", "größe"]}
    d = Dataset.from_dict(table, features=Features({"audio": {"bytes": Value("binary"), "path": Value("string")}, "text": Value("string")}))
    d = d.cast_column("audio", Audio(sampling_rate=16000, decode=False))
    (OUT / "sounds").mkdir()
    d.to_parquet(OUT / "sounds" / "data.parquet")
    d.save_to_disk(OUT / "sounds" / "saved")
    want = list(rows(d.data.table))
    for back in [load_dataset("parquet", data_files=str(OUT / "sounds" / "data.parquet"), split="train"), load_from_disk(str(OUT / "sounds" / "saved"))]:
        assert back.features == d.features and list(rows(back.data.table)) == want
    return [case("parquet", ["sounds/data.parquet"], want), case("arrow", ["sounds/saved"], want)]


def lerobot():
    """Data sets of LeRobot in the layouts of versions 2.1 and 3.0, with two episodes of 3 and 2 frames."""
    info = {"robot_type": "so100", "total_episodes": 2, "total_frames": 5, "total_tasks": 2, "total_chunks": 1, "chunks_size": 1000, "fps": 30, "splits": {"train": "0:2"}}
    info["features"] = {
        "observation.state": {"dtype": "float32", "shape": [6], "names": [f"joint {i}" for i in range(6)]},
        "action": {"dtype": "float32", "shape": [2, 3], "names": None},
        "observation.images.front": {"dtype": "image", "shape": [2, 2, 3], "names": ["height", "width", "channel"]},
        "observation.images.top": {"dtype": "video", "shape": [480, 640, 3], "names": ["height", "width", "channel"]},
        "next.done": {"dtype": "bool", "shape": [1], "names": None}, "timestamp": {"dtype": "float32", "shape": [1], "names": None},
        **{k: {"dtype": "int64", "shape": [1], "names": None} for k in ["frame_index", "episode_index", "index", "task_index"]}}
    features = Features({
        "observation.state": List(Value("float32"), length=6), "action": Array2D((2, 3), "float32"), "observation.images.front": Image(),
        "next.done": Value("bool"), "timestamp": Value("float32"), **{k: Value("int64") for k in ["frame_index", "episode_index", "index", "task_index"]}})
    jpegs = sorted((ROOT / "testdata" / "images").glob("*.jpg"), key=lambda p: (p.stat().st_size, p.name))[:5]
    tasks = ["pick it up", "größe"]
    episodes, at = [], 0
    for e, n in enumerate([3, 2]):
        i = np.arange(n)
        episodes.append(Dataset.from_dict({
            "observation.state": (i[:, None] / 3 + np.arange(6)).astype(np.float32), "action": (i[:, None, None] + np.ones((n, 2, 3))).astype(np.float32),
            "observation.images.front": [{"bytes": jpegs[at + k].read_bytes(), "path": f"frame_{k:06d}.png"} for k in range(n)],
            "next.done": i == n - 1, "timestamp": (i / 30).astype(np.float32), "frame_index": i, "episode_index": [e] * n, "index": at + i, "task_index": [1 - e] * n}, features=features))
        at += n
    out = OUT / "lerobot"
    for v in ["v2.1", "v3.0"]:
        (out / v / "meta").mkdir(parents=True)
        (out / v / "data" / "chunk-000").mkdir(parents=True)
    old = info | {"codebase_version": "v2.1", "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"}
    (out / "v2.1" / "meta" / "info.json").write_text(json.dumps(old, indent=4))
    (out / "v2.1" / "meta" / "tasks.jsonl").write_text("".join(json.dumps({"task_index": i, "task": t}) + "\n" for i, t in enumerate(tasks)))
    for e, d in enumerate(episodes):
        d.to_parquet(out / "v2.1" / "data" / "chunk-000" / f"episode_{e:06d}.parquet")
    new = info | {"codebase_version": "v3.0", "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"}
    (out / "v3.0" / "meta" / "info.json").write_text(json.dumps(new, indent=4))
    pd.DataFrame({"task_index": range(2)}, index=tasks).to_parquet(out / "v3.0" / "meta" / "tasks.parquet")
    datasets.concatenate_datasets(episodes).to_parquet(out / "v3.0" / "data" / "chunk-000" / "file-000.parquet")
    cases = []
    for v in ["v2.1", "v3.0"]:
        d = load_dataset(str(out / v / "data"), split="train")  # as LeRobotDataset loads it
        assert d.features == features
        want = []
        for r in rows(d.data.table.cast(storage(d.data.table.schema))):
            want.append(r | {"task": encoded(tasks[int(r["task_index"]["data"][0])].encode())})
        cases.append({"source": "lerobot", "params": {"dir": f"../testdata/lerobot/{v}", "columns": []}, "rows": want})
    write("datasets_lerobot.json", f"datasets {datasets.__version__}", cases)


def storage(schema):
    """A schema without extension types, which datasets gives arrays."""
    return pa.schema([pa.field(f.name, f.type.storage_type if isinstance(f.type, pa.ExtensionType) else f.type) for f in schema])


class Filled:
    """A table whose images have the bytes of their files."""

    def __init__(self, table):
        self.table, self.schema = table, table.schema

    def to_pylist(self):
        l = self.table.to_pylist()
        for r in l:
            for k, v in r.items():
                if isinstance(v, dict) and set(v) == {"bytes", "path"}:
                    r[k] = v | {"bytes": Path(v["path"]).read_bytes()}
        return l


for d in ["parquet", "hub", "saved", "cache", "paths", "sounds", "lerobot"]:
    shutil.rmtree(OUT / d, ignore_errors=True)
parquet()
cases = images() + paths() + sounds()
metadata()
lerobot()
write("../../../testdata/datasets/imagefolder/datasets.json", f"datasets {datasets.__version__}", [folder()])
for source in ["parquet", "arrow"]:
    write(f"datasets_{source}.json", f"datasets {datasets.__version__}", [c for c in cases if c["source"] == source])
