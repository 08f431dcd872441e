"""Compares infer-prep in a Python training loop with torch's DataLoader, and single
images with Pillow and torchvision, in one run on the same cores.

Plain Python; the libraries are installed outside the checkout. README.md describes
the protocol; `make bench-python` runs this script. All settings are environment
variables: PHOTOS, PEERS, COUNT, ROUNDS, FIRST, CORES.
"""
import glob
import os
import statistics
import sys
import time
import zipfile

from common import GO, HERE, ONE_THREAD, OURS, ROOT, WORK, Failed, Process, Run, build_go, chosen, collect, command, fresh, number, photographs, ratio, say, spawn, table
from pipeline import CLASSES, MULTIPLE, WORKERS, Memory, at, in_turn, peak

NUMPY = "infer-prep, no torch"


class Loop:
    """A program in loops/. equal says that it must have the tensors of the others, torch that it imports torch."""

    def __init__(self, environment, program, equal, torch=True):
        self.environment, self.program, self.equal, self.torch = environment, program, equal, torch


LOOPS = {
    OURS: Loop("goldens", "ours_torch.py", True),
    NUMPY: Loop("goldens", "ours_numpy.py", True, torch=False),
    "torch": Loop("goldens", "torch_loader.py", True),
    "dali": Loop("dali", "dali_loop.py", False, torch=False),
    "ffcv": Loop("ffcv", "ffcv_loop.py", False),
}
ALONE = Loop("goldens", "torch_alone.py", False)
# With the same function of Python on every sample.
FUNCTIONS = {OURS: Loop("goldens", "ours_function.py", True), "torch": Loop("goldens", "torch_function.py", True)}
SINGLE = {OURS: Loop("goldens", "ours_single.py", True), "torchvision": Loop("goldens", "torchvision_single.py", True)}
# The goals: times as fast, parts of the memory and of the time to the first batch.
FASTER, MEMORY, SOONER, LATENCY = 2, 3, 10, 2.5


def lay_out(photos, count):
    """Makes DIR/CLASS/NUMBER.jpg, so many links to the photographs over and over."""
    names = sorted(glob.glob(os.path.join(glob.escape(photos), "*.jpg")))
    out = fresh("python-images")
    for c in range(CLASSES):
        os.mkdir(os.path.join(out, f"class{c}"))
    first = {}
    for i in range(count):
        k = i % len(names)
        name = os.path.join(out, f"class{k % CLASSES}", f"{i:06d}.jpg")
        if k in first:
            os.link(first[k], name)
        else:
            with open(names[k], "rb") as f, open(name, "wb") as to:
                to.write(f.read())
            first[k] = name
    return out


