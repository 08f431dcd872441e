"""Compares infer-prep's training pipeline with those of other libraries, in one run
on the same cores.

Plain Python; the libraries are installed outside the checkout. README.md describes
the protocol; `make bench-pipeline` runs this script. All settings are environment
variables: PHOTOS, PEERS, COUNT, ROUNDS, FIRST, CORES.
"""
import glob
import io
import os
import shutil
import statistics
import sys
import tarfile
import threading
import time

from common import BIN, HERE, OURS, WORK, Failed, Process, Run, build_go, chosen, collect, command, fresh, number, photographs, ratio, say, spawn, table

WORKERS = [1, 2]
BATCH = 32
CLASSES = SHARDS = 8
# With so many files every worker's part of the shards is whole batches.
MULTIPLE = BATCH * max(WORKERS)
SAMPLE = 0.02  # seconds between two looks at a process's memory


class Peer:
    """A library. folder is what its program reads, images or shards; module is an
    environment whose packages it has on top of its own."""

    def __init__(self, environment, program, folder="images", module=None):
        self.environment, self.program, self.folder, self.module = environment, program, folder, module


PEERS = {
    "mindspore": Peer("mindspore", "mindspore_folder.py"),
    "torch": Peer("torchvision", "torch_loader.py"),
    "dali": Peer("dali", "dali_pipeline.py"),
    "webdataset": Peer("torchvision", "webdataset_loader.py", "shards", "webdataset"),
}
# What infer-prep wants to be: more than so many times as fast by the clock, its
# memory and its first batch below such a part of the peer's.
FASTER = {"mindspore": 1.5, "torch": 1, "dali": 1, "webdataset": 1}
MEMORY = {"mindspore": 4}
SOONER = 20


