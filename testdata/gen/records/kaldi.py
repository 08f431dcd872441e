"""Archives and scripts that kaldi_native_io and kaldiio write, and what they read from them: testdata/kaldi.

What package records/kaldi writes has to be equal, byte for byte, to the files of kaldi_native_io; that both packages read those
files as what was put in is checked here (kaldiio's compressed matrices but for their last bits, which are its own).
Needs requirements-kaldi.txt (run.sh --kaldi). kaldi_native_io tells of refused ranges on the standard error.
"""

import hashlib
import json
import os
from pathlib import Path

import kaldi_native_io as kn
import kaldiio
import numpy as np

OUT = Path(__file__).resolve().parent.parent.parent / "kaldi"
rows = []  # what is read


def digest(a):
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()


def expect(file, key, a, **more):
    a = np.asarray(a)
    rows.append({"file": file, "key": key, "dtype": str(a.dtype), "shape": list(a.shape), "sha256": digest(a), **more})


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes(), (a, b)


def matrices():
    r = np.random.default_rng(7)
    yield "one", np.array([[2.5]], np.float32)
    yield "constant", np.full((6, 3), -3.25, np.float32)
    yield "two", r.normal(0, 3, (2, 3)).astype(np.float32)
    yield "three", r.normal(0, 3, (3, 2)).astype(np.float32)
    yield "four", r.normal(0, 3, (4, 2)).astype(np.float32)
    yield "five", r.normal(0, 3, (5, 4)).astype(np.float32)
    yield "eight", r.normal(10, 3, (8, 5)).astype(np.float32)
    yield "nine", r.normal(-10, 3, (9, 5)).astype(np.float32)
    yield "unit", r.random((12, 4), np.float32)
    yield "bytes", r.integers(-3, 260, (10, 6)).astype(np.float32)
    yield "shorts", r.integers(-33000, 33000, (11, 3)).astype(np.float32)
    a = r.normal(0, 1, (20, 4)).astype(np.float32)
    a[:, 1] = 0.5
    a[::2, 2] = -0.0
    a[1::2, 2] = 0.0
    yield "columns", a
    yield "zeros", np.array([[0.0, -0.0], [-0.0, 0.0]] * 5, np.float32)
    yield "wide", (r.normal(0, 1, (9, 3)) * 10.0 ** r.integers(-30, 30, (9, 3))).astype(np.float32)
    yield "near", (1e6 + r.random((30, 3))).astype(np.float32)
    yield "features", np.cumsum(r.normal(0, 1, (90, 13)), 0).astype(np.float32)


def read_all(reader, file):
    with reader("ark:" + file) as f:
        return {k: (v.copy() if isinstance(v, np.ndarray) else v) for k, v in f}


def read_waves(file):
    with kn.SequentialWaveReader("ark:" + file) as f:
        return {k: (int(v.sample_freq), v.data.numpy().T.astype(np.int16)) for k, v in f}


METHODS = ["Automatic", "SpeechFeature", "TwoByteAuto", "TwoByteSignedInteger", "OneByteAuto", "OneByteUnsignedInteger", "OneByteZeroOne"]


def method(name):
    return getattr(kn.CompressionMethod, "k" + name + ("Method" if name == "Automatic" else ""))


