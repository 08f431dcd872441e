"""Shared by the benchmark scripts: installation, the photographs, the processes
that speak the protocol of README.md, goals and tables.

Plain Python; the libraries are installed outside the checkout.
"""
import json
import os
import platform
import select
import shutil
import statistics
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BIN = os.path.join(ROOT, "bin")
WORK = os.path.join(BIN, "bench")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "infer-prep")
GO = os.environ.get("GO") or "go"
OURS = "infer-prep"

# Where a library comes from: the requirements of a virtual environment, or a tool.
# torchvision's 6 GB are those that make parity has.
ENVIRONMENTS = {
    "base": ["bench/requirements-base.txt"],
    "torchvision": ["parity/requirements.txt", "parity/requirements-no-deps.txt"],
    "mindspore": ["bench/requirements-mindspore.txt"],
    "streaming": ["testdata/gen/requirements-mds.txt"],
    "datasets": ["bench/requirements-datasets.txt"],
    "dali": ["bench/requirements-dali.txt"],
    "webdataset": ["bench/requirements-webdataset.txt"],
    "webdataset-s3": ["bench/requirements-webdataset-s3.txt"],
    "ort": ["bench/requirements-ort.txt"],
    "goldens": ["testdata/gen/requirements.txt", "parity/requirements-no-deps.txt"],  # those that run.sh has
    "goldens-mindspore": ["testdata/gen/requirements-mindspore.txt"],
    "warp": ["testdata/gen/requirements-warp.txt"],
    "mxnet": ["testdata/gen/requirements-mxnet.txt"],
    "im2rec": ["testdata/gen/requirements-mxnet-im2rec.txt"],
    "fastapi": ["bench/requirements-fastapi.txt"],
    "vips": ["bench/requirements-vips.txt"],
    "ffcv": "bench/ffcv.sh",
    "go": "bench/gopeers",
    "rust": "bench/rustpeers",
}


def say(*words):
    print(*words, flush=True)


class Failed(Exception):
    pass


def chosen(variable, known):
    value = os.environ.get(variable, "")
    names = [n for n in value.replace(",", " ").split()]
    for n in names:
        if n not in known:
            sys.exit(f"bench: {variable}={value}: no {n}, want some of {','.join(known)}")
    return [n for n in known if n in names] if names else list(known)


def number(variable, default):
    value = os.environ.get(variable) or default
    try:
        return int(value)
    except ValueError:
        sys.exit(f"bench: {variable}={value}: want a number")


# Installing.


def environment(name):
    """Installs an environment and returns how its programs begin."""
    what = ENVIRONMENTS[name]
    if name == "go":
        return [build_go("gopeers", what)]
    if name == "ffcv":
        return [command([os.path.join(ROOT, what), *environment("goldens")]).strip().splitlines()[-1]]
    if name == "rust":
        cargo = shutil.which("cargo")
        if not cargo:
            raise Failed("cargo is missing (rustup.rs, or Debian: apt-get install cargo)")
        target = os.path.join(CACHE, "rust")
        command([cargo, "build", "--release", "--locked", "--quiet"], cwd=os.path.join(ROOT, what), env=os.environ | {"CARGO_TARGET_DIR": target})
        return [os.path.join(target, "release", "rustpeers")]
    return [command([os.path.join(ROOT, "parity", "venv.sh"), *(os.path.join(ROOT, r) for r in what)]).strip().splitlines()[-1]]


def command(args, **kw):
    try:
        p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, **kw)
    except OSError as e:
        raise Failed(f"{args[0]}: {e.strerror}") from None
    if p.returncode:
        raise Failed(f"{os.path.basename(args[0])}: {last_line(p.stderr) or f'status {p.returncode}'}")
    return p.stdout


def build_go(name, folder):
    out = os.path.join(BIN, name)
    command([GO, "build", "-o", out, "."], cwd=os.path.join(ROOT, folder))
    return out


def table(head, rows):
    if rows:
        say(f"\n| {head} |\n|" + "---|" * (head.count("|") + 1))
        for r in rows:
            say("| " + " | ".join(r) + " |")


def last_line(text):
    lines = [l for l in text.splitlines() if l.strip()]
    return lines[-1].strip() if lines else ""


# Images.