def lay_out(photos, count):
    """Makes DIR/images/CLASS/NUMBER.jpg and DIR/shards/NUMBER.tar, so many files in
    each, of the photographs over and over."""
    names = sorted(glob.glob(os.path.join(glob.escape(photos), "*.jpg")))
    out = fresh("pipeline")
    os.mkdir(os.path.join(out, "shards"))
    for c in range(CLASSES):
        os.makedirs(os.path.join(out, "images", f"class{c}"))
    shard = None
    for i in range(count):
        k = i % len(names)
        name = os.path.join(out, "images", f"class{k % CLASSES}", f"{i:06d}.jpg")
        if i == k:
            shutil.copyfile(names[k], name)
        else:  # a link, so that the system's cache has to hold the bytes once
            os.link(os.path.join(os.path.dirname(name), f"{k:06d}.jpg"), name)
        if i % (count // SHARDS) == 0:
            if shard:
                shard.close()
            shard = tarfile.open(os.path.join(out, "shards", f"{i // (count // SHARDS):06d}.tar"), "w")
        with open(name, "rb") as f:
            data = f.read()
        for what, b in ("jpg", data), ("cls", str(k % CLASSES).encode()):
            entry = tarfile.TarInfo(f"{i:06d}.{what}")
            entry.size = len(b)
            shard.addfile(entry, io.BytesIO(b))
    shard.close()
    return out


class Memory(threading.Thread):
    """Watches the memory of a process with all its children: the sum of what
    smaps_rollup calls Pss, in which a page that n processes share is 1/n in each,
    or else of Rss."""

    what = "PSS" if os.path.exists("/proc/self/smaps_rollup") else "RSS"

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak, self.over = pid, 0, threading.Event()

    def run(self):
        while not self.over.wait(SAMPLE):
            self.peak = max(self.peak, self.tree(self.pid))

    def tree(self, pid):
        size, children = 0, []
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as f:
                    children += f.read().split()
            with open(f"/proc/{pid}/smaps_rollup" if self.what == "PSS" else f"/proc/{pid}/status") as f:
                for line in f:
                    if line.startswith(("Pss:", "VmRSS:")):
                        size = int(line.split()[1]) << 10
        except (FileNotFoundError, ProcessLookupError):  # it, or a thread of it, ended meanwhile
            pass
        return size + sum(map(self.tree, children))

    def stop(self):
        self.over.set()
        self.join()
        return self.peak


def peak(p):
    """The most memory while a process starts and runs two epochs, alone: with others there would be shared pages."""
    memory = Memory(p.p.pid)
    try:
        memory.start()
        p.ready()
        p.go()
        return memory.stop()
    finally:
        memory.over.set()
        p.quit()


def at(workers):
    return f"{workers} worker{'s' * (workers > 1)}"


def in_turn(names, r):
    """The names in the order of round r, in which another one is first."""
    names = list(names)
    k = r % max(1, len(names))
    return names[k:] + names[:k]


class Pipelines(Run):
    def __init__(self):
        super().__init__()
        names = chosen("PEERS", [OURS, *PEERS])
        self.ours, self.peers = OURS in names, [n for n in names if n != OURS]
        self.rounds = max(1, number("ROUNDS", 7))
        self.first = max(1, number("FIRST", 5))
        self.count = number("COUNT", 1920)
        if self.count < MULTIPLE or self.count % MULTIPLE:
            sys.exit(f"bench: COUNT={self.count}: want a multiple of {MULTIPLE}")
        cores = sorted(os.sched_getaffinity(0))
        self.cores = os.environ.get("CORES") or ",".join(map(str, cores[-2:]))
        try:
            known = {int(c) for c in self.cores.split(",")} <= set(cores)
        except ValueError:
            known = False
        if not known:
            sys.exit(f"bench: CORES={self.cores}: want some of {','.join(map(str, cores))}")
        self.raw = {str(w): {} for w in WORKERS}
        self.rows = []
        self.results = {}  # by workers and name: (speed-up, peak bytes, seconds to the first batch)

    def install(self):
        os.makedirs(WORK, exist_ok=True)
        build_go("spawn", "bench/spawn")
        if self.ours:
            build_go("pipeline", "bench/pipelines/ours")
        wanted = {}
        for p in self.peers:
            for e in (PEERS[p].environment, PEERS[p].module):
                if e:
                    wanted.setdefault(e, []).append(p)
        without = set(self.install_environments(wanted))
        self.rows += [("all", p, "cannot be installed", "", "", "", "", "") for p in self.peers if p in without]
        self.peers = [p for p in self.peers if p not in without]

    def program(self, name, workers, *options):
        """A library's command and environment."""
        if name == OURS:
            return [os.path.join(BIN, "pipeline"), *options, os.path.join(self.folder, "images"), str(workers)], os.environ
        p, env = PEERS[name], os.environ
        if p.module:
            env = env | {"PYTHONPATH": command([*self.start_of[p.module], "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()}
        return [*self.start_of[p.environment], os.path.join(HERE, "pipelines", p.program), *options, os.path.join(self.folder, p.folder), str(workers)], env

    def start(self, name, workers):
        args, env = self.program(name, workers)
        return Process(name, f"pipeline-{workers}", args, self.cores, env)

    def each(self, workers, names, f):
        """Calls f(name) for each of names and gives the results by name; one that fails is reported and left out."""
        out = {}
        for n in names:
            try:
                out[n] = f(n)
            except Failed as e:
                self.fail(f"{at(workers)}: {n}: {e}")
                self.rows.append((str(workers), n, "failed", "", "", "", "", ""))
        return out

    def check(self, name, workers):
        args, env = self.program(name, workers, "-first")
        line = command(["taskset", "-c", self.cores, *args], env=env).strip()
        want = f"float32 {BATCH} 3 224 224"
        if line != want:
            raise Failed(f"its first batch is {line!r}, want {want!r}")

    def peak(self, name, workers):
        return peak(self.start(name, workers))

    def time_to_first(self, name, workers):
        args, env = self.program(name, workers, "-first")
        return spawn(self.cores, env, 1, *args)[0][0]

    def measure(self, workers):
        names = [OURS] * self.ours + self.peers
        names = list(self.each(workers, names, lambda n: self.check(n, workers)))
        peaks = self.each(workers, names, lambda n: self.peak(n, workers))
        firsts = {n: [] for n in peaks}
        for r in range(self.first):
            got = self.each(workers, in_turn(firsts, r), lambda n: self.time_to_first(n, workers))
            firsts = {n: t + [got[n]] for n, t in firsts.items() if n in got}

        def one(p):
            p.go()
            if p.rounds[-1][0] != self.count:
                raise Failed(f"an epoch of {p.rounds[-1][0]} images, want {self.count}")

        ps = {}
        try:
            for n in firsts:
                ps[n] = self.start(n, workers)
                if n not in self.each(workers, [n], lambda n: ps[n].ready()):
                    ps.pop(n).quit()
            for r in range(self.rounds):
                turn = in_turn(ps, r)
                got = self.each(workers, turn, lambda n: one(ps[n]))
                for n in turn:
                    if n not in got:
                        ps.pop(n).quit()
        finally:
            for p in ps.values():
                p.quit()

        ours = ps.get(OURS)
        for n in firsts:
            p = ps.get(n)
            if not p:
                continue
            x = ratio(ours, p, 1) if ours else None
            first = statistics.median(firsts[n])
            self.results[workers, n] = x, peaks[n], first
            cpu = 1e3 * statistics.median(r[2] for r in p.rounds) / self.count
            self.rows.append((str(workers), n, p.version, f"{p.rate(1):,.0f}", f"{x:.2f}" if x else "", f"{cpu:.2f}", f"{peaks[n] / 1e6:.0f}", f"{first:.3f}"))
            self.raw[str(workers)][n] = {
                "version": p.version, "wall_s": [r[1] for r in p.rounds], "cpu_s": [r[2] for r in p.rounds], "ours_times_as_fast": x,
                "peak_bytes": peaks[n], "first_batch_s": firsts[n]}

    def judge(self):
        for w in WORKERS:
            none = None, None, None
            _, memory, first = self.results.get((w, OURS), none)
            for p, want in FASTER.items():
                text = f"{at(w)}: " + (f"at least {want}x {p}" if want > 1 else f"ahead of {p}")
                x = self.results.get((w, p), none)[0]
                self.goal(text, f"{x:.2f}x", x >= want if want > 1 else x > 1) if x else self.goal(text)
            for p, part in MEMORY.items():
                text, theirs = f"{at(w)}: peak memory at most 1/{part} of {p}", self.results.get((w, p), none)[1]
                if memory and theirs:
                    self.goal(text, f"{memory / 1e6:.0f} MB, 1/{theirs / memory:.1f}", memory * part <= theirs)
                else:
                    self.goal(text)
            for p in PEERS:
                text, theirs = f"{at(w)}: first batch below 1/{SOONER} of {p}", self.results.get((w, p), none)[2]
                if first and theirs:
                    self.goal(text, f"{1e3 * first:.0f} ms, 1/{theirs / first:.1f}", first * SOONER < theirs)
                else:
                    self.goal(text)

    def run(self):
        begin = time.monotonic()
        photos = photographs()
        try:
            self.install()
        except Failed as e:
            sys.exit(f"bench: {e}")
        folder, sizes, _, other = collect(photos, self.count)
        self.folder = lay_out(folder, self.count)
        images = f"{self.count} files of {len(sizes)} JPEG photographs" + (f" ({other} other files left out)" if other else "")
        say(images)
        machine = self.machine() | {"on_cores": self.cores}
        for w in WORKERS:
            say(f"{at(w)} ...")
            self.measure(w)
        self.judge()
        self.save("bench-pipeline.json", {"workers": self.raw, "machine": machine, "images": images, "rounds": self.rounds, "memory": Memory.what})
        table("workers | library | version | images/s by the clock | speed-up | CPU ms an image | peak MB | s to the first batch", self.rows)
        what = f"{images}. Cores {self.cores} for all, {self.rounds} rounds in turn, medians; memory: {Memory.what} of all its processes"
        return self.finish(machine, what, begin, "bench-pipeline.json")


if __name__ == "__main__":
    try:
        sys.exit(Pipelines().run())
    except KeyboardInterrupt:
        sys.exit(130)
