"""Compares infer-prep with other libraries, in one run on one core.

Plain Python; the libraries are installed outside the checkout. README.md describes
the protocol; `make bench` runs this script. All settings are environment
variables: PHOTOS, PEERS, CASES, ROUNDS, LIMIT, CORE.
"""
import json
import math
import os
import random
import re
import statistics
import sys
import time

from common import BIN, GO, HERE, ONE_THREAD, OURS, WORK, Failed, Process, Run, build_go, chosen, collect, command, fresh, number, photographs, ratio, say, spawn, table


# The cases that decode photographs in another format, which formats.py writes.
FORMATS = ["png", "png-rgba", "png-palette", "png-gray", "png-16", "png-interlaced", "webp", "webp-lossless", "gif", "bmp", "bmp-32", "bmp-palette", "bmp-rle",
           "tiff-lzw", "tiff-deflate", "tiff-packbits", "tiff", "jpeg-progressive", "jpeg-restart", "jpeg-95", "jpeg-gray"]


class Peer:
    """A library. cases are the cases it supports; equal are the cases in which its
    bytes must equal ours; notes name the differences of a case."""

    def __init__(self, environment, program, cases, equal=(), notes={}, start=None, start_count=15):
        self.environment, self.program, self.cases = environment, program, cases.split()
        self.equal, self.notes, self.start, self.start_count = equal, notes, start, start_count


PEERS = {
    "opencv": Peer("base", "opencv.py", " ".join(["decode imagenet resize-bilinear encode encode-75", *FORMATS]), ["decode", "encode", "encode-75"],
                   {"imagenet": "without antialiasing", "resize-bilinear": "INTER_AREA"}, "opencv.py"),
    "pillow": Peer("base", "pillow.py", " ".join(["decode imagenet resize-bilinear resize-bicubic encode encode-75", *FORMATS]),
                   ["decode", "imagenet", "resize-bilinear", "resize-bicubic", "encode", "encode-75", *FORMATS], {}, "pillow.py"),
    "torchvision-pil": Peer("torchvision", "torchvision_pil.py", "imagenet train", ["imagenet", "train"], {}, "torchvision.py"),
    "torchvision-tensors": Peer("torchvision", "torchvision_tensors.py", "decode imagenet v2-tensors hf-default resize-u8-bilinear resize-u8-bicubic",
                                ["v2-tensors", "hf-default", "resize-u8-bilinear", "resize-u8-bicubic"]),
    "torchvision-planes": Peer("torchvision", "torchvision_planes.py", "resize-u8-bilinear resize-u8-bicubic", ["resize-u8-bilinear", "resize-u8-bicubic"],
                               {c: "CHW in memory" for c in ("resize-u8-bilinear", "resize-u8-bicubic")}),
    "transformers": Peer("torchvision", "transformers_default.py", "hf-default qwen2-vl llava-onevision internvl",
                         ["hf-default", "qwen2-vl", "llava-onevision", "internvl"]),
    "mindspore": Peer("mindspore", "mindspore_eager.py", "decode imagenet train", [],
                      {"imagenet": "eager, without antialiasing", "train": "eager, RandomCropDecodeResize with boxes of its own"}, "mindspore.py", 5),
    "dali": Peer("dali", "dali.py", "decode imagenet train"),
    "libvips": Peer("vips", "libvips.py", "decode resize-bilinear resize-bicubic"),
    "go-jpeg": Peer("go", "image/jpeg", "decode", [], {"decode": "to RGBA"}),
    "jpegli": Peer("go", "jpegli", "decode", [], {"decode": "to RGBA"}),
    "zune-jpeg": Peer("rust", "", "decode"),
    "fast-image-resize": Peer("rust", "", "resize-bilinear resize-bicubic"),
}
CASES = ["decode", "imagenet", "resize-bilinear", "resize-bicubic", "resize-u8-bilinear", "resize-u8-bicubic", "v2-tensors", "hf-default",
         "qwen2-vl", "llava-onevision", "internvl", "train", "encode", "encode-75", *FORMATS, "start", "linear"]
# The files of testdata/configs/hf of the cases that run image processors.
CONFIGS = {"hf-default": "clip-vit-base-patch32.json", "qwen2-vl": "qwen2-vl-2b-instruct.json", "llava-onevision": "llava-onevision-0.5b.json",
           "internvl": "internvl3-1b.json"}

