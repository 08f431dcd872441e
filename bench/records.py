"""Compares infer-prep's readers and packers of record files with those of other
libraries, in one run, on one core or two.

Plain Python; the libraries are installed outside the checkout. README.md describes
the protocol; `make bench-records` runs this script. All settings are environment
variables: PHOTOS, PEERS, CASES, ROUNDS, CORE.
"""
import os
import shutil
import sys
import time

from common import HERE, ONE_THREAD, OURS, WORK, Failed, Process, Run, build_go, chosen, collect, command, fresh, number, photographs, ratio, say, table

LARGE, SMALL = (107_000, 2_500), (3_000, 20_000)  # bytes of a record, and how many
# By case: the file, its records, whether every byte of what is handed out is read, and the library.
READ = {
    "recordio-107k": ("107k.rec", LARGE, "hand", "mxnet"),
    "recordio-3k": ("3k.rec", SMALL, "hand", "mxnet"),
    "shards-107k": ("107k.tar", LARGE, "hand", "webdataset"),
    "shards-3k": ("3k.tar", SMALL, "hand", "webdataset"),
    "shards-107k-read": ("107k.tar", LARGE, "read", "webdataset"),
    "shards-3k-read": ("3k.tar", SMALL, "read", "webdataset"),
    "mindrecord-107k": ("107k.mindrecord", LARGE, "hand", "mindspore"),
    "mindrecord-3k": ("3k.mindrecord", SMALL, "hand", "mindspore"),
    "mds-107k": ("107k.mds", LARGE, "hand", "streaming"),
    "mds-3k": ("3k.mds", SMALL, "hand", "streaming"),
    "arrow-107k": ("107k.saved", LARGE, "hand", "datasets"),
    "arrow-3k": ("3k.saved", SMALL, "hand", "datasets"),
    "parquet-107k": ("107k.parquet", LARGE, "hand", "datasets"),
    "parquet-3k": ("3k.parquet", SMALL, "hand", "datasets"),
}
JPEG = ["--resize", "256", "--quality", "95"]
# By case: threads, which are as many cores, the library, and the flags of packing.
IMAGES = {
    "image-iter-1": (1, "mxnet", None),
    "image-iter-2": (2, "mxnet", None),
    "pack-jpeg-1": (1, "im2rec", JPEG),
    "pack-jpeg-2": (2, "im2rec", JPEG),
    "pack-pass-through": (1, "im2rec", ["--pass-through"]),
}
COUNT, CLASSES = 480, 10  # images, a multiple of ImageRecordIter's batch of 32, and their folders
# By library, which is an environment too: its ways of reading, each with its program and what its first argument begins with.
READERS = {
    "mxnet": {"mxnet": ("mxnet_read.py", "")},
    "webdataset": {"webdataset": ("webdataset_read.py", "")},
    "mindspore": {"mindspore-dataset": ("mindspore_read.py", "dataset-"), "mindspore-filereader": ("mindspore_read.py", "")},
    "streaming": {"streaming": ("streaming_read.py", "")},
    "datasets": {"datasets-torch": ("datasets_read.py", "")},
}
PEERS = [*READERS, "im2rec"]
GOALS = [("recordio-107k", 1), ("recordio-3k", 1), ("shards-107k", 20), ("shards-3k", 20), *((c, 3) for c in READ if c.startswith(("mds", "arrow", "parquet"))), ("image-iter-1", 3), ("image-iter-2", 3),
         ("pack-jpeg-1", 1.3), ("pack-jpeg-2", 1.3), ("pack-pass-through", 1)]


def library(case):
    return READ[case][3] if case in READ else IMAGES[case][1]


