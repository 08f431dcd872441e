"""Makes importer/testdata/sounds.json: what the feature extractors of transformers return for sounds.

With --more FILE it writes more sounds and settings of each class to FILE; INFER_PREP_SOUNDS=FILE go test ./importer -run Sound compares them.

Run with Python 3.11, NumPy 2.4.6 and transformers 5.23.0 (with torch 2.15.0, which it imports, and without
torchaudio), on x86-64 with AVX2. Whisper runs its path without torch. Every run gives the same bytes.
"""

import hashlib
import importlib
import inspect
import json
import pathlib
import pkgutil
import re
import sys
import warnings

import numpy as np
import torch
import transformers
from transformers.models.auto.feature_extraction_auto import FEATURE_EXTRACTOR_MAPPING_NAMES
from transformers.models.whisper import feature_extraction_whisper
from transformers.utils import is_speech_available

from golden import digest
from sound import sound

OUT = pathlib.Path(__file__).resolve().parents[3] / "importer" / "testdata" / "sounds.json"
feature_extraction_whisper.is_torch_available = lambda: False
assert not is_speech_available()
torch.set_num_threads(1)
warnings.simplefilter("ignore")
np.seterr(all="ignore")

# Of an image or of a text, not of a sound.
OTHER = {"MarkupLMFeatureExtractor"}


def classes():
    """Returns the feature extractors of sound, by name."""
    found = {}
    for package in pkgutil.iter_modules(importlib.import_module("transformers.models").__path__):
        folder = pathlib.Path(transformers.__file__).parent / "models" / package.name
        for file in sorted(folder.glob("feature_extraction_*.py")):
            if package.name == "auto":
                continue
            for name in re.findall(r"^class (\w+FeatureExtractor)\(", file.read_text(), re.M):
                if name not in OTHER:
                    found[name] = f"transformers.models.{package.name}.{file.stem}"
    registered = {n for n in FEATURE_EXTRACTOR_MAPPING_NAMES.values() if n in found or n.endswith("FeatureExtractor")}
    return found, registered


FOUND, REGISTERED = classes()


def extractor(name):
    return getattr(importlib.import_module(FOUND[name]), name)


SOUNDS = [("speech", 24000), ("noise", 16000), ("silence", 8000), ("clip", 20001), ("sweep", 9999), ("speech", 160), ("speech", 500)]
LONG = ("speech", 640000)
MEANS = [round(i / 16 - 4, 4) for i in range(128)]

CONFIGS = {
    "WhisperFeatureExtractor": [{}, {"feature_size": 128, "return_attention_mask": True}, {"chunk_length": 2, "hop_length": 150, "n_fft": 480, "padding_value": 0.25, "processor_class": "WhisperProcessor"}],
    "Wav2Vec2FeatureExtractor": [{}, {"return_attention_mask": True}, {"do_normalize": False, "sampling_rate": 8000}, {"do_normalize": False, "return_attention_mask": True}],
    "EncodecFeatureExtractor": [{}, {"chunk_length_s": 0.5, "overlap": 0.01}, {"chunk_length_s": 1.0, "overlap": 0.25, "sampling_rate": 32000, "padding_side": "left", "padding_value": 0.5}],
    "DacFeatureExtractor": [{}, {"hop_length": 320, "sampling_rate": 44100}],
    "DiaFeatureExtractor": [{}, {"hop_length": 1000, "feature_size": 2}],
    "KyutaiSpeechToTextFeatureExtractor": [{}, {"chunk_length_s": 0.3, "overlap": 0.1, "audio_delay_seconds": 0.5, "audio_silence_prefix_seconds": 0.123}],
    "MuseSparkFeatureExtractor": [{}, {"samples_per_token": 777, "return_attention_mask": False}],
    "PeAudioFeatureExtractor": [{}, {"hop_length": 1000}],
    "Gemma4UnifiedAudioFeatureExtractor": [{}, {"audio_samples_per_token": 320}],
    "SeamlessM4TFeatureExtractor": [{}, {"num_mel_bins": 40, "padding_value": 1.5, "return_attention_mask": False}, {"sampling_rate": 8000}],
    "ClapFeatureExtractor": [{}, {"truncation": "rand_trunc", "padding": "repeat"}, {"padding": "pad", "max_length_s": 2, "top_db": 80, "sampling_rate": 16000, "frequency_max": 8000, "hop_length": 400, "fft_window_size": 512}],
    "ClvpFeatureExtractor": [{}, {"mel_norms": [1 + i / 7 for i in range(80)]}],
    "SpeechT5FeatureExtractor": [{}, {"do_normalize": True, "num_mel_bins": 40}, {"return_attention_mask": False}],
    "UnivNetFeatureExtractor": [{}, {"do_normalize": True, "num_mel_bins": 60, "fmax": 7000.0, "return_attention_mask": False}, {"filter_length": None, "win_length": 512, "win_function": "hamming_window", "max_length_s": 1}],
    "ASTFeatureExtractor": [{}, {"max_length": 64, "num_mel_bins": 60, "mean": -3.5, "std": 2.25}, {"do_normalize": False}],
    "Speech2TextFeatureExtractor": [{}, {"normalize_means": False, "num_mel_bins": 40}, {"normalize_vars": False}, {"do_ceptral_normalize": False}],
    "Gemma3nAudioFeatureExtractor": [{}, {"preemphasis": 0.0, "per_bin_mean": MEANS, "per_bin_stddev": [2 + m / 16 for m in MEANS]}, {"frame_length_ms": 25.0, "fft_overdrive": False, "input_scale_factor": 0.7, "feature_size": 64}],
    "Gemma4AudioFeatureExtractor": [{}, {"preemphasis": 0.9, "fft_overdrive": True, "padding_value": 0.25}, {"per_bin_mean": MEANS, "per_bin_stddev": [2 + m / 16 for m in MEANS], "input_scale_factor": 0.7, "mel_floor": 1e-5, "frame_length_ms": 25.0}],
    "LasrFeatureExtractor": [{}, {"feature_size": 80, "hop_length": 200}],
}


