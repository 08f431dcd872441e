"""Writes the goldens of fbank and dct, and the table of Kaldi's features in docs/exactness.md.

The rule double has the bits of transformers' audio_utils, or nearly of SciPy's dct. torchaudio.compliance.kaldi and
kaldi-native-fbank compute in float32, and differ from themselves. The script runs them on several paths: torch's kernels
for AVX2 and without, MKL's code for AMD, for Intel with AVX2 and for Intel with SSE4.2, two threads; kaldi-native-fbank
1.23.0 and 1.19.3, which have other Fourier transforms. The tolerance of a case is the largest difference between two of
these runs for the cases of its group.

Run with transformers 5.23.0, torch 2.15.0 and requirements-fbank.txt, a C compiler and Go, on an AMD processor with AVX2.
Another processor has other paths, and thus other bounds.
"""

import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import torch
from golden import Golden
from sound import sound

torch.version.cuda = None  # torchaudio's wheel is built for another one, which its import refuses
KNF_OTHER = "1.19.3"
SNIP = dict(sampling_rate=16000, frame_length=25, frame_shift=10, snip_edges=True, scale=32768, remove_dc=True, preemphasis=0.97, window="povey",
            power_of_two=True, mels=23, mel_low=20, mel_high=0, power=2, log=True, energy="none", raw_energy=True, energy_floor=0, rule="double")
DCT = dict(coefficients=13, ortho=True, lifter=0, lifter_from=0, energy=False, htk=False, frames_first=True, rule="double")
SOUNDS = {"speech": 4000, "noise": 2400, "clip": 4000, "sweep": 3000, "silence": 1000}
# The sounds of the table, which are longer.
LONG = {"speech": 160000, "noise": 160000, "clip": 160000, "sweep": 160000, "silence": 16000}
SETTINGS = {
    "80": dict(mels=80),
    "23 energy": dict(energy="first", energy_floor=1),
    "40 8000 Hz": dict(mels=40, sampling_rate=8000, mel_low=40, mel_high=-200, window="hamming"),
    "80 mirrored": dict(mels=80, snip_edges=False),
    "128 hann": dict(mels=128, window="hann", scale=1),
    "energy last": dict(energy="last", raw_energy=False, window="blackman", preemphasis=0),
    "power": dict(log=False, window="boxcar", remove_dc=False, scale=1),
    "amplitude": dict(log=False, power=1, frame_length=32, frame_shift=16),
}
MFCC = {
    "13": (dict(), dict(lifter=22)),
    "13 energy": (dict(energy="first"), dict(lifter=22, energy=True)),
    "40": (dict(mels=40, mel_high=-400), dict(coefficients=40)),
    "htk": (dict(), dict(lifter=22, htk=True)),
    "htk energy": (dict(energy="first", raw_energy=False), dict(coefficients=20, energy=True, htk=True)),
}


# The references. Each takes the parameters of fbank, those of dct or None, and the sound, and returns float32 (frames, values).


def torchaudio(p, d, x):
    import torch
    from torchaudio.compliance import kaldi

    windows = {"hann": "hanning", "boxcar": "rectangular"}
    options = dict(sample_frequency=float(p["sampling_rate"]), frame_length=float(p["frame_length"]), frame_shift=float(p["frame_shift"]),
                   snip_edges=p["snip_edges"], remove_dc_offset=p["remove_dc"], preemphasis_coefficient=p["preemphasis"],
                   window_type=windows.get(p["window"], p["window"]), round_to_power_of_two=p["power_of_two"], num_mel_bins=p["mels"],
                   low_freq=float(p["mel_low"]), high_freq=float(p["mel_high"]), use_energy=p["energy"] != "none", htk_compat=p["energy"] == "last",
                   raw_energy=p["raw_energy"], energy_floor=float(p["energy_floor"]))
    wave = torch.from_numpy(x * np.float32(p["scale"]))[None]
    if d:
        return kaldi.mfcc(wave, **options | dict(num_ceps=d["coefficients"], cepstral_lifter=float(d["lifter"]), use_energy=d["energy"], htk_compat=d["htk"])).numpy()
    return kaldi.fbank(wave, use_log_fbank=p["log"], use_power=p["power"] == 2, **options).numpy()


