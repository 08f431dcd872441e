"""Makes the pack, runs all engines of the folder engines on it, and writes docs/conformance.md and docs/conformance.svg.

    report.py [NAME…]

Names of engines leave the others as their last reports say, which are below bin/conformance. Environments lie outside
the checkout, as those of parity and bench do. `make conformance` runs this.
"""

import collections
import datetime
import hashlib
import html
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
OUT = ROOT / "bin" / "conformance"
PACK = ROOT / "bin" / "conformance.tar.gz"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "infer-prep"
GO = os.environ.get("GO") or "go"
JS = "@huggingface/transformers@4.3.2"

# The mark of blocks that the tests of the docs leave out.
NOT_RUN = "*Not run by the tests: it makes the pack with all references, and installs the engine.*"
GOLDENS = ["testdata/gen/requirements.txt", "parity/requirements-no-deps.txt"]
# The engine's file, the requirements of its environment, variables, and whether the references of the pack are its own.
ENGINES = {
    "infer-prep": ("infer_prep.py", ["conformance/engines/requirements-kornia.txt"], {}, False),
    "transformers-torchvision": ("transformers_.py", GOLDENS, {"BACKEND": "torchvision"}, True),
    "transformers-pil": ("transformers_.py", GOLDENS, {"BACKEND": "pil"}, True),
    "pillow": ("pillow_.py", GOLDENS, {}, True),
    "pillow-simd": ("pillow_.py", ["conformance/engines/requirements-pillow-simd.txt"], {"NAME": "Pillow-SIMD"}, False),
    "torchvision": ("torchvision_.py", GOLDENS, {}, True),
    "opencv": ("opencv_.py", GOLDENS, {}, True),
    "torchcodec": ("torchcodec_.py", GOLDENS, {}, False),
    "onnxruntime": ("ort_.py", ["bench/requirements-ort.txt"], {}, False),
    "openvino": ("openvino_.py", ["conformance/engines/requirements-openvino.txt"], {}, False),
    "openvino-genai": ("openvino_genai_.py", GOLDENS, {}, False),
    "openvino-genai-cpp": ("openvino_genai_.py", GOLDENS, {"VISION_PREPROCESS": "CPP"}, False),
    "mindspore": ("mindspore_.py", ["testdata/gen/requirements-mindspore.txt"], {}, False),
    "mxnet": ("mxnet_.py", ["testdata/gen/requirements-mxnet.txt"], {}, False),
    "libvips": ("vips_.py", ["bench/requirements-vips.txt"], {}, False),
    "jax": ("jax_.py", ["testdata/gen/requirements-keras.txt"], {}, False),
    "tensorflow": ("tensorflow_.py", ["conformance/engines/requirements-tensorflow.txt"], {}, False),
    "kornia-rs": ("kornia_.py", ["conformance/engines/requirements-kornia.txt"], {}, False),
    "rust": ("rust_.py", ["conformance/engines/requirements-openvino.txt"], {}, False),
    "go": ("goimage", None, {}, False),
    "mlx-vlm": ("mlx_.py", GOLDENS, {}, False),
    "transformers-js": ("transformers_js.mjs", None, {}, False),
}
# Small packages beside an environment of 6 GB.
GENAI = "conformance/engines/requirements-openvino-genai.txt"
BESIDE = {
    "torchcodec": "testdata/gen/requirements-torchcodec.txt", "mlx-vlm": "conformance/engines/requirements-mlx.txt",
    "openvino-genai": GENAI, "openvino-genai-cpp": GENAI,
}


# Engines that the table lacks, and why.
ABSENT = (
    "Not in the table: llama.cpp, whose public functions return no preprocessed image (llama-cpp-python 0.3.36, which PyPI has as source only; the function that prints one is "
    "internal); vLLM and SGLang, which call transformers' processors; DALI, whose environment has another gigabyte."
)


def command(*args, **kw):
    return subprocess.run(list(map(str, args)), check=True, stdout=subprocess.PIPE, text=True, **kw).stdout


