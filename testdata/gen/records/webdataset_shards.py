"""Makes testdata/webdataset: shards, and what webdataset reads of them and makes of patterns.

Needs webdataset 1.0.2 and braceexpand 0.1.7, and Python 3.11's tarfile. It takes no
arguments; running it again gives the same bytes.
"""

import hashlib
import importlib.metadata
import io
import json
import os
import pathlib
import tarfile

import webdataset
from webdataset.shardlists import expand_urls
from webdataset.tariterators import base_plus_ext, group_by_keys, tar_file_expander
from webdataset.writer import TarWriter

for package, version in [("webdataset", "1.0.2"), ("braceexpand", "0.1.7")]:
    assert importlib.metadata.version(package) == version, package

out = pathlib.Path(__file__).resolve().parent.parent.parent / "webdataset"
out.mkdir(exist_ok=True)
MTIME = 1_700_000_000


def content(name, n=None):
    h = hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()
    n = h[0] % 40 if n is None else n
    return (h * (n // 32 + 1))[:n]


def tar(file, members, **options):
    with tarfile.open(out / file, "w", **options) as t:
        for m in members:
            name, kind = m if isinstance(m, tuple) else (m, tarfile.REGTYPE)
            i = tarfile.TarInfo(name)
            i.type, i.mtime, i.mode = kind, MTIME, 0o644
            if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
                i.linkname = "a.txt"
            data = content(name) if i.isreg() else b""
            i.size = len(data)
            t.addfile(i, io.BytesIO(data))


names = [
    "train/0001.seg.PNG", "train/0001.cls", "a.v1.2.txt", "dir.with.dot/f.txt", "noext", ".hidden.txt", "dir/.h.txt", "./e.txt", "e.cls",
    ("folder", tarfile.DIRTYPE), ("folder/link.txt", tarfile.SYMTYPE), ("folder/hard.txt", tarfile.LNKTYPE), ("folder/fifo.txt", tarfile.FIFOTYPE),
    "__meta__/a.json", "__meta__", "x/__meta__/a.json", "____/b.txt", "__a__b/c.txt", "trailing.", "a b/ö.JPG", "a b/ö.Ätx", ("cont.txt", tarfile.CONTTYPE),
]
tar("names.tar", names, format=tarfile.PAX_FORMAT)
# Adjacent members with the same key, also across members without one.
tar("interleaved.tar", ["a.txt", "b.txt", "a.cls", "b.cls", "c.txt", "README", "c.cls", "c.b.cls"], format=tarfile.USTAR_FORMAT)
long = ["short.txt", "d/" * 60 + "k.txt", "d/" * 60 + "k.cls", "p" * 90 + "/" + "n" * 90 + ".txt", "z.txt"]
tar("ustar.tar", long, format=tarfile.USTAR_FORMAT)
unbroken = long + ["n" * 150 + ".txt", "n" * 150 + ".cls", "ü" * 70 + ".txt"]
tar("gnu.tar", unbroken, format=tarfile.GNU_FORMAT)
tar("pax.tar", unbroken, format=tarfile.PAX_FORMAT, pax_headers={"comment": "for all"})

samples = [
    {"__key__": "000000", "png": content("p", 600), "cls": b"7", "json": b"{}"},
    {"__key__": "sub/000001", "txt": b"", "seg.png": content("s", 512)},
    {"__key__": "k" * 120, "txt": b"long"},
    {"__key__": "ключ/名前", "txt": b"not ASCII", "b.txt": b"2"},
    {"__key__": "end", "bin": content("e", 1500)},
]
for file, mtime, compress in [("writer.tar", MTIME, False), ("float.tar", MTIME + 0.5, False), ("writer.tar.bz2", MTIME, "bz2")]:
    with open(out / file, "wb") as f, TarWriter(f, encoder=False, mtime=mtime, compress=compress) as w:
        for s in samples:
            w.write(s)


def read(file):
    with open(out / file, "rb") as f:
        for s in group_by_keys(tar_file_expander([{"url": file, "stream": f}])):
            yield [s["__key__"], [[k, len(v), hashlib.sha256(v).hexdigest()[:16]] for k, v in s.items() if not k.startswith("__")]]


splits = [
    "train/0001.seg.PNG", "a.v1.2.txt", "dir.with.dot/f.txt", "noext", ".hidden.txt", "dir/.h.txt", "./e.txt", "e.cls", "", ".", "..", "/", "/.h", "//.h",
    "a.", "a..b", "a/b.c/d", "a.b/.h.txt", "a.b//.h.txt", "x/y/.h.txt", "a\nb.c", "a\n/b.c", "a\n/b/c.d", "a.b\n/c.d", "a/../b.c", "../b.c", "../.c", "a.\n", "É.É",
    "a.İX", "a.ẞ", "a/b/.c/.d", "a/b/c/.d.E",
]

variables = {"A": "x", "B": "${A}{1..2}", "N": "3"}
os.environ.update({"WDS_" + k: v for k, v in variables.items()})
patterns = [
    "a-{0001..03}", "{09..11}", "{-05..5..5}", "{10..1..3}", "x::y-{1..2}", "{0..3}", "{000..012}", "{01..003}", "{0..10..5}", "{3..0}", "{-2..2}", "{2..-1}", "{a..e}",
    "{a,b}", "{a,b{1..2},c}", "{a,}", "{,}", "{}", "{1}", "{{1}}", "{{a,b}}", "a{1}{2,3}", r"\{a,b\}", r"{a\,b,c}", r"{1\{2,3}", r"a\\{1,2}", "a\\", r"\\", "{1{2,3}",
    "{", "}", "}{", "a}b{", "}{a,b}", "{a}}", "{{a}", "", "::", "a::", "{a..g..2}", "{e..a..2}", "{Z..b}", "{z..A..20}", "{a..1}", "{1..a}", "{0..0}", "{5..5..3}", "{1..4..0}",
    "{1..4..-2}", "{4..1..-2}", "{00..-2}", "{-1..01}", "{1...3}", "{1..}", "{..3}", "{1..2..}", "{+1..3}", "{1..2,4..5}", "{{1..2}..3}", "{a,{b,{c,d}}}e{f,g}", "{1..2}{a,b}{x..y}",
    "http://h/{0..1}?q={a,b}", "s3://b/train-{0000..0002}.tar", "pipe:cat {a,b}", "${A}-{1..2}", "${B}", "a${N}::${A}${A}", "${MISSING}", "$A${}", "${${A}}", "{1..${N}}",
    "ü{é,ñ}", r"\ü", "{0..-0}", "{-0..1}", "{000..0}", "{001..-1}", "a{b,c", "{a,b}}c", "a,b", "{-a..c}", "{aa..cc}",
    r"{\\1}", r"{\\,b}c", r"{{\\\\x,y},z}", r"\\{a,b}",
]


def expand(p):
    try:
        return expand_urls(p)
    except Exception:
        return None


golden = {
    "shards": {f: list(read(f)) for f in sorted(p.name for p in out.iterdir() if ".tar" in p.name)},
    "splits": [[n, k, e if e is None else e.lower()] for n in splits for k, e in [base_plus_ext(n)]],
    "variables": variables,
    "patterns": [[p, expand(p)] for p in patterns],
}
text = json.dumps(golden, ensure_ascii=True, indent=None, separators=(",", ":")).replace('],["', '],\n["')
(out / "expected.json").write_text(text + "\n")
