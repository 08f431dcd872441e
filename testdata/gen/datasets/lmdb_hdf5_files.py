"""The small sets that lmdb_hdf5.py makes: files in the formats of the real ones, in testdata/datasets, and the files that the tests of
internal/lmdb and internal/hdf5 read."""

import hashlib
import io
import shutil

import h5py
import lmdb
import numpy as np
from PIL import Image

from shared import DATASETS

INTERNAL = DATASETS.parent.parent / "internal"
CATEGORIES = ["bedroom", "bridge", "church_outdoor", "classroom", "conference_room", "dining_room", "kitchen", "living_room", "restaurant", "tower"]
rng = np.random.Generator(np.random.PCG64(20260606))
count = 0


def picture():
    """A file unlike all others. The real values are WebP files."""
    global count
    count += 1
    b = io.BytesIO()
    Image.fromarray(rng.integers(0, 256, (3 + count % 3, 4 + count % 5, 3)).astype(np.uint8)).save(b, "WEBP", lossless=True)
    return b.getvalue()


def key():
    """The real keys are the digests of URLs."""
    return rng.bytes(20).hex().encode()


def digest(b):
    return hashlib.sha256(b).hexdigest()[:16]


def environment(path, *transactions):
    """An LMDB environment with the changes of some transactions: (key, value), or (key, None) to delete."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    with lmdb.open(str(path), map_size=1 << 24, lock=False) as env:
        for changes in transactions:
            with env.begin(write=True) as t:
                for k, v in changes:
                    assert t.put(k, v) if v is not None else t.delete(k), k


def lsun():
    d = DATASETS / "lsun"
    shutil.rmtree(d, ignore_errors=True)
    for c in CATEGORIES:
        environment(d / f"{c}_val_lmdb", [(key(), picture()) for _ in range(1 if c != "bridge" else 3)])
    # Several leaf pages, and a value in overflow pages.
    large = io.BytesIO()
    Image.fromarray(rng.integers(0, 256, (40, 50, 3)).astype(np.uint8)).save(large, "WEBP", lossless=True)
    environment(d / "bedroom_train_lmdb", [(key(), picture()) for _ in range(40)], [(key(), large.getvalue())])
    environment(d / "tower_train_lmdb", [(key(), picture()) for _ in range(2)])
    environment(d / "test_lmdb", [(key(), picture()) for _ in range(2)])


def lmdb_files():
    """Files of internal/lmdb: NAME.mdb, and NAME.txt with the entries as lmdb reads them, a line each: lengths of key and value, and a
    digest of both."""
    d = INTERNAL / "lmdb" / "testdata"
    shutil.rmtree(d, ignore_errors=True)
    d.mkdir(parents=True)
    tmp = d / "tmp"
    long = lambda i: b"%05d" % i + b"k" * (300 + i % 200)
    cases = {
        "empty": [],
        "emptied": [[(b"a", b"1")], [(b"a", None)]],
        "one": [[(b"a", b"1")]],
        "small": [[(b"b", b""), (b"a", b"x" * 2000), (b"ab", b"2"), (b"\x00", b"zero"), (b"\xff\xff", b"last")]],
        # Values of the greatest sizes that are in a leaf, in one overflow page, and in several.
        "overflow": [[(b"%02d" % n, bytes([n]) * s) for n, s in enumerate((2020, 2030, 2040, 4079, 4080, 4081, 8192, 20000))]],
        # Three levels, since long keys leave room for few.
        "deep": [[(long(i * 7 % 150), b"%d" % i) for i in range(150)]],
        # Later transactions delete, replace and split; pages are used again.
        "changed": [[(b"%04d" % i, b"a" * (i % 50)) for i in range(200)], [(b"%04d" % i, None) for i in range(0, 200, 3)],
                    [(b"%04d" % i, b"b" * (100 * i)) for i in range(1, 60, 3)], [(b"%04d" % i, b"c") for i in range(0, 200, 9)]],
    }
    for name, transactions in cases.items():
        environment(tmp, *transactions)
        shutil.copy(tmp / "data.mdb", d / f"{name}.mdb")
        with lmdb.open(str(tmp), readonly=True, lock=False) as env, env.begin() as t:
            (d / f"{name}.txt").write_text("".join(f"{len(k)} {len(v)} {digest(k + v)}\n" for k, v in t.cursor()))
    # What internal/lmdb does not read.
    shutil.rmtree(tmp)
    tmp.mkdir()
    with lmdb.open(str(tmp), map_size=1 << 24, lock=False, max_dbs=1) as env, env.begin(write=True) as t:
        t.put(b"k", b"v", db=env.open_db(b"name", txn=t))
    shutil.copy(tmp / "data.mdb", d / "named.mdb")
    shutil.rmtree(tmp)


def pattern(dtype, *shape):
    """Numbers that compress well and show exchanged axes."""
    i = np.arange(int(np.prod(shape)))
    return (i // 7 * 3 + i % 5 + i // 96 * 11).astype(dtype).reshape(shape)


def pcam():
    d = DATASETS / "pcam"
    shutil.rmtree(d, ignore_errors=True)
    d.mkdir(parents=True)
    # The real images are 96 x 96.
    for part, n, options in (("train", 7, {"chunks": (3, 6, 5, 3), "compression": "gzip"}), ("valid", 3, {}), ("test", 2, {"chunks": (1, 6, 5, 3), "maxshape": (None, 6, 5, 3)})):
        with h5py.File(d / f"camelyonpatch_level_2_split_{part}_x.h5", "w") as f:
            f.create_dataset("x", data=rng.integers(0, 256, (n, 6, 5, 3)).astype(np.uint8), **options)
        with h5py.File(d / f"camelyonpatch_level_2_split_{part}_y.h5", "w") as f:
            f.create_dataset("y", data=rng.integers(0, 2, (n, 1, 1, 1)).astype(np.uint8), **({"compression": "gzip"} if part == "train" else {}))


def hdf5_files():
    """Files of internal/hdf5: NAME.h5, and NAME.txt with the datasets as h5py reads them, a line each: name, type, sizes, and digests of
    the rows."""
    d = INTERNAL / "hdf5" / "testdata"
    shutil.rmtree(d, ignore_errors=True)
    d.mkdir(parents=True)
    gzip = {"compression": "gzip"}
    cases = {
        "contiguous": {"u1": pattern("u1", 5, 4, 3), "i2": pattern("<i2", 6, 2), "u4": pattern(">u4", 3), "i8": -pattern("<i8", 2, 2), "u2": pattern("<u2", 1), "bool": pattern("u1", 4, 2) % 3 == 0},
        "chunks": {"rows": (pattern("u1", 7, 6, 5, 3), {"chunks": (2, 6, 5, 3)}), "packed": (pattern("u1", 7, 6, 5, 3), {"chunks": (3, 6, 5, 3)} | gzip),
                   "divided": (pattern("u1", 7, 9, 8, 3), {"chunks": (2, 4, 3, 3)} | gzip), "all": (pattern("u1", 7, 9, 8, 3), {"chunks": (4, 5, 5, 2)}),
                   "shuffled": (pattern("<i4", 9, 5), {"chunks": (4, 5), "shuffle": True} | gzip), "plain": (pattern(">i2", 9, 5), {"chunks": (4, 3), "shuffle": True}),
                   "random": (rng.integers(0, 256, (3, 2000)).astype(np.uint8), {"chunks": (2, 2000)} | gzip), "grown": (pattern("u1", 3, 4), {"maxshape": (None, 4), "chunks": (2, 4)})},
        # A B-tree of two levels, since one node has at most 64 chunks.
        "levels": {"x": (pattern("u1", 300, 3), {"chunks": (1, 3)} | gzip)},
        # More members than one symbol table node holds.
        "members": {f"name{i}": pattern("u1", 1 + i % 3) for i in range(30)},
    }
    for name, members in cases.items():
        with h5py.File(d / f"{name}.h5", "w") as f:
            for k, v in members.items():
                data, options = v if isinstance(v, tuple) else (v, {})
                f.create_dataset(k, data=data, **options)
        with h5py.File(d / f"{name}.h5") as f:
            (d / f"{name}.txt").write_text("".join(f"{k} {v.dtype.str} {','.join(map(str, v.shape))} {','.join(digest(v[i:i + 1].tobytes()) for i in range(len(v)))}\n" for k, v in f.items()))
    # What internal/hdf5 does not read.
    with h5py.File(d / "unsupported.h5", "w") as f:
        f.create_group("group")
        f["link"] = h5py.SoftLink("/float")
        f.create_dataset("float", data=np.zeros(3, "f4"))
        f.create_dataset("scalar", data=np.uint8(3))
        f.create_dataset("unwritten", shape=(3, 4), dtype="u1")
        f.create_dataset("lzf", data=pattern("u1", 4, 4), compression="lzf")
        f.create_dataset("fletcher", data=pattern("u1", 4, 4), chunks=(2, 4), fletcher32=True)
        holes = f.create_dataset("holes", shape=(6, 4), dtype="u1", chunks=(2, 4))
        holes[0:2] = 1
        holes[4:6] = 1
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        compact.set_obj_track_times(False)
        h5py.h5d.create(f.id, b"compact", h5py.h5t.STD_U8LE, h5py.h5s.create_simple((3,)), compact)
    with h5py.File(d / "latest.h5", "w", libver="latest") as f:
        f.create_dataset("x", data=pattern("u1", 4, 4))
    with h5py.File(d / "userblock.h5", "w", userblock_size=512) as f:
        f.create_dataset("x", data=pattern("u1", 4, 4))


def make():
    for f in (lsun, lmdb_files, pcam, hdf5_files):
        f()