def native():
    mats = list(matrices())
    with kn.FloatMatrixWriter("ark,scp:float.ark,float.scp") as w:
        for k, a in mats:
            w.write(k, a)
        w.write("größe", np.zeros((0, 0), np.float32))
        w.write("special", np.array([[np.nan, np.inf], [-np.inf, 1e-45]], np.float32))
    with kn.FloatMatrixWriter("ark,t:float_text.ark") as w:
        for k, a in mats:
            w.write(k, a)
        w.write("größe", np.zeros((0, 0), np.float32))
        w.write("special", np.array([[np.nan, np.inf], [-1e30, 1e-9]], np.float32))
    with kn.DoubleMatrixWriter("ark:double.ark") as w, kn.DoubleMatrixWriter("ark,t:double_text.ark") as t:
        for k, a in mats:
            a = a.astype(np.float64) / 3
            w.write(k, a)
            t.write(k, a)
    # The statistics of the last matrix, as compute-cmvn-stats makes them.
    a = mats[-1][1].astype(np.float64)
    stats = np.stack([np.append(a.sum(0), len(a)), np.append((a * a).sum(0), 0)])
    with kn.DoubleMatrixWriter("ark:cmvn.ark") as w:
        w.write("features", stats)
    for file, reader in [("float.ark", kn.SequentialFloatMatrixReader), ("float_text.ark", kn.SequentialFloatMatrixReader),
                         ("double.ark", kn.SequentialDoubleMatrixReader), ("cmvn.ark", kn.SequentialDoubleMatrixReader)]:
        other = dict(kaldiio.load_ark(file))
        for k, v in read_all(reader, file).items():
            expect(file, k, v, **({"type": "matrix"} if "text" in file else {}))
            if "text" not in file and v.size:
                same(other[k], v)
    # Of either width, as the other.
    for k, v in read_all(kn.SequentialDoubleMatrixReader, "float.ark").items():
        expect("float.ark", k, v, convert=True)
    for k, v in read_all(kn.SequentialFloatMatrixReader, "double.ark").items():
        expect("double.ark", k, v, convert=True)
    for k, v in read_all(kn.SequentialDoubleMatrixReader, "double_text.ark").items():
        expect("double_text.ark", k, v, convert=True, type="matrix")

    vectors = {k: a.ravel() for k, a in mats[:5]} | {"empty": np.zeros(0, np.float32)}
    for mode, suffix in [("ark", ""), ("ark,t", "_text")]:
        with kn.FloatVectorWriter(f"{mode}:vector{suffix}.ark") as w:
            for k, a in vectors.items():
                w.write(k, a)
        with kn.Int32VectorWriter(f"{mode}:ints{suffix}.ark") as w:
            for k, a in [("one", [5]), ("ends", [-2147483648, 2147483647, 0]), ("empty", []), ("ten", list(range(10)))]:
                w.write(k, a)
    for file in ["vector.ark", "vector_text.ark"]:
        for k, v in read_all(kn.SequentialFloatVectorReader, file).items():
            expect(file, k, v, type="vector")
    with kn.DoubleVectorWriter("ark:vector_double.ark") as w:
        for k, a in vectors.items():
            w.write(k, a.astype(np.float64) / 3)
    for k, v in read_all(kn.SequentialDoubleVectorReader, "vector_double.ark").items():
        expect("vector_double.ark", k, v, type="vector")
    for file in ["ints.ark", "ints_text.ark"]:
        for k, v in read_all(kn.SequentialInt32VectorReader, file).items():
            expect(file, k, np.array(v, np.int32), type="ints")

    for n, name in enumerate(METHODS, 1):
        file = f"method{n}.ark"
        with kn.CompressedMatrixWriter("ark:" + file) as w:
            for k, a in mats:
                w.write(k, a, method(name))
        other = dict(kaldiio.load_ark(file))
        wide = read_all(kn.SequentialDoubleMatrixReader, file)
        for k, v in read_all(kn.SequentialFloatMatrixReader, file).items():
            expect(file, k, v)
            expect(file, k, wide[k], convert=True)
            assert np.allclose(other[k], v, rtol=1e-4, atol=1e-4 * max(1, np.abs(v).max())), (file, k)

    with kn.WaveWriter("ark:wave.ark") as w:
        r = np.random.default_rng(8)
        for k, channels, n, rate in [("mono", 1, 37, 16000), ("stereo", 2, 20, 44100)]:
            a = r.integers(-32768, 32768, (channels, n)).astype(np.float32)
            w.write(k, kn.WaveData(rate, a))
    for k, (rate, v) in read_waves("wave.ark").items():
        expect("wave.ark", k, v, rate=rate)
    for k, (rate, v) in kaldiio.load_ark("wave.ark"):
        (row,) = [x for x in rows if x["file"] == "wave.ark" and x["key"] == k]
        v = v.reshape(len(v), -1)
        assert row["rate"] == rate and row["sha256"] == digest(v.astype(np.int16)), k


