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


def answers():
    """Standard output, for the answers alone: what libraries print goes to standard error."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return out


def cpu_time():
    """That of the process and of its children that have ended."""
    t = os.times()
    return time.process_time() + t.children_user + t.children_system


def serve(out, version, run, check):
    """Speaks the protocol: run() is what is timed and gives how many it did, check(use) calls use with
    what is compared."""
    print("ready", version, file=out)
    for line in sys.stdin:
        match line.strip():
            case "go":
                cpu, start = cpu_time(), time.perf_counter()
                n = run()
                wall = time.perf_counter() - start
                print(n, f"{wall:.9f} {cpu_time() - cpu:.9f}", file=out)
            case "check":
                h = hashlib.sha256()
                check(h.update)
                print(h.hexdigest(), file=out)
            case "quit":
                out.flush()
                os._exit(0)  # some libraries take long to end, or never do
            case other:
                raise SystemExit(f"{other!r}: want go, check or quit")


def main(version, records):
    """Runs a reader: arguments CASE FILE. records(FILE, use) calls use with every
    field of every record and gives the number of records."""
    out = answers()
    case, name = sys.argv[1:]
    use = {"hand": None, "read": read}[case]
    records(name, use)
    serve(out, version, lambda: records(name, use), lambda use: records(name, use))
