"""Writes the goldens of fbank and dct, and the distances of Kaldi's features in docs/exactness.md.

The float64 rule is that of transformers' audio_utils: goldens of it have no tolerance. torchaudio.compliance.kaldi and
kaldi-native-fbank compute in float32, and differ from themselves. The script runs them on several paths of the
processor: torch's kernels for AVX2 and without, MKL's conditional code branches, two threads; kaldi-native-fbank 1.23.0
and 1.19.3, which have other Fourier transforms. A case's tolerance is the largest difference between two of the
reference's own outputs for any case of its table's row, and our difference must be within it.

Run with transformers 5.23.0, torch 2.15.0 and requirements-fbank.txt, on x86-64 with AVX2. Other processors have other
paths, and thus other bounds.
"""

import os
import pathlib
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
            power_of_two=True, mels=23, mel_low=20, mel_high=0, power=2, log=True, energy="none", raw_energy=True, energy_floor=0)
DCT = dict(coefficients=13, ortho=True, lifter=0, lifter_from=0, energy=False, htk=False, frames_first=True)
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
    """Yields row, name, parameters of fbank and of dct, kind and number of samples."""
    for table, sounds in ((False, SOUNDS), (True, LONG)):
        for name, change in SETTINGS.items():
            for kind, n in sounds.items():
                if not table or name in ("80",):
                    yield ("fbank" if table else "", f"{name} {kind}", SNIP | change, None, kind, n)
        for name, (change, dct) in MFCC.items():
            for kind, n in sounds.items():
                if not table or name in ("13",):
                    yield ("mfcc" if table else "", f"mfcc {name} {kind}", SNIP | change, DCT | dct, kind, n)


def worker(reference, file):
    """Writes a reference's outputs, in the order of cases."""
    if reference == "torchaudio":
        torch.set_num_threads(int(os.environ.get("THREADS", "1")))
    out = {}
    for i, (_, name, p, d, kind, n) in enumerate(cases()):
        if known(reference, name, p):
            out[str(i)] = REFERENCES[reference](p, d, sound(kind, n))
    np.savez(file, **out)


PATHS = {
    "torchaudio": [{}, {"ATEN_CPU_CAPABILITY": "default"}, {"MKL_CBWR": "COMPATIBLE"}, {"MKL_CBWR": "SSE4_2"}, {"MKL_CBWR": "AVX2"},
                   {"MKL_CBWR": "COMPATIBLE", "ATEN_CPU_CAPABILITY": "default"}, {"THREADS": "2"}],
    "knf": [{}, {"KNF": KNF_OTHER}],
    "exact": [{}],
}


def runs(reference):
    """Runs a reference on its paths and returns the outputs of each."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for i, path in enumerate(PATHS[reference]):
            env = os.environ | path
            if "KNF" in path:
                subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", f"{folder}/knf",
                                f"kaldi-native-fbank=={path['KNF']}"], check=True)
                env["PYTHONPATH"] = f"{folder}/knf:{env['PYTHONPATH']}"
            subprocess.run([sys.executable, __file__, reference, f"{folder}/{i}.npz"], check=True, env=env)
            with np.load(f"{folder}/{i}.npz") as f:
                results.append({int(k): f[k] for k in f})
    return results


if __name__ == "__main__" and len(sys.argv) > 1:
    worker(sys.argv[1], sys.argv[2])
    sys.exit()