def python(requirements):
    return command(ROOT / "parity" / "venv.sh", *(ROOT / r for r in requirements)).strip().splitlines()[-1]


def build(package):
    command(GO, "build", "-o", ROOT / "bin" / package.rsplit("/", 1)[-1], "./" + package, cwd=ROOT)


def start(name):
    """How an engine starts, after what it needs is installed: (command, variables)."""
    file, requirements, variables, _ = ENGINES[name]
    env = dict(variables)
    if name == "infer-prep":
        build("cmd/infer-prep")
        build("conformance/engines/sampling")
        env["INFER_PREP_SAMPLING"] = str(ROOT / "bin" / "sampling")
    if name in BESIDE:
        file = ROOT / BESIDE[name]
        more = CACHE / "conformance" / f"{file.stem}-{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}"
        if not (more / "done").exists():
            command(python(GOLDENS), "-m", "pip", "install", "-q", "--no-deps", "--target", more, "-r", file)
            (more / "done").touch()
        env["PYTHONPATH"] = str(more)
        file = ENGINES[name][0]
    if name == "rust":
        target = CACHE / "conformance" / "rust"
        command("cargo", "build", "--release", "--locked", "--quiet", cwd=HERE / "engines" / "rust", env=os.environ | {"CARGO_TARGET_DIR": str(target)})
        env["CONFORMANCE_RUST"] = str(target / "release" / "conformance-rust")
    if name == "go":
        build("conformance/engines/goimage")
        return [str(ROOT / "bin" / "goimage")], env
    if name == "transformers-js":
        folder = CACHE / "conformance" / "js"
        if not (folder / "node_modules" / "@huggingface" / "transformers").exists():
            folder.mkdir(parents=True, exist_ok=True)
            # Without scripts: that of onnxruntime-node loads CUDA's libraries.
            command("npm", "install", "--ignore-scripts", "--silent", "--prefix", folder, JS)
        return ["node", str(HERE / "engines" / file)], env | {"CONFORMANCE_JS": str(folder)}
    return [python(requirements), str(HERE / "engines" / file)], env


def cell(counts):
    """exact / tolerance / within 1 / failed, and how many are not supported."""
    done = [counts.get(l, 0) for l in ("exact", "tolerance", "within 1", "failed")]
    if not sum(done):
        return "–"
    text = "all " + str(done[0]) if done[0] == sum(done) else " / ".join(map(str, done))
    return text + (f" ({counts['not supported']})" if counts.get("not supported") else "")


