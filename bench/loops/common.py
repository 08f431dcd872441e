"""A Python program's side of the protocol that python.py speaks with the libraries
it compares (bench/README.md)."""
import hashlib
import importlib.util
import os
import sys
import time

# The module of the same name in pipelines/ has the clocks.
spec = importlib.util.spec_from_file_location("pipelines", os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pipelines", "common.py"))
pipelines = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pipelines)
BATCH, MEAN, STD = pipelines.BATCH, pipelines.MEAN, pipelines.STD

# What Python prints for the transforms of torch_loader.py, and the dtype.
COMPOSE = b"""Compose(
      Resize(size=[256], interpolation=InterpolationMode.BILINEAR, antialias=True)
      CenterCrop(size=(224, 224))
      ToDtype(dtype=torch.float32, scale=True)
      Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225], inplace=False)
)"""


def function(image):
    """The function of Python of ours_function.py and torch_function.py: a soft clip of the values."""
    return image / (1 + abs(image))


def answers():
    """The file for answers; what libraries print goes to standard error."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return out


def serve(out, version, run):
    """Answers go with what run returns, the images, and the seconds that it took."""
    run()
    print("ready", version, file=out)
    for line in sys.stdin:
        match line.strip():
            case "go":
                cpu, start = pipelines.cpu_seconds(), time.perf_counter()
                n = run()
                wall = time.perf_counter() - start
                print(n, f"{wall:.9f} {pipelines.cpu_seconds() - cpu:.9f}", file=out)
            case "quit":
                pipelines.leave()
            case other:
                raise SystemExit(f"{other!r}: want go or quit")


def loop(version, build):
    """A training loop: arguments [-first | -digest] DIR WORKERS. build(DIR, WORKERS) gives a
    function that begins an epoch: an iterator of (images, labels), (32, 3, 224, 224) and (32,)."""
    out = answers()
    args = sys.argv[1:]
    mode = args.pop(0) if args[0].startswith("-") else ""
    start = time.perf_counter()
    epoch = build(args[0], int(args[1]))
    if mode == "-first":
        x, _ = next(iter(epoch()))
        print(f"{time.perf_counter() - start:.6f}", str(x.dtype).removeprefix("torch."), *x.shape, file=out)
        pipelines.leave()
    if mode == "-digest":
        d = hashlib.sha256()
        for x, y in epoch():
            d.update(memoryview(x.numpy() if hasattr(x, "numpy") else x).cast("B"))
            d.update(bytes(int(v) for v in y))
        print(d.hexdigest(), file=out)
        pipelines.leave()

    def run():
        n = 0
        for x, y in epoch():
            n += len(y)
            del x, y  # as a step that has ended; a for loop would keep them while it waits
        return n

    serve(out, version, run)


def single(version, convert):
    """Single images: arguments [-digest] DIR. convert(bytes) gives an array of float32."""
    out = answers()
    args = sys.argv[1:]
    folder = args[-1]
    images = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            images.append(f.read())
    if args[0] == "-digest":
        d = hashlib.sha256()
        for b in images:
            x = convert(b)
            d.update(memoryview(x.contiguous().numpy() if hasattr(x, "numpy") else x).cast("B"))
        print(d.hexdigest(), file=out)
        pipelines.leave()

    def run():
        for b in images:
            convert(b)
        return len(images)

    serve(out, version, run)
