"""Compares infer-prep's CPU graph with ONNX Runtime doing the same on the CPU, in one run on
one core: the preset imagenet on decoded images, and from files.

Plain Python; what the libraries need is installed outside the checkout. See
README.md for the protocol, and `make bench-device`. All settings are variables of the
environment: PHOTOS, PEERS, CASES, ROUNDS, LIMIT, CORE.
"""
import os
import sys
import time

from common import BIN, HERE, ONE_THREAD, OURS, WORK, Failed, Process, Run, build_go, chosen, collect, command, number, photographs, ratio, say, table

# By case: what it is called in bench/ours, and the peers, with a note.
CASES = {
    "tensors": ("tensors", {"ort-resize": "its operators Resize, Slice, Cast, Sub, Div; the model is graph export-onnx --form fast"}),
    "files": ("imagenet", {"ort-extensions": "its own pipeline, decoding in the model"}),
}
PEERS = ["ort-resize", "ort-extensions"]
GOALS = [("tensors", "ort-resize", 2), ("files", "ort-extensions", 2)]


class Bench(Run):
    def __init__(self):
        super().__init__()
        self.cases = chosen("CASES", list(CASES))
        self.peers = chosen("PEERS", PEERS)
        self.rounds = max(1, number("ROUNDS", 9))
        self.limit = number("LIMIT", 500)
        cores = sorted(os.sched_getaffinity(0))
        self.core = number("CORE", cores[-1])
        if self.core not in cores:
            sys.exit(f"bench: CORE={self.core}: want one of {cores}")
        self.rows, self.ratios, self.raw = [], {}, {"cases": {}}

    def install(self):
        os.makedirs(WORK, exist_ok=True)
        for name, folder in (("infer-prep", "cmd/infer-prep"), ("ours", "bench/ours")):
            build_go(name, folder)
        self.model = os.path.join(WORK, "imagenet.onnx")
        command([os.path.join(BIN, "infer-prep"), "graph", "export-onnx", "--preset", "imagenet", "--form", "fast", "-o", self.model])
        if self.peers and self.install_environments({"ort": self.peers}):
            self.rows += [("all", p, "cannot be installed", "", "", "", "") for p in self.peers]
            self.peers = []

    def compare(self, case, photos):
        name, peers = CASES[case]
        begin = {OURS: [os.path.join(BIN, "ours"), name]}
        for p in peers:
            if p in self.peers:
                begin[p] = [*self.start_of["ort"], os.path.join(HERE, "peers", "ort.py"), case]
        ps, live = [], []
        try:
            for n, args in begin.items():
                ps.append(Process(n, case, [*args, photos], self.core, ONE_THREAD | {"MODEL": self.model}))
                try:
                    ps[-1].ready()
                    live.append(ps[-1])
                except Failed as e:
                    self.fail(f"{case}: {n}: {e}")
                    self.rows.append((case, n, "failed", "", "", "", ""))
            for r in range(self.rounds if live else 0):
                for p in live[r % len(live):] + live[:r % len(live)]:
                    p.go()
            for p in live:
                p.peak = int(p.ask("quit"))
        finally:
            for p in ps:
                p.end()
        if not live or live[0].name != OURS:
            return
        raw = self.raw["cases"][case] = {}
        for p in live:
            x = self.ratios[case, p.name] = ratio(live[0], p)
            note = f" ({peers[p.name]})" if p.name in peers else ""
            self.rows.append((case, p.name + note, p.version, f"{p.rate(2):,.0f}", f"{p.rate(1):,.0f}", f"{x:.2f}", f"{p.peak / 1e6:.0f}"))
            raw[p.name] = {"version": p.version, "images": p.rounds[0][0], "peak_bytes": p.peak, "wall_s": [r[1] for r in p.rounds],
                           "cpu_s": [r[2] for r in p.rounds], "ours_times_as_fast_cpu": x}

    def run(self):
        begin = time.monotonic()
        photos = photographs()
        try:
            self.install()
        except Failed as e:
            sys.exit(f"bench: {e}")
        # onnxruntime-extensions fails on gray files: it decodes them to one channel.
        folder, sizes, total, other = collect(photos, self.limit, components=(3,))
        images = (f"{len(sizes)} JPEG files, {sum(w * h for w, h in sizes) / 1e6:.1f} megapixels, {total / 1e6:.1f} MB"
                  + (f"; {other} other files left out" if other else ""))
        say(images)
        machine = self.machine() | {"core": self.core}
        for case in self.cases:
            say(f"{case} ...")
            try:
                self.compare(case, folder)
            except Failed as e:
                self.fail(f"{case}: {e}")
        for case, peer, want in GOALS:
            if case in self.cases:
                x = self.ratios.get((case, peer))
                text = f"{case} at least {want}x {peer}"
                self.at_least(text, want, x)
        self.save("bench-device.json", self.raw | {"machine": machine, "images": images, "rounds": self.rounds})
        table("case | library | version | images/s by CPU time | images/s by the clock | speed-up | peak MB", self.rows)
        return self.finish(machine, f"{images}. One core, one thread, {self.rounds} rounds in turn, medians", begin, "bench-device.json")


if __name__ == "__main__":
    try:
        sys.exit(Bench().run())
    except KeyboardInterrupt:
        sys.exit(130)
