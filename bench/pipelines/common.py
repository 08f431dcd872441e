"""A Python program's side of the protocol that pipeline.py speaks with the libraries
it compares (bench/README.md)."""
import multiprocessing
import os
import resource
import sys
import time

BATCH = 32
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def descendants(pid):
    """The ids of a process's children and of theirs."""
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/children") as f:
                children = [int(c) for c in f.read().split()]
        except FileNotFoundError:  # the thread has ended
            continue
        for c in children:
            yield c
            yield from descendants(c)


def cpu_seconds():
    """Of this process and its children, those that have ended and those that run."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    s = time.process_time() + ended.ru_utime + ended.ru_stime
    for pid in descendants(os.getpid()):
        s += time.clock_gettime(~pid << 3 | 2)  # the CPU clock of a process, as clock_getcpuclockid makes it
    return s


def leave():
    """Ends at once, with all children: some libraries take long to end, or never do."""
    for c in multiprocessing.active_children():
        c.kill()
        c.join()
    os._exit(0)


def main(version, build):
    """Runs the program: arguments [-first] DIR WORKERS. build(DIR, WORKERS) gives a
    function that begins an epoch: an iterator of batches of images, (32, 3, 224, 224)."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no answer
    args = sys.argv[1:]
    first = args[0] == "-first"
    folder, workers = args[first:]
    epoch = build(folder, int(workers))
    if first:
        x = next(iter(epoch()))
        print(str(x.dtype).removeprefix("torch."), *x.shape, file=out)
        leave()

    def run():
        return sum(len(x) for x in epoch())

    run()
    print("ready", version, file=out)
    for line in sys.stdin:
        match line.strip():
            case "go":
                cpu, start = cpu_seconds(), time.perf_counter()
                n = run()
                wall = time.perf_counter() - start
                print(n, f"{wall:.9f} {cpu_seconds() - cpu:.9f}", file=out)
            case "quit":
                leave()
            case other:
                raise SystemExit(f"{other!r}: want go or quit")