class Python(Run):
    def __init__(self):
        super().__init__()
        known = [n for n in dict.fromkeys([*LOOPS, *SINGLE])]
        names = chosen("PEERS", [n for n in known if n != NUMPY])
        self.loops = [n for n in LOOPS if n in names or n == NUMPY and OURS in names]
        self.single = [n for n in SINGLE if n in names]
        self.functions = [n for n in FUNCTIONS if n in names]
        self.rounds = max(1, number("ROUNDS", 7))
        self.first = max(1, number("FIRST", 5))
        self.count = number("COUNT", 1920)
        if self.count < MULTIPLE or self.count % MULTIPLE:
            sys.exit(f"bench: COUNT={self.count}: want a multiple of {MULTIPLE}")
        cores = sorted(os.sched_getaffinity(0))
        self.cores = os.environ.get("CORES") or ",".join(map(str, cores[-2:]))
        self.raw, self.results, self.rows = {}, {}, []
        self.alone = None  # the memory of torch alone

    def install(self):
        os.makedirs(WORK, exist_ok=True)
        build_go("spawn", "bench/spawn")
        wanted = {}
        for n in self.loops:
            wanted.setdefault(LOOPS[n].environment, []).append(n)
        for n in self.single:
            wanted.setdefault(SINGLE[n].environment, []).append(n)
        for n in self.functions:
            wanted.setdefault(FUNCTIONS[n].environment, []).append(n)
        without = set(self.install_environments(wanted))
        self.loops = [n for n in self.loops if n not in without]
        self.single = [n for n in self.single if n not in without]
        self.functions = [n for n in self.functions if n not in without]
        out = fresh("python-wheel")
        wheel = command([sys.executable, os.path.join(ROOT, "python", "backend.py"), "--out", out, "native"], env=os.environ | {"GO": GO}).strip()
        self.site = fresh("python-site")
        with zipfile.ZipFile(os.path.join(out, wheel)) as z:
            z.extractall(self.site)

    def program(self, loop, *args):
        return [*self.start_of[loop.environment], os.path.join(HERE, "loops", loop.program), *args]

    def environ(self, base=os.environ):
        return base | {"PYTHONPATH": self.site, "PYTHONDONTWRITEBYTECODE": ""}

    def once(self, loop, *args, env=os.environ):
        return command(["taskset", "-c", self.cores, *self.program(loop, *args)], env=self.environ(env)).strip()

    def each(self, what, names, f):
        """Calls f(name) for each of names and gives the results by name; one that fails is reported and left out."""
        out = {}
        for n in names:
            try:
                out[n] = f(n)
            except Failed as e:
                self.fail(f"{what}: {n}: {e}")
        return out

    def equal(self, what, programs, *args):
        """Compares the digests of all tensors, and fails a library that claims equal ones and has others."""
        d = self.each(what, [n for n in programs if programs[n].equal], lambda n: self.once(programs[n], "-digest", *args))
        last = list(d)[-1:]  # torch's, if it is there
        for n in d:
            if d[n] != d[last[0]]:
                self.fail(f"{what}: {n} has other tensors than {last[0]}")
        say(f"{what}: equal tensors: {', '.join(n for n in d if d[n] == d[last[0]])}")
        self.raw[f"equal, {what}"] = d

    def start(self, name, workers):
        args = self.program(ALONE) if name == "alone" else self.program(LOOPS[name], self.folder, str(workers))
        return Process(name.replace(" ", "-"), f"python-{workers}", args, self.cores, self.environ())

    def peak(self, name, workers):
        return peak(self.start(name, workers))

    def to_first(self, name, workers):
        """Seconds to the first batch: from the start of the process, and from the making of the loader."""
        args = self.program(LOOPS[name], "-first", self.folder, str(workers))
        whole = spawn(self.cores, self.environ(), 1, *args)[0][0]
        inner, _, what = self.once(LOOPS[name], "-first", self.folder, str(workers)).partition(" ")
        if what != "float32 32 3 224 224":
            raise Failed(f"its first batch is {what!r}, want float32 32 3 224 224")
        return whole, float(inner)

    def turns(self, what, ps):
        """Rounds of all processes in turn; those that fail are removed."""
        for r in range(self.rounds):
            for n in in_turn(ps, r):
                if n not in self.each(what, [n], lambda n: ps[n].go() or True):
                    ps.pop(n).quit()

    def measure(self, workers):
        what = at(workers)
        self.equal(what, {n: LOOPS[n] for n in self.loops}, self.folder, str(workers))
        peaks = self.each(what, self.loops, lambda n: self.peak(n, workers))
        if "goldens" in self.start_of and self.alone is None:
            self.alone = self.each("torch alone", ["alone"], lambda n: self.peak(n, workers)).get("alone")
        firsts = {n: [] for n in peaks}
        for r in range(self.first):
            got = self.each(what, in_turn(firsts, r), lambda n: self.to_first(n, workers))
            firsts = {n: t + [got[n]] for n, t in firsts.items() if n in got}
        ps = {}
        try:
            for n in firsts:
                ps[n] = self.start(n, workers)
                if n not in self.each(what, [n], lambda n: ps[n].ready() or True):
                    ps.pop(n).quit()
            self.turns(what, ps)
        finally:
            for p in ps.values():
                p.quit()
        ours = ps.get(OURS)
        for n, p in ps.items():
            whole, inner = (statistics.median(t[k] for t in firsts[n]) for k in (0, 1))
            x = ratio(ours, p, 1) if ours else None
            cpu = 1e3 * statistics.median(r[2] for r in p.rounds) / self.count
            self.results[workers, n] = x, peaks[n], whole, inner
            own = f"{(peaks[n] - self.alone) / 1e6:.0f}" if self.alone and LOOPS[n].torch else ""
            self.rows.append((str(workers), n, p.version, f"{p.rate(1):,.0f}", f"{x:.2f}" if x else "", f"{cpu:.2f}", f"{peaks[n] / 1e6:.0f}", own, f"{whole:.3f}", f"{inner:.3f}"))
            self.raw[f"{n}, {what}"] = {
                "version": p.version, "wall_s": [r[1] for r in p.rounds], "cpu_s": [r[2] for r in p.rounds], "ours_times_as_fast": x,
                "peak_bytes": peaks[n], "first_batch_s": firsts[n]}

    def compare(self, what, programs, names, cores, environ, *args):
        """Compares the tensors of programs and then their speed, and returns rows of a table."""
        self.equal(what, {n: programs[n] for n in names}, *args)
        ps = {}
        try:
            for n in names:
                ps[n] = Process(n, "python-" + what.replace(" ", "-"), self.program(programs[n], *args), cores, environ)
                if n not in self.each(what, [n], lambda n: ps[n].ready() or True):
                    ps.pop(n).quit()
            self.turns(what, ps)
        finally:
            for p in ps.values():
                p.quit()
        ours = ps.get(OURS)
        rows = []
        for n, p in ps.items():
            x = ratio(ours, p, 1) if ours else None
            rows.append((what, n, p.version, f"{p.rate(1):,.0f}", f"{1e3 / p.rate(1):.2f}", f"{x:.2f}" if x else ""))
            self.results[what, n] = (x,)
            self.raw[f"{n}, {what}"] = {"version": p.version, "wall_s": [r[1] for r in p.rounds], "cpu_s": [r[2] for r in p.rounds], "ours_times_as_fast": x}
        return rows

    def judge(self):
        none = None, None, None, None
        for w in WORKERS:
            x, theirs, whole, inner = self.results.get((w, "torch"), none)
            ours, numpy = self.results.get((w, OURS), none), self.results.get((w, NUMPY), none)
            self.at_least(f"{at(w)}: at least {FASTER}x DataLoader with equal tensors", FASTER, x)
            for text, figure, want, of, unit in [
                (f"peak memory below 1/{MEMORY} of DataLoader's", ours[1], MEMORY, theirs, 1e6),
                ("the same, in both less that of torch alone", ours[1] and self.alone and ours[1] - self.alone, MEMORY,
                 theirs and self.alone and theirs - self.alone, 1e6),
                ("peak memory of a process without torch below 1/3 of DataLoader's", numpy[1], MEMORY, theirs, 1e6),
                (f"first batch in 1/{SOONER} of DataLoader's time, from the making of the loader", ours[3], SOONER, inner, 1e-3),
                (f"first batch in 1/{SOONER} of DataLoader's time, from the start of a process without torch", numpy[2], SOONER, whole, 1e-3),
            ]:
                text = f"{at(w)}: {text}"
                if figure and of:
                    self.goal(text, f"{figure / unit:.0f} {'MB' if unit > 1 else 'ms'}, 1/{of / figure:.1f}", figure * want <= of)
                else:
                    self.goal(text)
        self.at_least(f"a function of Python: at least {FASTER}x DataLoader with equal tensors", FASTER, self.results.get(("a function of Python", "torch"), (None,))[0])
        self.at_least(f"single images: at least {LATENCY}x Pillow and torchvision with equal tensors", LATENCY, self.results.get(("single images", "torchvision"), (None,))[0])

    def test(self):
        """The tests that need torch."""
        try:
            say(command([os.path.join(ROOT, "python", "test-torch.sh"), self.start_of["goldens"][0], self.site]).strip())
        except Failed as e:
            self.fail(f"python/test-torch.sh: {e}")

    def run(self):
        begin = time.monotonic()
        photos = photographs()
        try:
            self.install()
        except Failed as e:
            sys.exit(f"bench: {e}")
        self.photos, sizes, _, other = collect(photos, self.count)
        self.folder = lay_out(self.photos, self.count)
        if "ffcv" in self.loops:
            self.loops = [n for n in self.loops if n != "ffcv" or self.each("ffcv's file", [n], lambda n: self.once(LOOPS[n], "-write", self.folder) or True)]
        images = f"{self.count} files of {len(sizes)} JPEG photographs" + (f" ({other} other files left out)" if other else "")
        say(images)
        machine = self.machine() | {"on_cores": self.cores}
        if "goldens" in self.start_of:
            self.test()
        for w in WORKERS:
            say(f"{at(w)} ...")
            self.measure(w)
        say("a function of Python ...")
        rows = self.compare("a function of Python", FUNCTIONS, self.functions, self.cores, self.environ(), self.folder, str(max(WORKERS)))
        say("single images ...")
        # On one core with one thread each.
        rows += self.compare("single images", SINGLE, self.single, self.cores.split(",")[-1], self.environ(ONE_THREAD), self.photos)
        self.judge()
        self.save("bench-python.json", {"results": self.raw, "machine": machine, "images": images, "rounds": self.rounds, "memory": Memory.what, "torch_alone_bytes": self.alone})
        table("workers | library | version | images/s by the clock | speed-up | CPU ms an image | peak MB | MB above import torch | s to the first batch, process | loader", self.rows)
        table("task | library | version | images/s by the clock | ms an image | speed-up", rows)
        what = f"{images}. Cores {self.cores} for all, {self.rounds} rounds in turn, medians; memory: {Memory.what} of all its processes"
        if self.alone:
            what += f", of which torch alone has {self.alone / 1e6:.0f} MB"
        return self.finish(machine, what, begin, "bench-python.json")


if __name__ == "__main__":
    try:
        sys.exit(Python().run())
    except KeyboardInterrupt:
        sys.exit(130)