# The goals: the least speed-up over each peer, in CPU time.
GOALS = [
    ("decode", "opencv", 1.25), ("decode", "pillow", 1.5),
    ("imagenet", "torchvision-tensors", 2), ("imagenet", "opencv", 1.7), ("imagenet", "pillow", 3), ("imagenet", "mindspore", 2.5),
    ("resize-bilinear", "pillow", 4), ("resize-bilinear", "fast-image-resize", 1),
    ("resize-bicubic", "pillow", 4), ("resize-bicubic", "fast-image-resize", 1),
    ("resize-u8-bilinear", "torchvision-tensors", 3), ("resize-u8-bicubic", "torchvision-tensors", 3),
    ("resize-u8-bilinear", "torchvision-planes", 3), ("resize-u8-bicubic", "torchvision-planes", 3),
    ("v2-tensors", "torchvision-tensors", 2.5), ("hf-default", "torchvision-tensors", 2.5), ("hf-default", "transformers", 2.5),
    ("qwen2-vl", "transformers", 3), ("llava-onevision", "transformers", 3), ("internvl", "transformers", 3),
    ("train", "mindspore", 1.5),
    ("encode", "opencv", 1.3), ("encode", "pillow", 1.3), ("encode-75", "opencv", 1.3), ("encode-75", "pillow", 1.3),
    *((c, p, 1.5 if c == "jpeg-progressive" else 1.3) for c in FORMATS for p in ("opencv", "pillow")),
]
STRETCH = {"fast-image-resize"}
# The stages of infer-prep's own time, by the functions that a profile names; the
# first that fits counts.
STAGES = [
    ("inflate, LZW", r"/inflate\.|/lzw\.|kernel\.(\(\*?Infl|infl|Infl|lzw|LZW)"),
    ("filters, predictors", r"png\.|tiff\.addLeft|kernel\.(png|PNG|sumRows|paeth|Paeth|average|Average)"),
    ("VP8, VP8L", r"/vp8l?\.|kernel\.(\(\*?VP8|vp8|VP8)"),
    ("entropy", r"kernel\.(huff|\(?\*?Huff)|indexbytebody|[uU]nstuff|[fF]indMarker|[qQ]uick|\.symbol$|\.receive$|segmentEnd|decodeSlow|\(\*reader\)|\(\*Encoder\)\.(flush|row)"),
    ("forward DCT", r"kernel\.(fdct|FDCT)"),
    ("downsampling", r"kernel\.[dD]ownsample"),
    ("IDCT", r"kernel\.(idct|IDCT)|\.transform$"),
    ("upsampling", r"[uU]psample"),
    ("colour", r"kernel\.(ycc|YCC|rgbToYCC|RGBToYCC)|interleave3"),
    ("resize", r"kernel\.(resample|\(\*Taps|\(\*rows4|Filter|bilinear|bicubic)|\(\*resampler\)|^math\."),
    ("normalise, layout, dtype", r"[lL]ookup|kernel\.(flip|Flip|Normalize|normalize|linear|\(\*Linear)"),
    ("all else", r""),
]
SPREAD = 1.5  # ns for a pixel at the worst size, over that at the best
PEAK_50MP = 40  # MB


def draw_boxes(sizes):
    """Boxes as torchvision's RandomResizedCrop draws them: 8 to 100 % of the area,
    3/4 to 4/3 wide, the same in every run; every second image is flipped."""
    r = random.Random(1)
    boxes = []
    for i, (w, h) in enumerate(sizes):
        for _ in range(10):
            area = w * h * r.uniform(0.08, 1)
            ratio = math.exp(r.uniform(math.log(3 / 4), math.log(4 / 3)))
            bw, bh = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < bw <= w and 0 < bh <= h:
                break
        else:
            bw, bh = min(w, max(1, round(h * 4 / 3))), min(h, max(1, round(w * 4 / 3)))
        boxes.append({"top": r.randint(0, h - bh), "left": r.randint(0, w - bw), "height": bh, "width": bw, "flip": i % 2 == 1})
    return boxes


