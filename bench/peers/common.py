"""A Python program's side of the protocol that bench.py speaks with the libraries
it compares (bench/README.md)."""
import glob
import hashlib
import json
import os
import sys
import time

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Each:
    """A case that computes the images one by one: f(i) gives the i-th output."""

    def __init__(self, f):
        self.f = f

    def run(self, n):
        f = self.f
        for i in range(n):
            f(i)

    def outputs(self, n):
        return map(self.f, range(n))


class Permuted(Each):
    """Each of torch's tensors, with the outputs as the others have them: rows, columns, channels."""

    def outputs(self, n):
        return (self.f(i).permute(1, 2, 0).numpy() for i in range(n))


def resized(width, height, edge=256):
    """The (width, height) whose short edge is edge, as torchvision truncates it."""
    return (edge, edge * height // width) if width <= height else (edge * width // height, edge)


def centred(size, crop=224):
    """Where a crop begins, as torchvision rounds it."""
    return int(round((size - crop) / 2))


def peak_rss():
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    raise SystemExit("/proc/self/status has no VmHWM")


def main(version, cases):
    """Runs the program: arguments CASE DIR [EXTRA]. A case is a function of the
    images (JPEG files in memory) and of EXTRA's content, that gives an Each or
    the like."""
    import numpy as np

    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no answer
    case, folder = sys.argv[1:3]
    images = []
    for name in sorted(glob.glob(os.path.join(glob.escape(folder), "*.jpg"))):
        with open(name, "rb") as f:
            images.append(f.read())
    extra = None
    if len(sys.argv) > 3:
        with open(sys.argv[3]) as f:
            extra = json.load(f)
    n = len(images)
    c = cases[case](images, extra)
    c.run(n)
    print("ready", version, file=out)
    for line in sys.stdin:
        word, _, argument = line.strip().partition(" ")
        match word:
            case "go":
                times = int(argument or 1)
                cpu, start = time.process_time(), time.perf_counter()
                for _ in range(times):
                    c.run(n)
                wall = time.perf_counter() - start
                print(times * n, f"{wall:.9f} {time.process_time() - cpu:.9f}", file=out)
            case "op":
                try:
                    c.choose(int(argument))
                    print("ready", file=out)
                except Exception as e:
                    print("error", " ".join(str(e).split()) or type(e).__name__, file=out)
            case "check":
                h = hashlib.sha256()
                for x in c.outputs(n):
                    h.update(np.ascontiguousarray(x).tobytes())
                print(h.hexdigest(), file=out)
            case "quit":
                print(peak_rss(), file=out)
                out.flush()
                os._exit(0)  # some libraries take long to end, or never do
            case other:
                raise SystemExit(f"{other!r}: want go, op, check or quit")
