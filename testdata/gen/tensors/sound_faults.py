"""Writes datagraph/diff/testdata/sound_faults.npz: a sound, and features that programs with a usual mistake made of it.

Run with the packages of requirements.txt. The features are those of transformers' WhisperFeatureExtractor, with 20 mels
and 0.4 s, by its NumPy functions or by torch.stft; one thing is different in each.
"""

import pathlib
import struct

import numpy as np
import torch
from transformers.audio_utils import mel_filter_bank, spectrogram, window_function

ROOT = pathlib.Path(__file__).resolve().parents[3] / "datagraph" / "diff" / "testdata"
RATE, SAMPLES = 16000, 6400

t = np.arange(SAMPLES) / RATE
phase = 2 * np.pi * np.cumsum(120 + 40 * np.sin(5 * t)) / RATE
x = sum(np.sin(k * phase) / k for k in range(1, 25)) * 0.2 * (0.6 + 0.4 * np.sin(20 * t))
x += 0.01 * np.random.default_rng(1).standard_normal(SAMPLES)
pcm = np.round(x * 32767).clip(-32768, 32767).astype("<i2")
wav = b"RIFF" + struct.pack("<I", 36 + 2 * SAMPLES) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, RATE, 2 * RATE, 2, 16)
wav += b"data" + struct.pack("<I", 2 * SAMPLES) + pcm.tobytes()
samples = (pcm / 32768).astype(np.float32)
filters = {"norm": "slaney", "mel_scale": "slaney"}


def scaled(log):
    log = log[:, :-1].astype(np.float32)
    return (np.maximum(log, log.max() - 8) + 4) / 4


def features(x=samples, window="hann", periodic=True, rate=RATE, mel=filters, log="log10", **more):
    bank = mel_filter_bank(201, 20, 0, rate / 2, rate, **mel)
    return scaled(spectrogram(x, window_function(400, window, periodic), 400, 160, **{"power": 2.0, "mel_filters": bank, "log_mel": log} | more))


def torch_stft(pad_mode="reflect", window=torch.hann_window(400), center=True):
    s = torch.stft(torch.from_numpy(samples), 400, 160, window=window, center=center, pad_mode=pad_mode, return_complex=True).abs() ** 2
    mel = torch.from_numpy(mel_filter_bank(201, 20, 0, RATE / 2, RATE, **filters).astype(np.float32)).T @ s
    return scaled(mel.clamp(min=1e-10).log10().numpy())


faults = {
    "none": features(),
    "none_torch": torch_stft(),
    "transposed": features().T,
    "symmetric": features(periodic=False),
    "symmetric_torch": torch_stft(window=torch.hann_window(400, periodic=False)),
    "hamming": features(window="hamming"),
    "povey": features(window="povey", periodic=False),
    "natural": features(log="log"),
    "decibel": features(log="dB", power=2.0),
    "magnitude": features(power=1.0),
    "int16": features(x=pcm.astype(np.float32)),
    "htk": features(mel={"norm": "slaney", "mel_scale": "htk"}),
    "htk_no_norm": features(mel={"norm": None, "mel_scale": "htk"}),
    "rate_22050": features(rate=22050),
    "zeros": torch_stft(pad_mode="constant"),
    "not_centered": torch_stft(center=False),
    "int16_natural": features(x=pcm.astype(np.float32), log="log"),
    "hamming_htk_transposed": features(window="hamming", mel={"norm": "slaney", "mel_scale": "htk"}).T,
    "noise": np.random.default_rng(2).standard_normal((20, 40)),
}
ROOT.mkdir(parents=True, exist_ok=True)
np.savez_compressed(ROOT / "sound_faults.npz", sound=np.frombuffer(wav, np.uint8), **{k: np.ascontiguousarray(v, np.float32) for k, v in faults.items()})