def knf(p, d, x):
    import kaldi_native_fbank

    windows = {"hann": "hanning", "boxcar": "rectangular"}
    o = kaldi_native_fbank.MfccOptions() if d else kaldi_native_fbank.FbankOptions()
    f = o.frame_opts
    f.dither, f.samp_freq, f.frame_length_ms, f.frame_shift_ms = 0, p["sampling_rate"], p["frame_length"], p["frame_shift"]
    f.snip_edges, f.remove_dc_offset, f.preemph_coeff, f.round_to_power_of_two = p["snip_edges"], p["remove_dc"], p["preemphasis"], p["power_of_two"]
    f.window_type = windows.get(p["window"], p["window"])
    o.mel_opts.num_bins, o.mel_opts.low_freq, o.mel_opts.high_freq = p["mels"], p["mel_low"], p["mel_high"]
    o.raw_energy, o.energy_floor = p["raw_energy"], p["energy_floor"]
    if d:
        o.num_ceps, o.cepstral_lifter, o.use_energy, o.htk_compat = d["coefficients"], d["lifter"], d["energy"], d["htk"]
        e = kaldi_native_fbank.OnlineMfcc(o)
    else:
        o.use_energy, o.htk_compat = p["energy"] != "none", p["energy"] == "last"
        o.use_log_fbank, o.use_power = p["log"], p["power"] == 2
        e = kaldi_native_fbank.OnlineFbank(o)
    e.accept_waveform(p["sampling_rate"], (x * np.float32(p["scale"])).tolist())
    e.input_finished()
    return np.array([e.get_frame(i) for i in range(e.num_frames_ready)], np.float32)


