"""Compares infer-prep serve with a server of FastAPI, Pillow and torchvision under the
same load: images in, the tensors of the preset imagenet out.

Plain Python; what the servers need is installed outside the checkout. See README.md
and `make bench-serve`. All settings are variables of the environment: PHOTOS, LIMIT,
ROUNDS, SECONDS_EACH, CORES.
"""
import glob
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

from common import BIN, HERE, ONE_THREAD, OURS, WORK, Failed, Run, build_go, collect, command, number, photographs, say, table

PEER = "fastapi"
PORTS = {OURS: 18000, PEER: 18001}
PATHS = {OURS: "/v2/models/imagenet/infer", PEER: "/infer"}
CONNECTIONS = [1, 8, 32]
GOAL = 3  # times the requests of the other


class Server:
    """A server on some cores."""

    def __init__(self, name, args, cores, env):
        self.name, self.rounds = name, {c: [] for c in CONNECTIONS}
        self.url = f"http://127.0.0.1:{PORTS[name]}{PATHS[name]}"
        self.log = os.path.join(WORK, f"serve-{name}.log")
        with open(self.log, "wb") as log:
            self.p = subprocess.Popen(["taskset", "-c", cores, *args], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env)

    def ready(self):
        for _ in range(600):
            try:
                urllib.request.urlopen(self.url)
            except urllib.error.HTTPError:
                return  # GET is not allowed, so it is there
            except OSError:
                if self.p.poll() is not None:
                    break
                time.sleep(0.1)
        with open(self.log, errors="replace") as f:
            raise Failed(f"it does not listen: {f.read()[-300:]}")

    def peak(self):
        """The peak memory of the process and its children, in bytes."""
        total = 0
        for pid in self.pids():
            with open(f"/proc/{pid}/status") as f:
                total += int(re.search(r"VmHWM:\s+(\d+)", f.read())[1]) << 10
        return total

    def pids(self):
        l = [self.p.pid]
        for p in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(p) as f:
                    text = f.read()
            except OSError:
                continue
            if int(text.rsplit(")", 1)[1].split()[1]) == self.p.pid:
                l.append(int(p.split("/")[2]))
        return l

    def end(self):
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGTERM)
            try:
                self.p.wait(20)
            except subprocess.TimeoutExpired:
                self.p.kill()
                self.p.wait()

    def median(self, connections, key):
        return statistics.median(r[key] for r in self.rounds[connections])


class Bench(Run):
    def __init__(self):
        super().__init__()
        self.rounds = max(1, number("ROUNDS", 5))
        self.seconds = max(1, number("SECONDS_EACH", 5))
        self.limit = number("LIMIT", 500)
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            sys.exit("bench: want two cores or more: for the server and for the load")
        # Half of the cores for the server, the others for the load.
        half = len(cores) // 2
        both = (os.environ.get("CORES") or f"{','.join(map(str, cores[half:]))} {','.join(map(str, cores[:half]))}").split()
        if len(both) != 2:
            sys.exit("bench: CORES: want the cores of the server and those of the load, such as '2,3 0,1'")
        self.cores, self.load_cores = both

    def install(self):
        os.makedirs(WORK, exist_ok=True)
        build_go("infer-prep", "cmd/infer-prep")
        build_go("load", "bench/load")
        if self.install_environments({"torchvision": ["torchvision"], "fastapi": [PEER]}):
            raise Failed("nothing to compare with")

    def start(self):
        n = len(self.cores.split(","))
        # torch's environment with FastAPI's before it: a second one of 6 GB is not worth it.
        (packages,) = glob.glob(os.path.join(os.path.dirname(os.path.dirname(self.start_of["fastapi"][0])), "lib", "python*", "site-packages"))
        args = {
            OURS: [os.path.join(BIN, "infer-prep"), "serve", "--preset", "imagenet", "--listen", f"127.0.0.1:{PORTS[OURS]}"],
            PEER: [*self.start_of["torchvision"], "-m", "uvicorn", "--host", "127.0.0.1", "--port", str(PORTS[PEER]), "--workers", str(n), "--loop", "uvloop",
                   "--http", "httptools", "--no-access-log", "--log-level", "warning", "--app-dir", os.path.join(HERE, "peers"), "fastapi_server:app"],
        }  # fmt: skip
        env = {OURS: dict(os.environ), PEER: ONE_THREAD | {"PYTHONPATH": packages}}
        return [Server(name, args[name], self.cores, env[name]) for name in args]

    def load(self, server, folder, connections, seconds):
        out = command(["taskset", "-c", self.load_cores, os.path.join(BIN, "load"), server.url, folder, str(connections), str(seconds)])
        return json.loads(out)

    def run(self):
        begin = time.monotonic()
        photos = photographs()
        servers = []
        try:
            self.install()
            folder, sizes, total, other = collect(photos, self.limit)
            images = f"{len(sizes)} JPEG files, {sum(w * h for w, h in sizes) / 1e6:.1f} megapixels, {total / 1e6:.1f} MB" + (f"; {other} other files left out" if other else "")
            say(images)
            machine = self.machine() | {"server_cores": self.cores, "load_cores": self.load_cores}
            servers = self.start()
            for s in servers:
                s.ready()
            digests = {s.name: self.load(s, folder, 1, 0)["digest"] for s in servers}
            if len(set(digests.values())) != 1:
                raise Failed(f"the tensors differ: {digests}")
            say("the tensors of all images are equal")
            for c in CONNECTIONS:
                for s in servers:
                    self.load(s, folder, c, 1)  # warms up
            for r in range(self.rounds):
                say(f"round {r + 1} of {self.rounds} ...")
                for c in CONNECTIONS:
                    for s in servers[r % 2:] + servers[:r % 2]:
                        s.rounds[c].append(self.load(s, folder, c, self.seconds))
            peaks = {s.name: s.peak() for s in servers}
        except Failed as e:
            sys.exit(f"bench: {e}")
        finally:
            for s in servers:
                s.end()
        ours, peer = servers
        rows, raw = [], {}
        for c in CONNECTIONS:
            # In each round both ran, so that a busy machine slows both.
            x = statistics.median(o["requests"] / o["seconds"] * p["seconds"] / p["requests"] for o, p in zip(ours.rounds[c], peer.rounds[c]))
            p99 = statistics.median(o["p99"] / p["p99"] for o, p in zip(ours.rounds[c], peer.rounds[c]))
            for s in servers:
                rate = statistics.median(r["requests"] / r["seconds"] for r in s.rounds[c])
                rows.append((str(c), s.name, f"{rate:,.0f}", f"{s.median(c, 'p50'):.1f}", f"{s.median(c, 'p99'):.1f}", f"{x:.2f}" if s is ours else "", f"{peaks[s.name] / 1e6:.0f}"))
            raw[c] = {s.name: s.rounds[c] for s in servers}
            self.at_least(f"{c} connections: at least {GOAL}x the requests of {PEER}", GOAL, x)
            self.goal(f"{c} connections: a lower p99 than {PEER}", f"{p99:.2f}x", p99 < 1)
        self.save("bench-serve.json", {"machine": machine, "images": images, "connections": raw, "peak_bytes": peaks})
        table("connections | server | requests/s | p50 ms | p99 ms | speed-up | peak MB", rows)
        return self.finish(machine, f"{images}. Server on cores {self.cores}, load on cores {self.load_cores}, {self.rounds} rounds of {self.seconds} s in turn, medians",
                           begin, "bench-serve.json")  # fmt: skip


if __name__ == "__main__":
    try:
        sys.exit(Bench().run())
    except KeyboardInterrupt:
        sys.exit(130)
