"""Makes testdata/recordio: record files as MXNet writes them, and which records MXNet reads for every part.

Needs mxnet 1.9.1 and numpy 1.23.5 (Python 3.11 or earlier). Takes no arguments; running it again gives the same bytes.

NAME.rec and NAME.idx are MXIndexedRecordIO's; the records' label and id are their numbers over all files, the key is 3 times
that, and the content is a PNG image, in some of which stand magic words. parts.json has, for lists of files and
numbers of parts, the labels that ImageRecordIter gives for each part, in its order.
"""

import json
import os
import struct
import zlib

import mxnet as mx

OUT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "recordio")
MAGIC = struct.pack("<I", 0xCED7230A)


def png(text):
    """4 x 4 pixels of RGB, with a comment; stored, not compressed, so that it is the same everywhere."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes(range(12)) for _ in range(4))
    stored = b"\x78\x01\x01" + struct.pack("<HH", len(rows), len(rows) ^ 0xFFFF) + rows + struct.pack(">I", zlib.adler32(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)) + chunk(b"tEXt", text) + chunk(b"IDAT", stored) + chunk(b"IEND", b"")


def comment(n):
    text = b"c\0" + b"x" * (n * 7 % 60)
    if n % 5 == 0:  # at a multiple of 4 of the record: 24 + 8 + 25 + 8 bytes stand before the comment
        text += b"x" * (-(24 + 8 + 25 + 8 + len(text)) % 4) + MAGIC * (1 + n % 3) + b"y" * (n % 4)
    return text


def main():
    os.makedirs(OUT, exist_ok=True)
    n = 0
    for name, count in ("a", 24), ("b", 7), ("c", 40):
        path = os.path.join(OUT, name)
        w = mx.recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "w")
        for _ in range(count):
            w.write_idx(3 * n, mx.recordio.pack(mx.recordio.IRHeader(0, float(n), n, 0), png(comment(n))))
            n += 1
        w.close()
    parts = []
    for names in "a", "abc", "cab":
        uri = ";".join(os.path.join(OUT, c + ".rec") for c in names)
        for count in 1, 2, 3, 4, 5, 7, 16, 61, 100, 400:
            of = []
            for k in range(count):
                try:
                    it = mx.io.ImageRecordIter(path_imgrec=uri, data_shape=(3, 4, 4), batch_size=1, dtype="uint8", round_batch=False,
                                               preprocess_threads=1, verbose=False, num_parts=count, part_index=k)
                except StopIteration:  # of the first batch: the part is empty
                    of.append([])
                    continue
                of.append([int(b.label[0].asnumpy()[0]) for b in it])
            parts.append({"files": list(names), "parts": of})
    with open(os.path.join(OUT, "parts.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(p, separators=(",", ":")) for p in parts) + "\n]\n")


main()