def exact(p, d, x):
    """The float64 rule: audio_utils of transformers, with the energy and SciPy's transform beside it."""
    from transformers import audio_utils

    rate = p["sampling_rate"]
    size, hop = int(rate * 0.001 * p["frame_length"]), int(rate * 0.001 * p["frame_shift"])
    x = x * np.float32(p["scale"])
    frames = 1 + (len(x) - size) // hop
    if not p["snip_edges"]:
        frames = (len(x) + hop // 2) // hop
        left = size // 2 - hop // 2
        x = np.pad(x, (left, max(0, (frames - 1) * hop + size - left - len(x))), mode="symmetric")[:(frames - 1) * hop + size]
    n = 1 << (size - 1).bit_length() if p["power_of_two"] else size
    high = p["mel_high"] if p["mel_high"] > 0 else rate / 2 + p["mel_high"]
    window = np.blackman(size) if p["window"] == "blackman" else audio_utils.window_function(size, p["window"], periodic=False)
    mels = audio_utils.mel_filter_bank(n // 2 + 1, p["mels"], p["mel_low"], high, rate, norm=None, mel_scale="kaldi", triangularize_in_mel_space=True)
    y = audio_utils.spectrogram(x, window, size, hop, n, float(p["power"]), center=False, preemphasis=p["preemphasis"] or None, mel_filters=mels,
                                mel_floor=2.0**-23 if p["log"] else 0.0, log_mel="log" if p["log"] else None, remove_dc_offset=p["remove_dc"]).T
    y = np.ascontiguousarray(y, np.float32)
    if p["energy"] != "none":
        f = np.stack([x[i * hop:i * hop + size] for i in range(frames)]).astype(np.float64)
        if p["remove_dc"]:
            f -= f.mean(axis=1, keepdims=True)
        if not p["raw_energy"]:
            f[:, 1:] -= p["preemphasis"] * f[:, :-1].copy()
            f[:, 0] *= 1 - p["preemphasis"]
            f *= window
        e = np.log(np.maximum((f * f).sum(axis=1), 2.0**-23))
        if p["energy_floor"]:
            e = np.maximum(e, np.log(p["energy_floor"]))
        e = e.astype(np.float32)[:, None]
        y = np.concatenate([e, y] if p["energy"] == "first" else [y, e], axis=1)
    if not d:
        return y
    return cepstrum(d, y)


def cepstrum(d, y):
    from scipy.fft import dct

    if not d["frames_first"]:
        return np.ascontiguousarray(cepstrum(d | dict(frames_first=True), y.T).T)
    bands = y[:, 1:] if d["energy"] else y
    c = dct(bands.astype(np.float64), type=2, norm="ortho" if d["ortho"] else None, axis=1)[:, :d["coefficients"]]
    if d["lifter"]:
        c = c * (1 + d["lifter"] / 2 * np.sin(np.pi * (np.arange(d["coefficients"]) + d["lifter_from"]) / d["lifter"]))
    if d["energy"]:
        c[:, 0] = y[:, 0]
    if d["htk"]:
        first = c[:, 0] if d["energy"] else c[:, 0] * np.sqrt(2)
        c = np.concatenate([c[:, 1:], first[:, None]], axis=1)
    return np.ascontiguousarray(c.astype(np.float32))


REFERENCES = {"torchaudio": torchaudio, "knf": knf, "exact": exact}


def known(reference, name, p):
    """Whether a reference has the setting."""
    return reference != "knf" or p["mels"] < 128  # it refuses filters without a frequency


def cases():
    """Yields row, name, parameters of fbank and of dct, kind and number of samples.

    row is empty for a golden, "table" for a row of the table, and "long" for what only counts for bounds.
    """
    for table, sounds in ((False, SOUNDS), (True, LONG)):
        for name, change in SETTINGS.items():
            for kind, n in sounds.items():
                yield (("table" if name in ("80", "128 hann") else "long") if table else "", f"{name} {kind}", SNIP | change, None, kind, n)
        for name, (change, dct) in MFCC.items():
            for kind, n in sounds.items():
                yield (("table" if name == "13" else "long") if table else "", f"mfcc {name} {kind}", SNIP | change, DCT | dct, kind, n)


def worker(reference, file):
    """Writes a reference's outputs, in the order of cases."""
    if reference == "torchaudio":
        torch.set_num_threads(int(os.environ.get("THREADS", "1")))
    out = {}
    for i, (_, name, p, d, kind, n) in enumerate(cases()):
        if known(reference, name, p):
            out[str(i)] = REFERENCES[reference](p, d, sound(kind, n))
    np.savez(file, **out)


# A library that says that the processor is Intel's, for MKL.
INTEL = "int mkl_serv_intel_cpu_true(void) { return 1; }\nint mkl_serv_intel_cpu(void) { return 1; }\n"
PATHS = {
    "torchaudio": [{}, {"ATEN_CPU_CAPABILITY": "default"}, {"INTEL": "1"}, {"INTEL": "1", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
                   {"INTEL": "1", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "ATEN_CPU_CAPABILITY": "default"}, {"THREADS": "2"}],
    "knf": [{}, {"KNF": KNF_OTHER}],
    "exact": [{}],
}


def runs(reference, folder):
    """Runs a reference on its paths and returns the outputs of each."""
    results = []
    for i, path in enumerate(PATHS[reference]):
        env = os.environ | path
        if "KNF" in path:
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", f"{folder}/knf",
                            f"kaldi-native-fbank=={path['KNF']}"], check=True)
            env["PYTHONPATH"] = f"{folder}/knf:{env['PYTHONPATH']}"
        if "INTEL" in path:
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", f"{folder}/intel.so"], input=INTEL, text=True, check=True)
            env["LD_PRELOAD"] = f"{folder}/intel.so"
        file = f"{folder}/{reference}-{i}.npz"
        if not os.path.exists(file):
            subprocess.run([sys.executable, __file__, reference, file], check=True, env=env)
        with np.load(file) as f:
            results.append({int(k): f[k] for k in f})
    return results


def apart(results, i):
    """The differences between each two runs of a case."""
    return [np.abs(a[i].astype(np.float64) - b[i]) for a, b in itertools.combinations([r for r in results if i in r], 2)]


RULES = {"torchaudio": "torchaudio", "knf": "kaldi"}
LABELS = {"torchaudio": "torchaudio 2.11.0 on other paths of the processor", "knf": f"kaldi-native-fbank 1.23.0 and {KNF_OTHER}"}


def group(reference, name):
    """The cases with one bound: logarithms, cepstra, and each setting of other units; sweeps, whose small values are noise, apart."""
    setting, kind = name.rsplit(" ", 1)
    unit = "mfcc" if setting.startswith("mfcc") else setting if setting in ("power", "amplitude") else "ln"
    return reference, unit, kind == "sweep"


def goldens(results):
    every = list(cases())
    bound = {}
    for reference in RULES:
        for i, (_, name, *_) in enumerate(every):
            if i in results[reference][0]:
                key = group(reference, name)
                bound[key] = max([bound.get(key, 0), *(float(d.max()) for d in apart(results[reference], i))])

    def bounded(g, reference, name):
        g.cases[-1] |= {"tolerance": bound[group(reference, name)], "reason": "the largest difference between " + LABELS[reference]}

    g = Golden("fbank", "transformers 5.23.0, torchaudio 2.11.0, kaldi-native-fbank 1.23.0")
    for i, (row, name, p, d, kind, n) in enumerate(every):
        if row or d:
            continue
        x = sound(kind, n)
        g.case(name, p, x, results["exact"][0][i], "none")
        for reference, rule in RULES.items():
            if i in results[reference][0]:
                g.case(f"{reference} {name}", p | {"rule": rule}, x, results[reference][0][i], "none")
                bounded(g, reference, name)
    x = sound("noise", 2000)
    p = SNIP | dict(mels=40, power_of_two=False)
    g.case("400", p, x, exact(p, None, x), "none")
    g.write()

    g = Golden("dct", "SciPy 1.16.3, torchaudio 2.11.0, kaldi-native-fbank 1.23.0")
    for i, (row, name, p, d, kind, n) in enumerate(every):
        if row or not d:
            continue
        for reference, rule in RULES.items():
            # The input is the reference's own; its mfcc computes it first.
            y = REFERENCES[reference](p, None, sound(kind, n))
            g.case(f"{reference} {name}", d | {"rule": rule}, y, results[reference][0][i], "none")
            bounded(g, reference, name)
        y = results["exact"][0][0] if kind == "silence" else exact(p, None, sound(kind, n))
        g.case(name, d, y, cepstrum(d, y), "none")
    for change in (dict(frames_first=False), dict(ortho=False), dict(ortho=False, coefficients=20, lifter=10, lifter_from=1), dict(coefficients=20, lifter=22, lifter_from=1, frames_first=False)):
        d = DCT | change
        y = results["exact"][0][1]
        y = y if d["frames_first"] else np.ascontiguousarray(y.T)
        g.case(str(change), d, y, cepstrum(d, y), "none")
    g.write()


def step(op, **params):
    return {"op": op, "version": 1, "params": params}


def ours(p, d, x, folder):
    """What the program returns for a sound of whole numbers."""
    import wave

    with wave.open(f"{folder}/x.wav", "wb") as f:
        f.setnchannels(1)
        f.setsampwidth(2)
        f.setframerate(p["sampling_rate"])
        f.writeframes((x * 32768).astype("<i2").tobytes())
    steps = [step("decode_sound", sampling_rate=p["sampling_rate"]), step("mix_mono"), step("fbank", **p)] + ([step("dct", **d)] if d else [])
    columns = ["image"] + [f"c{i}" for i in range(len(steps))]
    graph = {"infer_prep_graph": 1, "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}], "outputs": columns[-1:],
             "steps": [s | {"in": [columns[i]], "out": [columns[i + 1]]} for i, s in enumerate(steps)]}
    pathlib.Path(f"{folder}/g.json").write_text(json.dumps(graph))
    subprocess.run([f"{folder}/infer-prep", "run", "--graph", f"{folder}/g.json", f"{folder}/x.wav", "-o", f"{folder}/y"], check=True, stdout=subprocess.DEVNULL)
    y = np.load(next(pathlib.Path(f"{folder}/y").rglob("*.npy")))
    shutil.rmtree(f"{folder}/y")
    return y[0] if y.ndim == 3 else y


def table(results, folder):
    """Writes the table of distances to docs/exactness.md."""
    root = pathlib.Path(__file__).resolve().parents[3]
    subprocess.run(["go", "build", "-o", f"{folder}/infer-prep", "./cmd/infer-prep"], cwd=root, check=True)
    two = lambda d: f"{np.quantile(d, 0.99):.1e}, {d.max():.1e}"
    rows, every = [], list(cases())
    for i, (row, name, p, d, kind, n) in enumerate(every):
        if row != "table":
            continue
        for reference, rule in RULES.items():
            if i not in results[reference][0]:
                continue
            y = ours(p | {"rule": rule}, d and d | {"rule": rule}, sound(kind, n), folder)
            to = [np.abs(y.astype(np.float64) - r[i]) for r in results[reference]]
            own = apart(results[reference], i)
            worst = lambda l: f"{max(np.quantile(d, 0.99) for d in l):.1e}, {max(d.max() for d in l):.1e}"
            best = min(to, key=lambda d: d.max())
            rows.append(f"| {name} | {reference} | {two(to[0])} | {two(best)} | {worst(own)} |")
            print(rows[-1])
    doc = root / "docs" / "exactness.md"
    text = doc.read_text()
    head, tail = text.index("| Kaldi's features |"), text.index("<!-- fbank -->")
    lines = text[head:tail].splitlines()[:2]
    doc.write_text(text[:head] + "\n".join(lines + rows) + "\n\n" + text[tail:])


if __name__ == "__main__" and len(sys.argv) > 1:
    worker(sys.argv[1], sys.argv[2])
elif __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        # RUNS=DIR keeps the references' outputs, and uses those that are there.
        kept = os.environ.get("RUNS", folder)
        results = {name: runs(name, kept) for name in REFERENCES}
        goldens(results)
        table(results, folder)
