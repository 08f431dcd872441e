"""What webdataset's writer makes of samples that Kaldi's readers read: testdata/pack, for package pack.

The shards that pack writes have to be equal, byte for byte. Scripts and labels of testdata/pack are of the archives of testdata/kaldi (kaldi.py
makes them), with paths from there. Groups, fields and their folders are those of pack_data of CAT (thu-spmi), segments those of Kaldi's
extract-segments.

Needs requirements-pack.txt (run.sh --pack). It takes no arguments; running it again gives the same bytes.
"""

import hashlib
import importlib.metadata
import io
import json
import os
import pathlib
import tempfile

import kaldi_native_io as kn
import kaldiio
import numpy as np
import webdataset

for package, version in [("webdataset", "1.0.2"), ("kaldiio", "2.18.1"), ("kaldi_native_io", "1.23.0"), ("numpy", "2.4.6")]:
    assert importlib.metadata.version(package) == version, package

DATA = pathlib.Path(__file__).resolve().parent.parent.parent
OUT = DATA / "pack"
OUT.mkdir(exist_ok=True)
os.chdir(DATA / "kaldi")


def shards(samples, count, groups=("",), name="data-%05d.tar"):
    """The digests of the files that samples (group, sample) become."""
    with tempfile.TemporaryDirectory() as d:
        d = pathlib.Path(d)
        for group in groups:
            mine = [s for g, s in samples if g == group]
            if not mine:
                continue
            (d / group).mkdir(exist_ok=True)
            w = webdataset.ShardWriter(str(d / group / name), maxcount=count, verbose=0, mtime=0)
            for s in mine:
                w.write(s)
            w.close()
        return {f.relative_to(d).as_posix(): hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(d.rglob("*.tar"))}


def offsets(file):
    """Where the objects of an archive begin, by key."""
    data, at = pathlib.Path(file).read_bytes(), {}
    keys = [line.split()[0] for line in pathlib.Path("float.scp").read_text().splitlines()] + ["mono", "stereo"]
    for k in keys:
        i = data.find(k.encode() + b" \0B") if file != "wave.ark" else data.find(k.encode() + b" RIFF")
        if i >= 0:
            at[k] = i + len(k.encode()) + 1
    return at


# Features: of all kinds of archives, with ranges.
lines, names = [], []
for n, (file, suffix) in enumerate([("float.ark", ""), ("double.ark", ""), ("method2.ark", ""), ("method7.ark", ""), ("float.ark", "[1:3]"), ("float.ark", "[0:2,1:1]")]):
    for k, at in offsets(file).items():
        if suffix and k not in ("columns", "features", "eight"):
            continue
        if file == "float.ark" and k == "special":
            continue
        lines.append(f"utt{n}-{k} {file}:{at}{suffix}")
half = len(lines) // 2
(OUT / "feats1.scp").write_text("\n".join(lines[:half]) + "\n")
(OUT / "feats2.scp").write_text("\n".join(lines[half:]) + "\n")
feats = {}
for f in ["feats1.scp", "feats2.scp"]:
    with kn.SequentialFloatMatrixReader(f"scp:{OUT / f}") as r:
        for k, v in r:
            feats[k] = v.copy()
for line in lines:  # what kaldiio reads of those that are neither compressed nor parts is the same
    k, where = line.split()
    if "method" not in where and "[" not in where:
        assert np.asarray(kaldiio.load_mat(where), np.float32).tobytes() == feats[k].tobytes(), k

# Labels, in another order than the features. What Python takes for blanks at an end goes, what is within stays.
texts = {k: f"{k[::-1]} \u4f60\u597d  {'x' * (i % 7)}\tend" for i, k in enumerate(feats)}
written = [f"{k}{[' ', chr(9), '  ', chr(0x3000)][i % 4]}{t}{['', '  ', chr(0x3000), chr(13), ' ' + chr(0x1f)][i % 5]}" for i, (k, t) in enumerate(texts.items())]
written.reverse()
(OUT / "text1").write_bytes(("\n".join(written[:10]) + "\n").encode())
(OUT / "text2").write_bytes(("\n".join(written[10:]) + "\n").encode())
parsed = {}
for f in ["text1", "text2"]:
    with open(OUT / f, encoding="utf-8") as r:
        parsed |= dict(line.strip().split(maxsplit=1) for line in r)
assert parsed == texts


def bounds(group):
    a, b = group.split(":")
    return int(a or 1), int(b or 2**32 - 1)


def folder(group):
    a, b = bounds(group)
    return f"{a if a > 1 else ''}_{b if b < 2**32 - 1 else ''}"