def document(reports, run):
    """docs/conformance.md and docs/conformance.svg of the reports by name."""
    first = next(iter(reports.values()))
    areas = list(dict.fromkeys(r["area"] for r in first["results"]))
    areas.sort(key=lambda a: a if a.startswith("decode") else "e")  # the usual files first
    digest = hashlib.sha256(PACK.read_bytes()).hexdigest()
    cpu = next((l.split(":")[1].strip() for l in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if l.startswith("model name")), "unknown")
    refs = ", ".join(f"{k} {v}" for k, v in first["references"].items())
    paragraphs = [
        f"`make conformance` wrote this page on {datetime.date.today()}, on {cpu}. The pack has {len(first['results']):,} cases and {PACK.stat().st_size / 1e6:.1f} MB; "
        f"its SHA-256 is `{digest}`. Its outputs are those of {refs}. [conformance/README.md](../conformance/README.md) describes the pack, its tasks and its levels, and how to "
        "check another engine.",
        "A cell counts the cases that are exact / within the float tolerance / within 1 of 255 / failed, and in parentheses those that are not supported: the engine has no documented "
        "setting for them, or refuses the file. \"all N\" means that all N supported cases are exact. – means that the engine supports no case. Engines marked * are the source of a "
        "part of the pack, and in the rest answer the tasks of other libraries.",
        "The table says how far an engine's documented settings are from the references, not how good its pixels are. Many engines claim no equality; some decoders choose speed. "
        "The inputs are infer-prep's test files, which infer-prep is tested with; rare forms of files are apart for that reason.",
        ABSENT,
        "![the engines' levels by area](conformance.svg)",
    ]
    lines = ["# Conformance of engines", ""]
    for p in paragraphs:
        lines += [textwrap.fill(p, 99, break_long_words=False, break_on_hyphens=False), ""]
    lines += ["| engine | " + " | ".join(areas) + " |", "|---|" + "---|" * len(areas)]
    for name, r in reports.items():
        counts = run.table(r["results"], "area")
        lines.append(f"| {r['engine']}{' *' if ENGINES[name][3] else ''} | " + " | ".join(cell(counts[a]) for a in areas) + " |")
    lines += ["", "## What differs", "", "The settings of each engine, and the likely causes of its failures by number of cases.", ""]
    for name, r in reports.items():
        lines += [f"### {r['engine']}", "", textwrap.fill(f"Settings: {r['settings']}.", 99, break_long_words=False, break_on_hyphens=False), "", NOT_RUN, "", "```sh", f"python3 conformance/report.py {name}", "```", ""]
        causes = collections.Counter()
        for x in r["results"]:
            if x["level"] == "failed":
                cause = x["note"].split("the likely cause: ")[-1].removeprefix("error: ")
                causes[x["area"], re.sub(r"/[\w.+-]+/\S+", "…", cause)[:120]] += 1  # without paths
        if causes:
            lines += ["| area | likely cause | cases |", "|---|---|---|"]
            rest = sum(n for _, n in causes.most_common()[8:])
            lines += [f"| {a} | {html.escape(c, quote=False).replace('|', '/')} | {n} |" for (a, c), n in causes.most_common(8)]
            lines += [f"| | others | {rest} |"] if rest else []
        else:
            lines.append("No case failed.")
        lines.append("")
    (ROOT / "docs" / "conformance.md").write_text("\n".join(lines).rstrip() + "\n")
    groups = {a: {r["engine"]: run.table(r["results"], "area")[a] for r in reports.values() if any(x["area"] == a and x["level"] != "not supported" for x in r["results"])} for a in areas}
    (ROOT / "docs" / "conformance.svg").write_text(run.picture("Preprocessing conformance of engines", groups))


def main(names):
    for n in names:
        if n not in ENGINES:
            sys.exit(f"report.py: {n}: want some of {', '.join(ENGINES)}")
    OUT.mkdir(parents=True, exist_ok=True)
    own = python(["conformance/engines/requirements-kornia.txt"])  # NumPy for the runner
    if not names or not PACK.exists():
        command(python(GOLDENS), HERE / "make.py", PACK)
    failed = []
    for n in names or ENGINES:
        try:
            args, env = start(n)
        except (OSError, subprocess.CalledProcessError) as e:
            print(f"{n}: cannot be installed: {e}", flush=True)
            failed.append(n)
            continue
        print(f"== {n}", flush=True)
        base = OUT / n
        r = subprocess.run([own, HERE / "run.py", PACK, "--engine", shlex.join(args), "--json", f"{base}.json", "--svg", f"{base}.svg", "--badge", f"{base}-badge.svg"],
                           env=os.environ | env, cwd=OUT)  # MindSpore writes a picture there if it cannot decode one
        if r.returncode not in (0, 1):
            failed.append(n)
    subprocess.run([own, __file__, "--page"], check=True)
    if failed:
        sys.exit(f"report.py: no reports of {', '.join(failed)}")
    ours = json.loads((OUT / "infer-prep.json").read_text())
    if any(x["level"] not in ("exact", "not supported") for x in ours["results"]):
        sys.exit("report.py: infer-prep is not exact everywhere: see bin/conformance/infer-prep.json")


def page():
    """Writes the page of the last reports; the runner's functions need NumPy."""
    sys.path.insert(0, str(HERE))
    import run

    document({n: json.loads((OUT / f"{n}.json").read_text()) for n in ENGINES if (OUT / f"{n}.json").exists()}, run)


if __name__ == "__main__":
    page() if sys.argv[1:] == ["--page"] else main(sys.argv[1:])
