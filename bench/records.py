"""Compares infer-prep's readers of record files with those of other libraries, in one run
on one core.

Plain Python; what the libraries need is installed outside the checkout. See
README.md for the protocol, and `make bench-records`. All settings are variables of the
environment: PEERS, CASES, ROUNDS, CORE.
"""
import json
import os
import sys
import time

from common import BIN, HERE, ONE_THREAD, OURS, WORK, Failed, Process, Run, build_go, chosen, command, fresh, number, ratio, say, table

LARGE, SMALL = (107_000, 2_500), (3_000, 20_000)  # bytes of a record, and how many
# By case: the file, its records, whether every byte of what is handed out is read, and the library.
CASES = {
    "recordio-107k": ("107k.rec", LARGE, "hand", "mxnet"),
    "recordio-3k": ("3k.rec", SMALL, "hand", "mxnet"),
    "shards-107k": ("107k.tar", LARGE, "hand", "webdataset"),
    "shards-3k": ("3k.tar", SMALL, "hand", "webdataset"),
    "shards-107k-read": ("107k.tar", LARGE, "read", "webdataset"),
    "shards-3k-read": ("3k.tar", SMALL, "read", "webdataset"),
}
# By library: the environment and the program.
PEERS = {"mxnet": ("mxnet", "mxnet_read.py"), "webdataset": ("webdataset", "webdataset_read.py")}
GOALS = [("recordio-107k", 1), ("recordio-3k", 1), ("shards-107k", 20), ("shards-3k", 20)]


class Bench(Run):
    def __init__(self):
        super().__init__()
        self.cases = chosen("CASES", list(CASES))
        self.peers = chosen("PEERS", list(PEERS))
        self.rounds = max(1, number("ROUNDS", 9))
        cores = sorted(os.sched_getaffinity(0))
        self.core = number("CORE", cores[-1])
        if self.core not in cores:
            sys.exit(f"bench: CORE={self.core}: want one of {cores}")
        self.rows, self.ratios, self.raw = [], {}, {"cases": {}}

    def install(self):
        os.makedirs(WORK, exist_ok=True)
        self.ours = build_go("records-ours", "bench/records/ours")
        wanted = {}
        for p in self.peers:
            wanted.setdefault(PEERS[p][0], []).append(p)
        without = set(self.install_environments(wanted))
        self.rows += [("all", p, "cannot be installed", "", "", "", "") for p in self.peers if p in without]
        self.peers = [p for p in self.peers if p not in without]
        self.folder = fresh("records")
        for name, (size, count) in {CASES[c][0]: CASES[c][1] for c in self.cases}.items():
            command([self.ours, "make", os.path.join(self.folder, name), str(size), str(count)])

    def compare(self, case):
        file, (size, count), mode, peer = CASES[case]
        begin = {OURS: [self.ours]}
        if peer in self.peers:
            begin[peer] = [*self.start_of[PEERS[peer][0]], os.path.join(HERE, "records", PEERS[peer][1])]
        ps, live = [], []
        try:
            for n, args in begin.items():
                ps.append(Process(n, case, [*args, mode, os.path.join(self.folder, file)], self.core, ONE_THREAD))
                try:
                    ps[-1].ready()
                    ps[-1].digest = ps[-1].ask("check")
                    if ps[-1].digest != ps[0].digest:
                        raise Failed("its bytes are not ours")
                    live.append(ps[-1])
                except Failed as e:
                    self.fail(f"{case}: {n}: {e}")
                    self.rows.append((case, n, "failed", "", "", "", ""))
            for r in range(self.rounds if live else 0):
                for p in live[r % len(live):] + live[:r % len(live)]:
                    p.go()
        finally:
            for p in ps:
                p.end()
        if not live or live[0].name != OURS:
            return
        raw = self.raw["cases"][case] = {}
        for p in live:
            x = self.ratios[case, p.name] = ratio(live[0], p)
            if p.rounds[0][0] != count:
                self.fail(f"{case}: {p.name}: {p.rounds[0][0]} records, want {count}")
            self.rows.append((case, p.name, p.version, f"{p.rate(2):,.0f}", f"{p.rate(2) * size / 1e9:.2f}", f"{p.rate(1) * size / 1e9:.2f}", f"{x:.2f}"))
            raw[p.name] = {"version": p.version, "records": p.rounds[0][0], "bytes": size, "wall_s": [r[1] for r in p.rounds],
                           "cpu_s": [r[2] for r in p.rounds], "ours_times_as_fast_cpu": x}

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
                self.compare(case)
            except Failed as e:
                self.fail(f"{case}: {e}")
        for case, want in GOALS:
            if case in self.cases:
                peer = CASES[case][3]
                x = self.ratios.get((case, peer))
                text = f"{case} at least {want}x {peer}"
                self.goal(text, f"{x:.2f}x", x >= want) if x else self.goal(text)
        self.raw |= {"machine": machine, "rounds": self.rounds, "goals": self.goals, "errors": self.errors}
        with open(os.path.join(BIN, "bench-records.json"), "w") as f:
            json.dump(self.raw, f, indent=1)
        table("case | library | version | records/s by CPU time | GB/s by CPU time | GB/s by the clock | ours is so many times as fast", self.rows)
        say(f"\nCommit {machine['commit']}. One core, one thread, {self.rounds} rounds in turn, medians; the files are in the system's cache. {machine['cpu']}, "
            f"{machine['cores']} cores, Linux {machine['kernel']}, {machine['go']}, Python {machine['python']}; load {machine['load']:.2f} at the start. "
            f"{(time.monotonic() - begin) / 60:.1f} minutes. Raw numbers: bin/bench-records.json")
        self.finish()
        return 1 if self.errors else 0


if __name__ == "__main__":
    try:
        sys.exit(Bench().run())
    except KeyboardInterrupt:
        sys.exit(130)