class Bench(Run):
    def __init__(self):
        super().__init__()
        self.cases = chosen("CASES", CASES)
        self.peers = chosen("PEERS", list(PEERS))
        self.rounds = max(1, number("ROUNDS", 9))
        self.limit = number("LIMIT", 500)
        cores = sorted(os.sched_getaffinity(0))
        self.core = number("CORE", cores[-1])
        if self.core not in cores:
            sys.exit(f"bench: CORE={self.core}: want one of {cores}")
        self.rows, self.start_rows, self.linear_rows = [], [], []  # of the tables
        self.raw = {"cases": {}}
        self.ratios = {}
        self.budgets = {}  # by case: what each stage of ours takes

    def install(self):
        os.makedirs(WORK, exist_ok=True)
        for name, folder in (("infer-prep", "cmd/infer-prep"), ("ours", "bench/ours"), ("spawn", "bench/spawn")):
            build_go(name, folder)
        wanted = {PEERS[p].environment: [] for p in self.peers}
        for p in self.peers:
            wanted[PEERS[p].environment].append(p)
        if set(self.cases) & {"linear", *FORMATS}:
            wanted.setdefault("base", ["the images of linear and of other formats"])
        for p in self.install_environments(wanted):
            if p in PEERS:
                self.rows.append(("all", p, "cannot be installed", "", "", "", "", ""))
        self.peers = [p for p in self.peers if PEERS[p].environment in self.start_of]

    def program(self, name, case):
        if case in FORMATS:
            case = "decode"
        if name == OURS:
            return [os.path.join(BIN, "ours"), case]
        p = PEERS[name]
        begin = self.start_of[p.environment]
        if p.environment == "go":
            return [*begin, p.program, case]
        if p.environment == "rust":
            return [*begin, case]
        return [*begin, os.path.join(HERE, "peers", p.program), case]

    def measure(self, case, folder, names, extra=()):
        """Runs a case of some libraries round robin and returns their processes."""
        ps, live = [], []
        try:
            for n in names:
                ps.append(Process(n, case, [*self.program(n, case), folder, *extra], self.core, ONE_THREAD))
                try:
                    ps[-1].ready()
                    ps[-1].digest = ps[-1].ask("check")
                    live.append(ps[-1])
                except Failed as e:
                    self.fail(f"{case}: {n}: {e}")
                    self.rows.append((case, n, "failed", "", "", "", "", ""))
            for r in range(self.rounds if live else 0):
                for p in live[r % len(live):] + live[:r % len(live)]:
                    p.go()
            for p in live:
                p.peak = int(p.ask("quit"))
        finally:
            for p in ps:
                p.end()
        return live

    def compare(self, case, photos, boxes):
        names = [OURS] + [p for p in self.peers if case in PEERS[p].cases]
        extra = [boxes] if case == "train" else []
        if case in FORMATS:
            if "base" not in self.start_of:
                raise Failed("its images need Pillow, which cannot be installed")
            jpeg, photos = photos, fresh("format")
            command([*self.start_of["base"], os.path.join(HERE, "formats.py"), case, jpeg, photos])
        if case in CONFIGS:
            extra = [os.path.join(os.path.dirname(HERE), "testdata", "configs", "hf", CONFIGS[case])]
        live = self.measure(case, photos, names, extra)
        if not live or live[0].name != OURS:
            return
        ours = live[0]
        self.budgets[case] = self.stages(ours, case, photos, extra)
        raw = self.raw["cases"][case] = {}
        for p in live:
            peer = PEERS.get(p.name)
            same = p.digest == ours.digest
            if peer and case in peer.equal and not same:
                self.fail(f"{case}: {p.name}: its bytes are not ours: sha256 {p.digest}, want {ours.digest}")
            x = self.ratios[case, p.name] = ratio(ours, p)
            note = f" ({peer.notes[case]})" if peer and case in peer.notes else ""
            self.rows.append((case, p.name + note, p.version, f"{p.rate(2):,.0f}", f"{p.rate(1):,.0f}", f"{x:.2f}", f"{p.peak / 1e6:.0f}",
                              "" if p is ours else "ours" if same else "other"))
            raw[p.name] = {"version": p.version, "images": p.rounds[0][0], "sha256": p.digest, "peak_bytes": p.peak,
                           "wall_s": [r[1] for r in p.rounds], "cpu_s": [r[2] for r in p.rounds], "ours_times_as_fast_cpu": x}

    def stages(self, ours, case, photos, extra):
        """Microseconds an image that each stage takes, from a CPU profile of a process of its own."""
        profile = os.path.join(WORK, f"{case}.prof")
        p = Process(OURS, case, [*self.program(OURS, case), photos, *extra], self.core, ONE_THREAD)
        try:
            p.ready()
            p.ask("profile " + profile)
        finally:
            p.end()
        took = dict.fromkeys((s for s, _ in STAGES), 0.0)
        for line in command([GO, "tool", "pprof", "-top", "-unit=us", "-nodefraction=0", "-nodecount=100000", profile]).splitlines():
            m = re.match(r"\s*([\d.]+)(?:us)? +[\d.]+% +[\d.]+% +[\d.]+(?:us)? +[\d.]+% +(.*?)(?: \(inline\))?$", line)
            if m:
                took[next(s for s, fits in STAGES if re.search(fits, m[2]))] += float(m[1])
        return {s: t / sum(took.values()) * 1e6 / ours.rate(2) for s, t in took.items()}

    def run_ours(self, count, image):
        out = fresh("out")
        return spawn(self.core, ONE_THREAD, count, os.path.join(BIN, "infer-prep"), "run", "-q", "--preset", "imagenet", "-o", out, image)

    def start(self, photos):
        """From a process's start to its first tensor: for ours until the program
        has written the tensor and ended, for the others until they have it."""
        image = os.path.join(photos, "000000.jpg")
        peers = [p for p in self.peers if PEERS[p].start]
        self.run_ours(1, image)  # so that the file is in the system's cache, as the others' are
        ours = self.run_ours(15, image)
        runs = {OURS: [(end, peak) for _, end, _, peak in ours]}
        for p in peers:
            args = [*self.start_of[PEERS[p].environment], os.path.join(HERE, "start", PEERS[p].start), image]
            try:
                spawn(self.core, ONE_THREAD, 1, *args)
                runs[p] = [(first, peak) for first, _, _, peak in spawn(self.core, ONE_THREAD, PEERS[p].start_count, *args)]
            except Failed as e:
                self.fail(f"start: {p}: {e}")
                self.start_rows.append((p, "failed", "", ""))
        self.raw["start"] = {n: {"seconds": [t for t, _ in r], "peak_bytes": [b for _, b in r]} for n, r in runs.items()}
        ms = {n: 1e3 * statistics.median(t for t, _ in r) for n, r in runs.items()}
        mb = {n: statistics.median(b for _, b in r) / 1e6 for n, r in runs.items()}
        for n in runs:
            self.start_rows.append((n, f"{ms[n]:,.1f}", f"{ms[n] / ms[OURS]:.1f}", f"{mb[n]:.1f}"))
        self.goal("start: at most 5 ms", f"{ms[OURS]:.1f} ms", ms[OURS] <= 5)
        self.goal("start: at most 16 MB", f"{mb[OURS]:.1f} MB", mb[OURS] <= 16)
        for peer, part in (("pillow", 2), ("mindspore", 50)):
            if peer in runs:
                self.goal(f"start below 1/{part} of {peer}", f"{ms[OURS]:.1f} ms, 1/{ms[peer] / ms[OURS]:.1f}", ms[OURS] * part < ms[peer])
            else:
                self.goal(f"start below 1/{part} of {peer}")
        if "pillow" in runs:
            self.goal("start: peak memory below pillow", f"{mb[OURS]:.1f} MB, pillow {mb['pillow']:.1f} MB", mb[OURS] < mb["pillow"])
        else:
            self.goal("start: peak memory below pillow")

    def linear(self, photos):
        """Time and memory of images of 0.1 to 50 megapixels."""
        if "base" not in self.start_of:
            raise Failed("its images need Pillow, which cannot be installed")
        out = fresh("linear")
        lines = command([*self.start_of["base"], os.path.join(HERE, "mosaic.py"), photos, out]).splitlines()
        quality, sizes = int(lines[0]), []
        for l in lines[1:]:
            pixels, _, name = l.partition(" ")
            pixels = int(pixels)
            folder = fresh(f"linear-{pixels}")
            copies = max(1, min(200, 8_000_000 // pixels))  # a pass of about the same time
            for i in range(copies):
                os.symlink(name, os.path.join(folder, f"{i:03d}.jpg"))
            sizes.append((pixels, name, folder, copies))
        raw = self.raw["linear"] = {"quality": quality}
        peak = self.run_ours(3, sizes[-1][1])
        for case in "decode", "imagenet":
            ps = []
            try:
                for pixels, _, folder, _ in sizes:
                    ps.append(Process(OURS, f"linear-{case}-{pixels}", [*self.program(OURS, case), folder], self.core, ONE_THREAD))
                    ps[-1].ready()
                for _ in range(self.rounds):
                    for p in ps:
                        p.go()
                for p in ps:
                    p.peak = int(p.ask("quit"))
            finally:
                for p in ps:
                    p.end()
            ns = []
            for p, (pixels, name, _, copies) in zip(ps, sizes):
                ns.append(1e9 * statistics.median(r[2] for r in p.rounds) / copies / pixels)
                self.linear_rows.append((case, f"{pixels / 1e6:.1f}", f"{os.path.getsize(name) / 1e6:.2f}", f"{ns[-1]:.2f}", f"{p.peak / 1e6:.0f}"))
            raw[case] = {"pixels": [s[0] for s in sizes], "ns_per_pixel": ns, "peak_bytes": [p.peak for p in ps],
                         "rounds": [p.rounds for p in ps]}
            # The 224 x 224 output of imagenet costs the same for each image; 0.1 megapixels are but two pixels for each of its own.
            counted = ns if case == "decode" else ns[1:]
            smallest = sizes[len(ns) - len(counted)][0] / 1e6
            self.goal(f"{case}: ns/pixel from {smallest:.1f} to 50 megapixels within {SPREAD}x",
                      f"{max(counted) / min(counted):.2f}x ({min(counted):.2f} to {max(counted):.2f})", max(counted) / min(counted) <= SPREAD)
        mb = statistics.median(p[3] for p in peak) / 1e6
        raw["run_50mp_peak_bytes"] = [p[3] for p in peak]
        self.goal(f"infer-prep run --preset imagenet on 50 megapixels: peak below {PEAK_50MP} MB", f"{mb:.1f} MB", mb < PEAK_50MP)

    def run(self):
        begin = time.monotonic()
        photos = photographs()
        try:
            self.install()
        except Failed as e:
            sys.exit(f"bench: {e}")
        folder, sizes, total, other = collect(photos, self.limit)
        images = (f"{len(sizes)} JPEG files, {sum(w * h for w, h in sizes) / 1e6:.1f} megapixels, {total / 1e6:.1f} MB"
                  + (f"; {other} other files left out" if other else ""))
        say(images)
        boxes = os.path.join(WORK, "boxes.json")
        with open(boxes, "w") as f:
            json.dump(draw_boxes(sizes), f)
        machine = self.machine() | {"core": self.core}
        for case in self.cases:
            say(f"{case} ...")
            try:
                if case == "start":
                    self.start(folder)
                elif case == "linear":
                    self.linear(folder)
                else:
                    self.compare(case, folder, boxes)
            except Failed as e:
                self.fail(f"{case}: {e}")
            for _, peer, want in (g for g in GOALS if g[0] == case):
                text = f"{case} at least {want}x {peer}" + (" (stretch)" if peer in STRETCH else "")
                x = self.ratios.get((case, peer))
                self.at_least(text, want, x)
        self.save("bench.json", self.raw | {"stages_us": self.budgets, "machine": machine, "images": images, "rounds": self.rounds})
        self.report()
        return self.finish(machine, f"{images}. One core, one thread, {self.rounds} rounds in turn, medians", begin, "bench.json")

    def report(self):
        table("case | library | version | images/s by CPU time | images/s by the clock | speed-up | peak MB | bytes", self.rows)
        used = [s for s, _ in STAGES if any(b[s] >= 0.5 for b in self.budgets.values())]
        table("infer-prep's stages: us an image | in all | " + " | ".join(used),
              [(case, f"{sum(b.values()):,.0f}", *(f"{b[s]:,.0f}" for s in used)) for case, b in self.budgets.items()])
        table("start | ms to the first tensor | speed-up | peak MB", self.start_rows)
        table("infer-prep by size | megapixels | file MB | ns/pixel by CPU time | peak MB", self.linear_rows)


if __name__ == "__main__":
    try:
        sys.exit(Bench().run())
    except KeyboardInterrupt:
        sys.exit(130)
