"""Compares single ops with those of torchvision (uint8 tensors), Pillow, OpenCV and MindSpore, in one run on one core.

Plain Python; the libraries are installed outside the checkout. The table of cases is opcases.py. README.md describes the protocol;
`make bench-ops` runs this script. All settings are environment variables: PHOTOS, PEERS, CASES, ROUNDS, LIMIT, CORE, MS.
"""
import json
import os
import statistics
import sys
import time

import opcases
from common import BIN, HERE, ONE_THREAD, OURS, WORK, Failed, Process, Run, build_go, chosen, collect, number, photographs, say, table

# By library: its environment.
PEERS = {"torchvision": "goldens", "pillow": "base", "opencv": "base", "opencv4": "warp", "mindspore": "goldens-mindspore"}


class Entry:
    """A call of a library in a case, or a form of ours."""

    def __init__(self, library, form, index):
        self.library, self.form, self.index = library, form, index
        self.digest, self.times, self.rounds = "", 1, []

    def select(self, process):
        word, _, why = process.ask(f"op {self.index}").partition(" ")
        if word != "ready":
            raise Failed(why)

    def once(self, process):
        """Seconds of CPU time for each image."""
        n, _, cpu = process.ask(f"go {self.times}").split()
        return float(cpu) / int(n)


class Bench(Run):
    def __init__(self):
        super().__init__()
        self.cases = [c for c in opcases.CASES if c.name in chosen("CASES", [c.name for c in opcases.CASES])]
        self.peers = chosen("PEERS", list(PEERS))
        self.rounds = max(1, number("ROUNDS", 9))
        self.limit = number("LIMIT", 5)
        self.ms = max(1, number("MS", 50))
        cores = sorted(os.sched_getaffinity(0))
        self.core = number("CORE", cores[-1])
        if self.core not in cores:
            sys.exit(f"bench: CORE={self.core}: want one of {cores}")
        self.rows, self.slower, self.missing, self.raw = [], [], [], {"cases": {}}

    def install(self):
        os.makedirs(WORK, exist_ok=True)
        build_go("ours", "bench/ours")
        wanted = {}
        for p in self.peers:
            wanted.setdefault(PEERS[p], []).append(p)
        self.install_environments(wanted)
        self.peers = [p for p in self.peers if PEERS[p] in self.start_of]

    def begin(self, library, folder, calls):
        """Starts a library's program, which runs until the end of the comparison."""
        extra = os.path.join(WORK, f"ops-{library}.json")
        with open(extra, "w") as f:
            json.dump({"library": library, "calls": calls}, f)
        args = [os.path.join(BIN, "ours")] if library == OURS else [*self.start_of[PEERS[library]], os.path.join(HERE, "peers", "ops.py")]
        p = Process(library, "ops", [*args, "ops", folder, extra], self.core, ONE_THREAD)
        try:
            p.ready()
        except Failed:
            p.end()
            raise
        return p

    def entries(self):
        """Returns the calls of each library, and the entries of each case."""
        calls = {OURS: []} | {p: [] for p in self.peers}
        entries = []
        for c in self.cases:
            mine = []
            for form, steps in c.forms.items():
                mine.append(Entry(OURS, form, len(calls[OURS])))
                calls[OURS].append({"input": c.input, "steps": [{"op": name, "params": params} for name, params in steps]})
            for p in self.peers:
                if p in c.calls:
                    mine.append(Entry(p, "", len(calls[p])))
                    calls[p].append({"input": c.input, "call": c.calls[p]})
            entries.append(mine)
        return calls, entries

    def compare(self, case, entries, processes, pixels):
        live = []
        for e in entries:
            p = processes.get(e.library)
            if not p:
                continue
            try:
                e.select(p)
                e.digest = p.ask("check")
                least = max(1e-9, e.once(p) * pixels[1])  # seconds for all images
                e.times = max(1, int(self.ms / 1e3 / least))
                live.append(e)
            except Failed as err:
                if e.library == OURS and "unknown op" in str(err):
                    self.missing.append(case.name)
                    return
                self.fail(f"{case.name}: {' '.join(filter(None, (e.library, e.form)))}: {err}")
        for r in range(self.rounds):
            k = r % max(1, len(live))
            for e in live[k:] + live[:k]:
                e.select(processes[e.library])
                e.rounds.append(e.once(processes[e.library]))
        ns = lambda e: statistics.median(e.rounds) / pixels[0] * 1e9
        raw = self.raw["cases"][case.name] = []
        for e in live:
            raw.append({"library": e.library, "form": e.form, "sha256": e.digest, "ns_per_pixel": [s / pixels[0] * 1e9 for s in e.rounds]})
        for ours in (e for e in live if e.library == OURS):
            cells, same = {}, []
            for e in live:
                if e.library == OURS:
                    continue
                # The median over the rounds, in each of which both ran.
                e.ratio = statistics.median(t / o for o, t in zip(ours.rounds, e.rounds))
                equal = e.digest == ours.digest
                cells[e.library] = ("=" if equal else "") + f"{ns(e):.3g}"
                if equal:
                    same.append(e)
            mark = ""
            if same:
                fastest = min(same, key=lambda e: e.ratio)
                mark = f"{fastest.ratio:.2f}x {fastest.library}"
                if fastest.ratio < 1:
                    mark += ", slower"
                    self.slower.append(f"{case.name} {ours.form}".strip() + f": {mark}")
            self.rows.append((case.name, ours.form, f"{ns(ours):.3g}", *(cells.get(p, "") for p in PEERS), mark))

    def run(self):
        begin = time.monotonic()
        photos = photographs()
        try:
            self.install()
        except Failed as e:
            sys.exit(f"bench: {e}")
        folder, sizes, total, other = collect(photos, self.limit, components=(3,), side=opcases.SIDE)
        images = f"{len(sizes)} JPEG files, {sum(w * h for w, h in sizes) / 1e6:.2f} megapixels" + (f"; {other} other files left out" if other else "")
        say(images)
        machine = self.machine() | {"core": self.core}
        calls, entries = self.entries()
        processes = {}
        try:
            for library in calls:
                try:
                    processes[library] = self.begin(library, folder, calls[library])
                except Failed as e:
                    self.fail(f"{library}: {e}")
            pixels = sum(w * h for w, h in sizes) / len(sizes), len(sizes)
            for case, mine in zip(self.cases, entries):
                say(f"{case.name} ...")
                try:
                    self.compare(case, mine, processes, pixels)
                except Failed as e:
                    self.fail(f"{case.name}: {e}")
        finally:
            for p in processes.values():
                p.end()
        if self.rows:
            self.goal("every form at least as fast as the fastest library with the same pixels", f"{len(self.slower)} of {len(self.rows)} slower",
                      not self.slower)
        versions = {n: p.version for n, p in processes.items() if n != OURS}
        self.save("bench-ops.json", self.raw | {"machine": machine, "images": images, "rounds": self.rounds, "versions": versions})
        say("\nNanoseconds of CPU time a pixel of the input; = marks the same pixels as those of the row. The last column has the speed-up over "
            "the fastest library with the same pixels.")
        table(f"op | form | {OURS} | " + " | ".join(f"{p} {versions.get(p, '')}".strip() for p in PEERS) + " | speed-up", self.rows)
        say(f"\nops that are slower than a library with the same pixels: {len(self.slower)}")
        for s in self.slower:
            say(f"  {s}")
        if self.missing:
            say(f"not written yet: {', '.join(self.missing)}")
        return self.finish(machine, f"{images}. One core, one thread, {self.rounds} rounds in turn, medians", begin, "bench-ops.json")


if __name__ == "__main__":
    try:
        sys.exit(Bench().run())
    except KeyboardInterrupt:
        sys.exit(130)