def ranges():
    """What each range leaves of the 20 x 4 matrix, or that it is refused."""
    line = dict(x.split() for x in Path("float.scp").read_text().splitlines())["columns"]
    whole = read_all(kn.SequentialFloatMatrixReader, "float.ark")["columns"]
    cases = []
    for s in ["[0:9]", "[:,0:1]", "[:]", "[:,:]", "[0:0]", "[5:19,1:3]", "[19:19]", "[18:20]", "[18:22]", "[18:23]", "[20:22]", "[0:3,0:4]",
              "[0:1,3:3]", "[0:1,4:4]", "[3:2]", "[-1:2]", "[3]", "[]", "[,0:1]", "[0:1,]", "[0:1,0:1,0:1]", "[0:2:1]", "[a:b]"]:
        Path("range.scp").write_text(f"x {line}{s}\n")
        try:
            with kn.SequentialFloatMatrixReader("scp:range.scp") as f:
                (v,) = [v.copy() for _, v in f]
            assert v.tobytes() in whole.tobytes() or "," in s
            cases.append({"range": s, "shape": list(v.shape), "sha256": digest(v)})
        except (RuntimeError, ValueError):
            cases.append({"range": s, "refused": True})
    Path("range.scp").unlink()
    return cases


def python():
    """What kaldiio writes."""
    mats = dict(matrices())
    d = {"matrix": mats["five"], "double": mats["nine"].astype(np.float64) / 3, "vector": mats["unit"].ravel(), "ints": np.arange(-3, 4, dtype=np.int32)}
    kaldiio.save_ark("kaldiio.ark", d, scp="kaldiio.scp")
    kaldiio.save_ark("kaldiio_text.ark", {k: d[k] for k in ["matrix", "double", "vector"]}, text=True)
    kaldiio.save_ark("kaldiio_ints_text.ark", {"ints": d["ints"]}, text=True)
    kinds = {"matrix": kn.SequentialFloatMatrixReader, "double": kn.SequentialDoubleMatrixReader, "vector": kn.SequentialFloatVectorReader,
             "ints": kn.SequentialInt32VectorReader}
    for k, a in d.items():
        kaldiio.save_ark("one.ark", {k: a})
        ((key, v),) = read_all(kinds[k], "one.ark").items()
        same(np.asarray(v, a.dtype), a)
        expect("kaldiio.ark", k, a)
    for k, v in kaldiio.load_ark("kaldiio_text.ark"):
        expect("kaldiio_text.ark", k, v)
    expect("kaldiio_ints_text.ark", "ints", d["ints"], type="ints")
    for n in range(1, 8):
        k = f"kaldiio_method{n}"
        kaldiio.save_ark("one.ark", {k: mats["features"]}, compression_method=n)
        with open("one.ark", "rb") as f, open("kaldiio_compressed.ark", "wb" if n == 1 else "ab") as g:
            g.write(f.read())
    for k, v in read_all(kn.SequentialFloatMatrixReader, "kaldiio_compressed.ark").items():
        expect("kaldiio_compressed.ark", k, v)
    r = np.random.default_rng(9)
    kaldiio.save_ark("kaldiio_wave.ark", {"mono": (8000, r.integers(-32768, 32768, 21).astype(np.int16)), "stereo": (8000, r.integers(-32768, 32768, (9, 2)).astype(np.int16))})
    for k, (rate, v) in kaldiio.load_ark("kaldiio_wave.ark"):
        expect("kaldiio_wave.ark", k, v.reshape(len(v), -1), rate=rate)
    kaldiio.save_ark("numpy.ark", {"a": np.arange(3)}, write_function="numpy")
    kaldiio.save_ark("pickle.ark", {"a": {"b": 1}}, write_function="pickle")
    Path("one.ark").unlink()


def main():
    OUT.mkdir(exist_ok=True)
    os.chdir(OUT)
    native()
    python()
    cases = ranges()
    dump = lambda v: json.dumps(v, ensure_ascii=False)
    text = '{"rows": [\n' + ",\n".join(map(dump, rows)) + '\n], "ranges": [\n' + ",\n".join(map(dump, cases)) + "\n]}\n"
    Path("expected.json").write_text(text)


if __name__ == "__main__":
    main()
