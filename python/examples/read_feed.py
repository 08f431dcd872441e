"""Reads the frames of `infer-prep feed` (docs/format/feed.md) in plain Python.

usage: infer-prep feed train.json | read_feed.py
       read_feed.py --socket PATH          for infer-prep feed --socket PATH

It is an example of a consumer: the format takes a page in any language. Only
Batch.array needs NumPy.
"""

from __future__ import annotations

import argparse
import json
import socket
import struct
import sys
import zlib
from typing import Any, BinaryIO, Iterator

HEAD = struct.Struct("<4sHHIIQQ")  # magic, version, kind, header's bytes, 0, payload's bytes, number
START, BATCH, EPOCH, END, ERROR = 1, 2, 3, 4, 5
MAX_HEADER = 64 << 20
MAX_PAYLOAD = 8 << 30


class FeedError(Exception):
    """The stream is damaged or was cut, or the producer reports an error.

    resume is the token of the last whole frame, None if there was none.
    """

    def __init__(self, text: str, resume: str | None = None) -> None:
        super().__init__(text)
        self.resume = resume


class Batch:
    """A batch: header is the JSON header, payload the bytes of all tensors."""

    def __init__(self, header: dict[str, Any], payload: bytearray) -> None:
        self.header, self.payload = header, payload
        self.tensors = {t["name"]: t for t in header["tensors"]}
        self.resume: str = header["resume"]

    def array(self, name: str) -> Any:
        """A tensor as a NumPy array that shares the payload; bfloat16 as the bits in uint16."""
        import numpy as np

        t = self.tensors[name]
        kind = {"bfloat16": "uint16", "bytes": "uint8"}.get(t["dtype"], t["dtype"])
        shape = [t["bytes"]] if t["dtype"] == "bytes" else t["shape"]
        a = np.frombuffer(self.payload, np.dtype(kind).newbyteorder("<"), count=int(np.prod(shape)), offset=t["offset"])
        return a.reshape(shape)


def read(f: BinaryIO) -> Iterator[Batch]:
    """Yields the batches of a stream, until its end frame.

    Raises FeedError if the stream ends without one.
    """
    resume: str | None = None
    number = 0
    while True:
        head = _exactly(f, HEAD.size, resume, number)
        magic, version, kind, header_size, zero, payload_size, n = HEAD.unpack(head)
        if magic != b"IPfd" or version != 1:
            raise FeedError(f"feed: frame {number} begins with {head[:6]!r}: want IPfd and version 1", resume)
        if n != number or zero or header_size > MAX_HEADER or payload_size > MAX_PAYLOAD:
            raise FeedError(f"feed: frame {number} has the number {n} and {header_size} and {payload_size} bytes: it is damaged or too large", resume)
        header = _exactly(f, header_size, resume, number)
        payload = _exactly(f, payload_size, resume, number)
        (want,) = struct.unpack("<I", _exactly(f, 4, resume, number))
        if zlib.crc32(payload, zlib.crc32(header, zlib.crc32(head))) != want:
            raise FeedError(f"feed: frame {number} is damaged: its checksum is wrong", resume)
        h = json.loads(header)
        if kind == ERROR:
            raise FeedError("feed: the producer was interrupted" if h.get("interrupted") else f"feed: {h['error']}", h["resume"])
        resume = h["resume"]
        number += 1
        if kind == BATCH:
            yield Batch(h, payload)
        elif kind == END:
            return


def _exactly(f: BinaryIO, n: int, resume: str | None, number: int) -> bytearray:
    b = bytearray(n)
    view = memoryview(b)
    got = 0
    while got < n:
        more = f.readinto(view[got:])  # type: ignore[attr-defined]
        if not more:
            raise FeedError(f"feed: the stream ends in frame {number}, without an end frame: its producer died or the connection broke", resume)
        got += more
    return b


def connect(path: str) -> BinaryIO:
    """Connects to the socket of infer-prep feed --socket."""
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    f = s.makefile("rb")
    s.close()  # f keeps the connection
    return f


def main() -> None:
    p = argparse.ArgumentParser(usage=(__doc__ or "").partition("usage: ")[2].partition("\n\n")[0])
    p.add_argument("--socket")
    a = p.parse_args()
    f = connect(a.socket) if a.socket else sys.stdin.buffer
    try:
        for b in read(f):
            tensors = ", ".join(f"{t['name']} {t['dtype']} {t['shape']}" for t in b.tensors.values())
            print(f"epoch {b.header['epoch']} batch {b.header['step']}: {tensors}", flush=True)
    except FeedError as e:
        sys.exit(f"{e}\nresume: {e.resume}")


if __name__ == "__main__":
    main()