def grouped(groups):
    for k, v in feats.items():
        for g in groups:
            a, b = bounds(g)
            if a <= len(v) < b:
                yield folder(g) if len(groups) > 1 else "", {"__key__": k, "mat.npy": np.asarray(v, np.float32), "label.txt": texts[k]}
                break


cases = []
for groups, count in [([":"], 7), (["3:9"], 4), ([":5", "5:20", "20:"], 5), (["2:4", "8:12"], 2000)]:
    cases.append({"groups": groups, "count": count, "files": shards(list(grouped(groups)), count, [folder(g) for g in groups] if len(groups) > 1 else [""])})

# Waves, whole and in segments.
rng = np.random.default_rng(3)
RATE = 1000


def wave(channels, n):
    return rng.integers(-32768, 32768, (channels, n)).astype(np.float32)


def wave_file(a):
    with tempfile.TemporaryDirectory() as d:
        with kn.WaveWriter(f"ark:{d}/x.ark") as w:
            w.write("x", kn.WaveData(RATE, a))
        return pathlib.Path(f"{d}/x.ark").read_bytes()[2:]


waves = {"rec1": wave(1, 1500), "rec2": wave(2, 900)}
for k, a in waves.items():
    (OUT / f"{k}.wav").write_bytes(wave_file(a))
scp = ["rec1 ../pack/rec1.wav", "rec2 ../pack/rec2.wav"] + [f"{k} wave.ark:{at}" for k, at in offsets("wave.ark").items()]
(OUT / "wav.scp").write_text("\n".join(scp) + "\n")
(OUT / "wav_text").write_text("".join(f"{line.split()[0]} says {i}\n" for i, line in enumerate(scp)))
samples = []
for i, line in enumerate(scp):
    k, where = line.split()
    file, _, at = where.partition(":")
    data = pathlib.Path(file).read_bytes()[int(at or 0):]
    data = data[: 8 + int.from_bytes(data[4:8], "little")]
    samples.append(("", {"__key__": k, "wav": data, "txt": f"says {i}"}))
whole = {"count": 3, "files": shards(samples, 3)}

segments, samples = [], []
for i, (rec, start, end, channel) in enumerate([
    ("rec1", "0.1", "0.35", None), ("rec1", "0.0", "-1", None), ("rec1", "0.2999", "1.1117", None), ("rec1", "1.2", "1.9", None), ("rec2", "0.29", "0.57", 1),
    ("rec2", "0.5", "1.39", 0), ("rec1", "1.399", "1.5", None), ("rec1", "0.001", "0.1021", 0), ("rec2", "1e-1", "3e-1", 1),
]):
    a = waves[rec]
    first = int(float(start) * float(np.float32(RATE)))
    last = min(int(float(end) * float(np.float32(RATE))), a.shape[1]) if end != "-1" else a.shape[1]
    assert last > first + int(np.float32(0.1) * np.float32(RATE)), i
    segments.append(f"seg{i} {rec} {start} {end}{'' if channel is None else f' {channel}'}")
    samples.append(("", {"__key__": f"seg{i}", "wav": wave_file(a[channel or 0 : (channel or 0) + 1, first:last]), "txt": f"text {i}"}))
(OUT / "segments").write_text("\n".join(segments) + "\n")
(OUT / "segments_text").write_text("".join(f"{s['__key__']} {s['txt']}\n" for _, s in samples))
cut = {"count": 4, "files": shards(samples, 4)}

# Files in folders, which are samples as they are. Their data is the digest of their names.
names = ["b.txt", "a.JPG", "a.cls", "a.seg.png", "dir/z.txt", "dir/y.b.c", "dir.d/x.txt", "größe/ä ö.txt", "long/" + "n" * 120 + ".txt", "c.txt", "c.json"]
by_key = {}
for n in names:
    head, tail = n.rpartition("/")[0], n.rpartition("/")[2]
    base, ext = tail.split(".", 1)
    key = f"{head}/{base}" if head else base
    by_key.setdefault(key, {"__key__": key})[ext.lower()] = hashlib.sha256(n.encode()).digest()
files = {"names": names, "count": 3, "files": shards([("", by_key[k]) for k in sorted(by_key, key=str.encode)], 3)}

with open(OUT / "expected.json", "w", encoding="utf-8", newline="\n") as f:
    json.dump({"kaldi": cases, "waves": whole, "segments": cut, "folder": files}, f, indent=1, ensure_ascii=False)
    f.write("\n")
