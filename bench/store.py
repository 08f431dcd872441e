"""Compares reading from an S3 server on this machine with reading local files, and
with webdataset reading from the same server, in one run.

Plain Python; the libraries are installed outside the checkout. README.md describes
the protocol; `make bench-store` runs this script. All settings are environment
variables: PHOTOS, PEERS, CASES, COUNT, ROUNDS, FIRST, CORES.
"""
import glob
import os
import secrets
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

from common import HERE, OURS, ROOT, WORK, Failed, Process, Run, build_go, chosen, collect, command, fresh, number, photographs, ratio, say, spawn, table

LOCAL = "infer-prep, local files"
BARE = "the HTTP client of Go alone"
WAYS = ["pipe", "boto3", "s3fs"]
CASES = ["read", "epoch-shards", "epoch-folder", "first"]
CLASSES = SHARDS = 8


class Server:
    """versitygw with an empty bucket, on a core of its own. It ends with this process."""

    def __init__(self, folder, core):
        program = command([os.path.join(ROOT, "store", "s3", "s3test", "versitygw.sh")]).strip().splitlines()[-1]
        os.makedirs(folder)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % s.getsockname()[1]
        self.env = os.environ | {
            "AWS_ENDPOINT_URL_S3": "http://" + address, "AWS_ACCESS_KEY_ID": "bench" + secrets.token_hex(8), "AWS_SECRET_ACCESS_KEY": secrets.token_hex(20),
            "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
        }
        env = os.environ | {"ROOT_ACCESS_KEY": self.env["AWS_ACCESS_KEY_ID"], "ROOT_SECRET_KEY": self.env["AWS_SECRET_ACCESS_KEY"]}
        # Without --keep-alive it closes every connection, which no other service does.
        self.p = subprocess.Popen(["taskset", "-c", str(core), program, "--quiet", "--keep-alive", "--port", address, "posix", folder],
                                  env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                urllib.request.urlopen("http://" + address, timeout=1).close()
            except urllib.error.HTTPError:
                break  # it refuses, since nobody signed the request
            except OSError:
                time.sleep(0.05)
        else:
            raise Failed("versitygw does not answer")

    def end(self):
        self.p.kill()
        self.p.wait()


class Bench(Run):
    def __init__(self):
        super().__init__()
        self.cases, self.peers = chosen("CASES", CASES), chosen("PEERS", WAYS)
        self.rounds, self.first = max(1, number("ROUNDS", 7)), max(1, number("FIRST", 9))
        self.count = number("COUNT", 960)
        if self.count < CLASSES * SHARDS:
            sys.exit(f"bench: COUNT={self.count}: want at least {CLASSES * SHARDS}")
        cores = sorted(os.sched_getaffinity(0))
        self.core, self.server_core = cores[-1], cores[0]
        self.photos = photographs()
        self.rows, self.raw, self.ratios = [], {}, {}

    def install(self):
        os.makedirs(WORK, exist_ok=True)
        build_go("spawn", "bench/spawn")
        self.ours = build_go("store", "bench/store")
        if "read" in self.cases and self.peers and self.install_environments({"webdataset-s3": ["webdataset"]}):
            self.peers = []
        photos, sizes, _, _ = collect(self.photos, self.count)
        names = sorted(glob.glob(os.path.join(glob.escape(photos), "*.jpg")))
        self.folder = fresh("store")
        for i in range(self.count):
            folder = os.path.join(self.folder, "images", f"class{i % CLASSES}")
            os.makedirs(folder, exist_ok=True)
            shutil.copyfile(names[i % len(names)], os.path.join(folder, f"{i:06d}.jpg"))
        os.mkdir(os.path.join(self.folder, "shards"))
        command([self.ours, "make", os.path.join(self.folder, "images"), os.path.join(self.folder, "shards"), str(SHARDS)])
        self.bytes = sum(os.path.getsize(f) for f in glob.glob(os.path.join(glob.escape(self.folder), "shards", "*.tar")))

    def upload(self):
        for what in "shards", "images":
            command([self.ours, "copy", os.path.join(self.folder, what), "s3://bench/" + what], env=self.server.env)

    def where(self, case):
        """The names of the case's folder: in the server, and here."""
        what = "images" if case == "epoch-folder" else "shards"
        return "s3://bench/" + what, os.path.join(self.folder, what)

    def measure(self, case, begin):
        """Runs programs in turn, and returns those that gave what the first gives."""
        ps, live = [], []
        try:
            for name, args in begin.items():
                ps.append(Process(name, case, args, self.core, self.server.env))
                try:
                    ps[-1].ready()
                    if case == "read" and name != BARE:
                        ps[-1].digest = ps[-1].ask("check")
                        if ps[-1].digest != ps[0].digest:
                            raise Failed("its bytes are not ours")
                    live.append(ps[-1])
                except Failed as e:
                    self.fail(f"{case}: {name}: {e}")
            for r in range(self.rounds):
                for p in live[r % len(live):] + live[:r % len(live)]:
                    p.go()
        finally:
            for p in ps:
                p.end()
        if not live or live[0].name != OURS:
            raise Failed("infer-prep has failed")
        for p in live:
            wall, cpu = (ratio(live[0], p, c) for c in (1, 2))
            self.ratios[case, p.name] = wall
            self.rows.append((case, p.name, f"{p.rate(1):,.0f}", f"{p.rate(2):,.0f}", f"{wall:.2f}", f"{cpu:.2f}"))
            self.raw.setdefault(case, {})[p.name] = {"version": p.version, "samples": p.rounds[0][0], "wall_s": [r[1] for r in p.rounds],
                                                     "cpu_s": [r[2] for r in p.rounds], "ours_times_as_fast_wall": wall, "ours_times_as_fast_cpu": cpu}

    def read(self):
        there, here = self.where("read")
        begin = {OURS: [self.ours, "read", there], LOCAL: [self.ours, "read", here], BARE: [self.ours, "get", there]}
        for way in self.peers:
            begin["webdataset, " + way] = [*self.start_of["webdataset-s3"], os.path.join(HERE, "store", "webdataset_s3.py"), way, there]
        self.measure("read", begin)
        x = self.ratios.get(("read", LOCAL))
        self.at_least("shards from S3 at least 0.7x local files", 0.7, x)
        for name, want in (("pipe", ["pipe"]), ("plug-in", ["boto3", "s3fs"])):
            all = [self.ratios[k] for k in (("read", "webdataset, " + w) for w in want) if k in self.ratios]
            self.at_least(f"shards at least 5x webdataset with a {name}", 5, min(all, default=None))

    def epoch(self, case):
        there, here = self.where(case)
        kind = case.removeprefix("epoch-")
        self.measure(case, {OURS: [self.ours, "epoch", kind, there, "1"], LOCAL: [self.ours, "epoch", kind, here, "1"]})
        self.at_least(f"{case} from S3 at least 0.9x local files", 0.9, self.ratios.get((case, LOCAL)))

    def start(self):
        """Seconds from the start of a process to its first sample, decoded."""
        for kind in "shards", "folder":
            there, here = self.where("epoch-" + kind)
            for name, folder in ((OURS, there), (LOCAL, here)):
                t = [s[0] for s in spawn(self.core, self.server.env, self.first, self.ours, "first", kind, folder, "1")]
                self.raw.setdefault("first", {})[f"{name}, {kind}"] = t
                ms = statistics.median(t) * 1000
                self.rows.append((f"first-{kind}", name, f"{ms:.0f} ms", "", "", ""))
                if name == OURS:
                    self.goal(f"first sample of the {kind} under 100 ms", f"{ms:.0f} ms", ms < 100)

    def run(self):
        begin = time.monotonic()
        try:
            self.install()
            machine = self.machine() | {"core": self.core, "server_core": self.server_core}
            self.server = Server(os.path.join(self.folder, "data"), self.server_core)
        except Failed as e:
            sys.exit(f"bench: {e}")
        try:
            command([self.ours, "bucket", "bench"], env=self.server.env)
            self.upload()
            for case in self.cases:
                say(f"{case} ...")
                try:
                    {"read": self.read, "first": self.start}.get(case, lambda: self.epoch(case))()
                except Failed as e:
                    self.fail(f"{case}: {e}")
        except Failed as e:
            self.fail(str(e))
        finally:
            self.server.end()
        self.save("bench-store.json", {"cases": self.raw, "machine": machine})
        table("case | library | samples/s by the clock | samples/s by CPU time | speed-up by the clock | speed-up by CPU time", self.rows)
        return self.finish(machine, f"{self.rounds} rounds in turn, medians; {self.count} photographs, {self.bytes / 1e6:.0f} MB of shards, in the system's cache; "
                                    f"the server has core {self.server_core}, the readers have core {self.core}", begin, "bench-store.json")


if __name__ == "__main__":
    try:
        sys.exit(Bench().run())
    except KeyboardInterrupt:
        sys.exit(130)