class Bench(Run):
    def __init__(self):
        super().__init__()
        self.cases = chosen("CASES", [*READ, *IMAGES])
        self.peers = chosen("PEERS", PEERS)
        self.rounds = max(0, number("ROUNDS", 0))
        cores = sorted(os.sched_getaffinity(0))
        self.core = number("CORE", cores[-1])
        if self.core not in cores:
            sys.exit(f"bench: CORE={self.core}: want one of {cores}")
        self.cores = [self.core] + [c for c in reversed(cores) if c != self.core]
        self.photos = photographs() if set(self.cases) & set(IMAGES) else None
        self.rows, self.image_rows, self.ratios, self.raw = [], [], {}, {"cases": {}}

    def install(self):
        os.makedirs(WORK, exist_ok=True)
        self.ours = build_go("records-ours", "bench/records/ours")
        wanted = set(map(library, self.cases))
        self.peers = [p for p in self.peers if p in wanted]
        without = set(self.install_environments({p: [p] for p in self.peers}))
        self.peers = [p for p in self.peers if p not in without]
        self.rows += [("all", p, "cannot be installed", "", "", "", "") for p in without]
        self.folder = fresh("records")
        for name, ((size, count), peer) in {READ[c][0]: READ[c][1::2] for c in self.cases if c in READ}.items():
            file = os.path.join(self.folder, name)
            if peer != "datasets":
                command([self.ours, "make", file, str(size), str(count)])
            elif not os.path.exists(file) and peer in self.peers:
                command([*self.start_of[peer], os.path.join(HERE, "records", "datasets_read.py"), "make", os.path.splitext(file)[0], str(size), str(count)])
        self.cases = [c for c in self.cases if library(c) != "datasets" or "datasets" in self.peers]
        self.tables = build_go("tables-ours", "bench/tables") if "datasets" in map(library, self.cases) else None
        if self.photos:
            self.pack = build_go("infer-prep", "cmd/infer-prep")
            self.images()

    def images(self):
        """COUNT photographs in class folders, and FOLDER/images.rec of them, its records in random order."""
        photos, sizes, _, _ = collect(self.photos, COUNT)
        for c in range(CLASSES):
            os.makedirs(os.path.join(self.folder, "images", f"class{c}"))
        for i in range(COUNT):
            k = i % len(sizes)
            name = os.path.join(self.folder, "images", f"class{k % CLASSES}", f"{i:06d}.jpg")
            if i == k:
                shutil.copyfile(os.path.join(photos, f"{k:06d}.jpg"), name)
            else:  # a link, so that the system's cache has to hold the bytes once
                os.link(os.path.join(os.path.dirname(name), f"{k:06d}.jpg"), name)
        command([self.pack, "pack", "recordio", "--quiet", "--recursive", "--pass-through", os.path.join(self.folder, "images"), os.path.join(self.folder, "images")])

    def measure(self, case, begin, cores, env, rounds):
        """Runs the programs in turn, and returns those that gave what ours gives; none if ours failed."""
        ps, live = [], []
        try:
            for n, args in begin.items():
                ps.append(Process(n, case, args, ",".join(map(str, cores)), env))
                try:
                    ps[-1].ready()
                    ps[-1].digest = ps[-1].ask("check")
                    if ps[-1].digest != ps[0].digest:
                        raise Failed("its bytes are not ours")
                    live.append(ps[-1])
                except Failed as e:
                    self.fail(f"{case}: {n}: {e}")
                    self.rows_of(case).append((case, n, "failed", "", "", "", ""))
            for r in range(rounds if live else 0):
                for p in live[r % len(live):] + live[:r % len(live)]:
                    p.go()
        finally:
            for p in ps:
                p.end()
        return live if live and live[0].name == OURS else []

    def rows_of(self, case):
        return self.rows if case in READ else self.image_rows

    def record(self, case, live, count, column, figures, **raw):
        """Writes down a case of so many records; the ratio is of a column of the rounds."""
        into = self.raw["cases"][case] = {}
        for p in live:
            x = ratio(live[0], p, column)
            if p.name != OURS:
                self.ratios.setdefault(case, {})[p.name] = x
            for r in p.rounds:
                if r[0] != count:
                    self.fail(f"{case}: {p.name}: {r[0]} records, want {count}")
                    break
            self.rows_of(case).append((case, p.name, p.version, *figures(p), f"{x:.2f}"))
            into[p.name] = raw | {"version": p.version, "records": p.rounds[0][0], "wall_s": [r[1] for r in p.rounds], "cpu_s": [r[2] for r in p.rounds],
                                  f"ours_times_as_fast_{'cpu' if column == 2 else 'wall'}": x}

    def read(self, case):
        file, (size, count), mode, peer = READ[case]
        file = os.path.join(self.folder, file)
        begin = {OURS: [self.tables if peer == "datasets" else self.ours, mode, file]}
        if peer in self.peers:
            for name, (program, prefix) in READERS[peer].items():
                begin[name] = [*self.start_of[peer], os.path.join(HERE, "records", program), prefix + mode, file]
        live = self.measure(case, begin, [self.core], ONE_THREAD, self.rounds or 9)
        self.record(case, live, count, 2, lambda p: (f"{p.rate(2):,.0f}", f"{p.rate(2) * size / 1e9:.2f}", f"{p.rate(1) * size / 1e9:.2f}"), bytes=size)

    def process(self, case):
        threads, peer, flags = IMAGES[case]
        if len(self.cores) < threads:
            raise Failed(f"{len(self.cores)} core, want {threads}")
        start = [*self.start_of[peer], os.path.join(HERE, "records", "pack_im2rec.py" if flags else "mxnet_iter.py")] if peer in self.peers else []
        if flags:
            args = [os.path.join(self.folder, "images"), str(threads), *flags]
            begin = {OURS: [self.ours, "pack", self.pack, *args]} | ({"im2rec": [*start, *args]} if start else {})
        else:
            args = [os.path.join(self.folder, "images.rec"), str(threads)]
            begin = {OURS: [self.ours, "iterate", *args]} | {f"mxnet-{c}": [*start, c, *args] for c in ("gpu", "cpu") if start}
        env = ONE_THREAD | {"OMP_NUM_THREADS": str(threads)}
        live = self.measure(case, begin, self.cores[:threads], env, self.rounds or 5)
        self.record(case, live, COUNT, 1, lambda p: (f"{p.rate(1):,.0f}", f"{p.rate(2):,.0f}"), threads=threads)

    def run(self):
        begin = time.monotonic()
        try:
            self.install()
        except Failed as e:
            sys.exit(f"bench: {e}")
        machine = self.machine() | {"core": self.core}
        for case in self.cases:
            say(f"{case} ...")
            try:
                self.read(case) if case in READ else self.process(case)
            except Failed as e:
                self.fail(f"{case}: {e}")
        for case, want in GOALS:
            if case in self.cases:
                # Beside the fastest of the library's ways.
                peer, x = min(self.ratios.get(case, {}).items(), key=lambda i: i[1], default=(library(case), None))
                text = f"{case} at least {want}x {peer}"
                self.at_least(text, want, x)
        self.save("bench-records.json", self.raw | {"machine": machine})
        rounds = f"{self.rounds} round{'s' * (self.rounds > 1)}" if self.rounds else "9 rounds of records, 5 of images"
        table("case | library | version | records/s by CPU time | GB/s by CPU time | GB/s by the clock | speed-up", self.rows)
        table("case | library | version | images/s by the clock | images/s by CPU time | speed-up by wall clock", self.image_rows)
        return self.finish(machine, f"{rounds} in turn, medians; the files are in the system's cache", begin, "bench-records.json")


if __name__ == "__main__":
    try:
        sys.exit(Bench().run())
    except KeyboardInterrupt:
        sys.exit(130)