def outputs(name, config, x, rate):
    e = extractor(name)(**{k: v for k, v in config.items() if k != "feature_extractor_type"})
    given = [x] if name == "Gemma4AudioFeatureExtractor" else x
    how = {"sampling_rate": rate} if "sampling_rate" in inspect.signature(e.__call__).parameters else {}
    np.random.seed(0)
    out = e(given, return_tensors="np", **how)
    named = {}
    for key, v in out.items():
        if key == "noise_sequence":  # random
            continue
        a = np.asarray(v)
        assert a.shape[0] == 1, (name, key, a.shape)
        a = np.ascontiguousarray(a[0])
        if a.dtype.kind == "f":
            assert a.dtype == np.float32, (name, key, a.dtype)
            a = np.nan_to_num(a, nan=3e38, posinf=2e38, neginf=-2e38)  # JSON has no such numbers
        named[key] = digest(a) if a.size else {"dtype": a.dtype.name, "shape": list(a.shape), "sha256": hashlib.sha256(b"").hexdigest(), "values": []}
    return named


def refuses(name, kind, n, config):
    """Sounds that the class shortens at random."""
    return name == "ClapFeatureExtractor" and n > config.get("max_length_s", 10) * config.get("sampling_rate", 48000)


def case(name, config, sounds):
    config = {"feature_extractor_type": name, **config}
    results = []
    for kind, n in sounds:
        x = sound(kind, n)
        result = {"sound": kind, "samples": n}
        try:
            if refuses(name, kind, n, config):
                raise ValueError
            rate = config.get("sampling_rate", getattr(extractor(name)(), "sampling_rate", None))
            result["outputs"] = outputs(name, config, x, rate)
        except (ValueError, IndexError, RuntimeError):
            result.pop("outputs", None)
            result["refused"] = True
        results.append(result)
    return {"config": config, "results": results}


def more():
    """60 sounds for each configuration."""
    kinds = ["speech", "noise", "silence", "clip", "sweep"]
    lengths = [160, 399, 400, 1234, 5000, 16000, 22050, 44100, 48000, 100001, 240000, 640000]
    return [(k, n) for k in kinds for n in lengths]


if __name__ == "__main__":
    big = sys.argv[1:2] == ["--more"]
    only = sys.argv[3:]
    cases = []
    for name, configs in CONFIGS.items():
        if only and name not in only:
            continue
        for i, config in enumerate(configs):
            cases.append(case(name, config, more() if big else SOUNDS + ([LONG] if i == 0 else [])))
            print(name, config, sum("refused" in r for r in cases[-1]["results"]), "refused", flush=True)
    models = {m: n for m, n in sorted(FEATURE_EXTRACTOR_MAPPING_NAMES.items()) if n in FOUND}
    lines = ",\n".join(json.dumps(c) for c in cases)
    head = json.dumps({"transformers": transformers.__version__, "classes": sorted(FOUND), "models": models})[:-1]
    (pathlib.Path(sys.argv[2]) if big else OUT).write_text(head + ', "cases": [\n' + lines + "\n]}\n")
