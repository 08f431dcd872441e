"""A Python program's side of the protocol of records.py (bench/README.md)."""
import hashlib
import os
import sys
import time

import numpy as np


def read(b):
    """Reads every byte of b, which has the buffer protocol."""
    n = len(b) // 8
    np.frombuffer(b, np.uint64, n).sum()
    for c in bytes(b[8 * n:]):
        c


def main(version, records):
    """Runs the program: arguments CASE FILE. records(FILE, use) calls use with every
    field of every record and gives the number of records."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no answer
    case, name = sys.argv[1:]
    use = {"hand": None, "read": read}[case]
    records(name, use)
    print("ready", version, file=out)
    for line in sys.stdin:
        match line.strip():
            case "go":
                cpu, start = time.process_time(), time.perf_counter()
                n = records(name, use)
                wall = time.perf_counter() - start
                print(n, f"{wall:.9f} {time.process_time() - cpu:.9f}", file=out)
            case "check":
                h = hashlib.sha256()
                records(name, h.update)
                print(h.hexdigest(), file=out)
            case "quit":
                out.flush()
                os._exit(0)  # some libraries take long to end, or never do
            case other:
                raise SystemExit(f"{other!r}: want go, check or quit")
