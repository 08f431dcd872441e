"""Writes importer/torchaudio/testdata/bounded.json: what transforms of torchaudio return, whose bits depend on the processor.

Run with testdata/gen/run.sh --torchaudio: torch 2.15.0 and torchaudio 2.11.0; common/bounded.py says on which processor.
"""

import pathlib

import torch

torch.version.cuda = None  # torchaudio's wheel is built for another CUDA, which its import refuses
import torchaudio  # noqa: E402

from bounded import main  # noqa: E402

OUT = pathlib.Path(__file__).resolve().parents[3] / "importer" / "torchaudio" / "testdata" / "bounded.json"
SOUNDS = [("speech", 24000), ("noise", 22000), ("silence", 8000), ("clip", 20001), ("sweep", 9999), ("speech", 150)]
PREFIX = "torchaudio.transforms."
LISTS = {
    "Speed": [[("Speed", {"orig_freq": 16000, "factor": 1.1})], [("Speed", {"orig_freq": 22050, "factor": 0.9})]],
    "Spectrogram": [[("Spectrogram", {})], [("Spectrogram", {"n_fft": 512, "win_length": 400, "hop_length": 160, "power": 1.0, "center": False, "window_fn": "torch.hamming_window", "pad": 3})]],
    "MelSpectrogram": [[("MelSpectrogram", {})], [("MelSpectrogram", {"sample_rate": 22050, "n_fft": 1024, "win_length": 600, "f_min": 30.0, "f_max": 8000.0, "n_mels": 40, "mel_scale": "slaney", "norm": "slaney", "pad_mode": "constant"})],
                       [("Preemphasis", {"coeff": 0.9}), ("Spectrogram", {"n_fft": 512, "hop_length": 128}), ("MelScale", {"n_stft": 257, "n_mels": 64})]],
    "AmplitudeToDB": [[("MelSpectrogram", {"n_mels": 80}), ("AmplitudeToDB", {})], [("MelSpectrogram", {"n_mels": 80}), ("AmplitudeToDB", {"stype": "power", "top_db": 80})],
                      [("Spectrogram", {"power": 1}), ("AmplitudeToDB", {"stype": "magnitude", "top_db": 60.5})]],
    "MFCC": [[("MFCC", {})], [("MFCC", {"sample_rate": 8000, "n_mfcc": 13, "log_mels": True, "melkwargs": {"n_fft": 256, "hop_length": 80, "n_mels": 23, "center": False, "window_fn": "torch.hamming_window"}})],
             [("MFCC", {"n_mfcc": 20, "norm": None, "log_mels": True, "melkwargs": {"n_mels": 64, "power": 1.0}})]],
    "ComputeDeltas": [[("MFCC", {"n_mfcc": 13}), ("ComputeDeltas", {"win_length": 7})], [("MelSpectrogram", {"n_mels": 40}), ("AmplitudeToDB", {}), ("ComputeDeltas", {}), ("ComputeDeltas", {"mode": "replicate"})]],
}


def called(how):
    """The arguments of a constructor, with functions for their names."""
    return {k: eval(v, {"torch": torch}) if k == "window_fn" else called(v) if k == "melkwargs" else v for k, v in how.items()}


def outputs(config, x):
    y = torch.from_numpy(x)
    for t in config["transforms"]:
        how = called({k: v for k, v in t.items() if k != "type"})
        y = getattr(torchaudio.transforms, t["type"].removeprefix(PREFIX))(**how)(y)
        y = y[0] if isinstance(y, tuple) else y  # Speed returns lengths, too
    return {"samples" if y.ndim == 1 else "features": y.numpy()}


if __name__ == "__main__":
    cases = []
    for group, lists in LISTS.items():
        for steps in lists:
            config = {"transforms": [{"type": PREFIX + name, **how} for name, how in steps]}
            cases.append({"group": group, "config": config, "results": [{"sound": k, "samples": n} for k, n in SOUNDS]})
    main(OUT, "torchaudio 2.11.0, torch 2.15.0", cases, outputs, "./importer/torchaudio", "bounded: torchaudio")