def header(b, components=(1, 3)):
    """(width, height) of a JPEG that all libraries read: 8 bits, gray or colour
    in three components, Huffman coded, baseline or progressive. Else None."""
    if b[:3] != b"\xff\xd8\xff":
        return None
    i = 2
    while i + 4 <= len(b):
        if b[i] != 0xFF:
            return None
        marker = b[i + 1]
        if marker == 0xFF:
            i += 1
            continue
        size = struct.unpack(">H", b[i + 2:i + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            if i + 10 > len(b):
                return None
            depth, h, w, n = struct.unpack(">BHHB", b[i + 4:i + 10])
            ok = marker <= 0xC2 and depth == 8 and n in components and w and h
            return (w, h) if ok else None
        i += 2 + size
    return None


def photographs():
    """PHOTOS, or one image of our own."""
    photos = os.environ.get("PHOTOS")
    if not photos:
        photos = os.path.join(ROOT, "testdata", "images", "jpeg_large.jpg")
        say("bench: PHOTOS is not set: one image of testdata/images, which says little; want PHOTOS=DIR")
    if not os.path.exists(photos):
        sys.exit(f"bench: PHOTOS={photos}: no such folder")
    return photos


def collect(folder, limit, components=(1, 3), side=1):
    """Links the photographs with sides of at least side as WORK/photos/NUMBER.jpg; returns (files, sizes, bytes, left out)."""
    out = fresh("photos")
    names = []
    if os.path.isfile(folder):
        names = [folder]
    for base, dirs, files in os.walk(folder):
        dirs.sort()
        names += [os.path.join(base, f) for f in sorted(files)]
    sizes, total, other = [], 0, 0
    for n in names:
        with open(n, "rb") as f:
            b = f.read()
        size = header(b, components)
        if not size or min(size) < side:
            other += 1
            continue
        if limit and len(sizes) == limit:
            break
        os.symlink(os.path.abspath(n), os.path.join(out, f"{len(sizes):06d}.jpg"))
        sizes.append(size)
        total += len(b)
    if not sizes:
        sys.exit(f"bench: PHOTOS={folder}: no JPEG that all libraries read")
    return out, sizes, total, other


def fresh(name):
    out = os.path.join(WORK, name)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    return out


# Running.

ONE_THREAD = os.environ | {v: "1" for v in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VIPS_CONCURRENCY")}


class Process:
    """A library at a case: the program that speaks the protocol, on some cores ("0" or "0,1")."""

    def __init__(self, name, case, args, cores, env):
        self.name, self.rounds, self.digest, self.peak, self.version = name, [], "", 0, ""
        self.log = os.path.join(WORK, f"{case}-{name}.log")
        self.buffer = b""
        with open(self.log, "wb") as log:
            self.p = subprocess.Popen(["taskset", "-c", str(cores), *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=env,
                                      bufsize=0)  # so that nothing is left to write when it has ended

    def answer(self, seconds=600):
        end = time.monotonic() + seconds
        fd = self.p.stdout.fileno()
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([fd], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise Failed(f"no answer in {seconds} s")
            b = os.read(fd, 1 << 16)
            if not b:
                self.p.wait()
                with open(self.log, errors="replace") as f:
                    raise Failed(last_line(f.read()) or f"status {self.p.returncode}")
            self.buffer += b
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode()

    def ready(self):
        word, _, self.version = self.answer().partition(" ")
        if word != "ready":
            raise Failed(f"it said {word!r}, want ready")

    def ask(self, word):
        try:
            self.p.stdin.write(word.encode() + b"\n")
        except BrokenPipeError:
            pass  # the answer says why
        return self.answer()

    def go(self):
        n, wall, cpu = self.ask("go").split()
        self.rounds.append((int(n), float(wall), float(cpu)))

    def quit(self):
        """Lets it end by itself, with its children; for programs that say nothing to that."""
        try:
            self.p.stdin.write(b"quit\n")
            self.p.wait(10)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            pass
        self.end()

    def end(self):
        if self.p.poll() is None:
            self.p.kill()
        self.p.wait()
        self.p.stdin.close()
        self.p.stdout.close()

    def rate(self, column):
        return self.rounds[0][0] / statistics.median(r[column] for r in self.rounds)


def ratio(ours, theirs, column=2):
    """How many times as fast ours is: the median over the rounds, in each of which both ran."""
    return statistics.median(t[column] / o[column] for o, t in zip(ours.rounds, theirs.rounds))


def spawn(cores, env, count, *args):
    """Runs a command so often; for each: seconds to its first line, seconds in all, CPU seconds, peak bytes."""
    out = command(["taskset", "-c", str(cores), os.path.join(BIN, "spawn"), str(count), *args], env=env)
    return [tuple(map(float, l.split())) for l in out.splitlines()]


class Run:
    """What a comparison has of any kind: environments, errors, goals."""

    def __init__(self):
        if not shutil.which("taskset"):
            sys.exit("bench: taskset is missing (Debian: apt-get install util-linux)")
        self.start_of = {}  # how an environment's programs begin
        self.errors = []
        self.goals = []

    def fail(self, what):
        self.errors.append(what)
        say(f"bench: {what}")

    def install_environments(self, wanted):
        """Installs environments, {name: its users}, and returns the users of those that cannot be."""
        without = []
        for e, users in wanted.items():
            what = ENVIRONMENTS[e]
            say(f"installing {', '.join(users)} ({what if isinstance(what, str) else ', '.join(what)}) ...")
            start = time.monotonic()
            try:
                self.start_of[e] = environment(e)
                say(f"  done in {time.monotonic() - start:.0f} s")
            except Failed as err:
                self.fail(f"{', '.join(users)} cannot be installed: {err}")
                without += users
        return without

    def goal(self, text, figure="", met=None):
        self.goals.append((text, figure or "-", "not measured" if met is None else "met" if met else "missed"))

    def machine(self):
        model = platform.processor() or platform.machine()
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("model name"):
                    model = line.split(":", 1)[1].strip()
                    break
        go = command([GO, "version"]).split()[2]
        commit = command(["git", "-C", ROOT, "describe", "--always", "--dirty"]).strip() if shutil.which("git") else "unknown"
        return {"commit": commit, "cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "go": go, "python": platform.python_version(),
                "load": os.getloadavg()[0]}

    def at_least(self, text, want, ratio):
        """Records the goal of a speed-up; ratio is None if it was not measured."""
        self.goal(text, f"{ratio:.2f}x", ratio >= want) if ratio else self.goal(text)

    def save(self, name, raw):
        """Writes the raw numbers."""
        with open(os.path.join(BIN, name), "w") as f:
            json.dump(raw | {"goals": self.goals, "errors": self.errors}, f, indent=1)

    def finish(self, machine, what, begin, name):
        """Says what was measured where, and prints the errors and the goals. It returns the exit status."""
        say(f"\nCommit {machine['commit']}. {what}. {machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, {machine['go']}, "
            f"Python {machine['python']}; load {machine['load']:.2f} at the start. {(time.monotonic() - begin) / 60:.1f} minutes. Raw numbers: bin/{name}")
        for e in self.errors:
            say(f"error: {e}")
        say("\ngoals:")
        for g in self.goals:
            say(", ".join(g))
        return 1 if self.errors else 0
