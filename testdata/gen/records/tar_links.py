"""Makes cmd/internal/cli/testdata/links.tar and links.json: a tar file of links, and what tarfile reads of each member.

Needs Python 3.11 alone. It takes no arguments; running it again gives the same bytes.
"""

import io
import json
import pathlib
import struct
import tarfile
import zlib

out = pathlib.Path(__file__).resolve().parents[3] / "cmd/internal/cli/testdata"


def png(level):
    """A gray PNG of one pixel. Deflate's stored block has one form in all versions of zlib."""
    raw = bytes([0, level])
    data = b"\x78\x01\x01" + struct.pack("<HH", 2, 0xFFFD) + raw + struct.pack(">I", zlib.adler32(raw))
    b = b"\x89PNG\r\n\x1a\n"
    for kind, body in [(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)), (b"IDAT", data), (b"IEND", b"")]:
        b += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return b


levels = {}
long = "long/" * 25 + "name.png"
with tarfile.open(out / "links.tar", "w", format=tarfile.GNU_FORMAT) as t:

    def add(name, kind, link=""):
        i = tarfile.TarInfo(name)
        i.type, i.linkname, i.mtime, i.mode = kind, link, 1_700_000_000, 0o644
        data = b""
        if kind == tarfile.REGTYPE:
            data = b"no image" if name.endswith(".txt") else png(len(levels))
            levels[data] = len(levels)
        i.size = len(data)
        t.addfile(i, io.BytesIO(data))

    add("early.png", tarfile.SYMTYPE, "d/late.png")
    add("hard_early.png", tarfile.LNKTYPE, "d/late.png")  # before the member: missing
    add("twice.png", tarfile.REGTYPE)
    add("hard.png", tarfile.LNKTYPE, "twice.png")
    add("sym.png", tarfile.SYMTYPE, "./twice.png")
    add("hard_of_sym.png", tarfile.LNKTYPE, "sym.png")
    add("d", tarfile.DIRTYPE)
    add("d/up.png", tarfile.SYMTYPE, "../twice.png")
    add("d/sibling.png", tarfile.SYMTYPE, "late.png")
    add("d/wrong.png", tarfile.LNKTYPE, "late.png")  # a hard link is relative to the archive: missing
    add("d/late.png", tarfile.REGTYPE)
    add("d.png", tarfile.SYMTYPE, "d")
    add("e.png", tarfile.DIRTYPE)
    add("chain1.png", tarfile.SYMTYPE, "chain2.png")
    add("chain2.png", tarfile.SYMTYPE, "d/chain3.png")
    add("d/chain3.png", tarfile.LNKTYPE, "d/late.png")
    add("self.png", tarfile.SYMTYPE, "self.png")
    add("loop1.png", tarfile.SYMTYPE, "loop2.png")
    add("loop2.png", tarfile.SYMTYPE, "loop1.png")
    add("into_loop.png", tarfile.SYMTYPE, "loop1.png")
    add("gone.png", tarfile.SYMTYPE, "../outside.png")
    add("notes.txt", tarfile.REGTYPE)
    add("notes.png", tarfile.SYMTYPE, "notes.txt")
    add("fifo", tarfile.FIFOTYPE)
    add("fifo.png", tarfile.LNKTYPE, "fifo")
    add(long, tarfile.REGTYPE)
    add("long_link.png", tarfile.SYMTYPE, long)
    add("long/" * 25 + "sibling.png", tarfile.LNKTYPE, long)
    add("twice.png", tarfile.REGTYPE)  # sym.png and d/up.png lead here, hard.png to the first
    add("hard_again.png", tarfile.LNKTYPE, "twice.png")
    i = tarfile.TarInfo("pax.png")
    i.type, i.linkname, i.mtime = tarfile.SYMTYPE, "d/../" * 30 + "twice.png", 1_700_000_000
    t.fileobj.write(i.tobuf(tarfile.PAX_FORMAT))
    t.offset = t.fileobj.tell()

expected = []
with tarfile.open(out / "links.tar") as t:
    for m in t:
        try:
            f = t.extractfile(m)
            data = None if f is None else f.read()
            what = "no file" if data is None else "no image" if data == b"no image" else levels[data]
        except KeyError:
            what = "missing"
        except RecursionError:
            what = "loop"
        expected.append([m.name, what])
(out / "links.json").write_text(json.dumps(expected, indent=1) + "\n")
