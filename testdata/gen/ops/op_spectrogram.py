"""Writes the goldens of the ops of sound: spectrogram, fit_sequence, normalize_sequence and scale_features.

Run with Python 3.11, NumPy 2.4.6 and transformers 5.23.0 (with torch 2.15.0, which it imports), on
x86-64 with AVX2. Every run gives the same bytes.
"""

import numpy as np
import torch
from transformers import audio_utils
from transformers.feature_extraction_utils import BatchFeature
from transformers.models.clap.feature_extraction_clap import ClapFeatureExtractor
from transformers.models.gemma3n.feature_extraction_gemma3n import Gemma3nAudioFeatureExtractor
from transformers.models.kyutai_speech_to_text.feature_extraction_kyutai_speech_to_text import KyutaiSpeechToTextFeatureExtractor
from transformers.models.lasr.feature_extraction_lasr import LasrFeatureExtractor
from transformers.models.pe_audio.feature_extraction_pe_audio import PeAudioFeatureExtractor
from transformers.models.seamless_m4t.feature_extraction_seamless_m4t import SeamlessM4TFeatureExtractor
from transformers.models.speech_to_text.feature_extraction_speech_to_text import Speech2TextFeatureExtractor
from transformers.models.univnet.feature_extraction_univnet import UnivNetFeatureExtractor
from transformers.models.wav2vec2.feature_extraction_wav2vec2 import Wav2Vec2FeatureExtractor

from golden import Golden
from sound import sound

torch.set_num_threads(1)
REFERENCE = "transformers 5.23.0, NumPy 2.4.6"
# The defaults of NewSpectrogram(400, 160).
DEFAULTS = dict(frame_length=400, hop_length=160, fft_length=400, pad=200, scale=1, remove_dc=False, preemphasis=0, window="hann",
                periodic=True, rule="complex64", power=2, root=0, sampling_rate=16000, mels=0, mel_scale="slaney", mel_low=0,
                mel_high=8000, mel_triangles=False, mel_norm=True, floor=1e-10, log="none", mean=[], std=[], frames_first=False, add_floor=False)


def reference(p, x):
    """spectrogram of transformers with the parameters of the op."""
    if p["window"] == "blackman":
        window = np.blackman(p["frame_length"] + p["periodic"])[:p["frame_length"]]
    else:
        window = audio_utils.window_function(p["frame_length"], p["window"], periodic=p["periodic"])
    mels = None
    if p["mels"]:
        mels = audio_utils.mel_filter_bank(p["fft_length"] // 2 + 1, p["mels"], p["mel_low"], p["mel_high"], p["sampling_rate"],
                                           norm="slaney" if p["mel_norm"] else None, mel_scale=p["mel_scale"],
                                           triangularize_in_mel_space=p["mel_triangles"])
    assert p["pad"] in (0, p["frame_length"] // 2) and not p["mean"]
    y = audio_utils.spectrogram(x * np.float32(p["scale"]), window, p["frame_length"], p["hop_length"], p["fft_length"], float(p["power"]),
                                center=p["pad"] > 0, preemphasis=p["preemphasis"] or None, mel_filters=mels, mel_floor=p["floor"],
                                log_mel=None if p["std"] else {"none": None, "ln": "log", "log10": "log10", "db": "dB"}[p["log"]], remove_dc_offset=p["remove_dc"])
    if p["std"]:  # as ClvpFeatureExtractor does
        y = np.log(np.clip(y, a_min=1e-5, a_max=None)) / np.array(p["std"])[:, None]
    y = np.asarray(y, np.float32)
    return np.ascontiguousarray(y.T if p["frames_first"] else y)


def spectrogram():
    g = Golden("spectrogram", REFERENCE)
    sounds = {"speech": sound("speech", 2400), "noise": sound("noise", 1333), "silence": sound("silence", 800),
              "clip": sound("clip", 1700)[900:], "sweep": sound("sweep", 2000), "short": sound("speech", 1100)[940:]}
    kaldi = dict(fft_length=512, pad=0, scale=32768, remove_dc=True, preemphasis=0.97, window="povey", periodic=False, mels=80,
                 mel_scale="kaldi", mel_low=20, mel_triangles=True, mel_norm=False, floor=2.0**-23, log="ln", frames_first=True)
    cases = {
        "whisper": dict(mels=80, log="log10"),
        "whisper 128": dict(mels=128, log="log10"),
        "power": dict(floor=0),
        "amplitude": dict(power=1, frames_first=True, floor=0),
        "amplitude db": dict(power=1, log="db", mels=40, mel_norm=False, mel_scale="htk"),
        "kaldi": kaldi,
        "kaldi hann": kaldi | dict(window="hann", mels=128, scale=1),
        "clap": dict(frame_length=1024, hop_length=480, fft_length=1024, pad=512, sampling_rate=48000, mels=64, mel_scale="htk",
                     mel_high=14000, mel_norm=False, log="db", frames_first=True),
        "clvp": dict(frame_length=1024, hop_length=256, fft_length=1024, pad=512, sampling_rate=22050, mels=80, mel_scale="htk",
                     floor=1e-5, log="ln", std=[1 + i / 64 for i in range(80)]),
        "speecht5": dict(frame_length=1024, hop_length=256, fft_length=1024, pad=512, power=1, mels=80, mel_low=80, mel_high=7600,
                         log="log10", frames_first=True),
        "hamming 480": dict(frame_length=480, hop_length=123, fft_length=480, pad=240, window="hamming", mels=23, mel_low=60,
                            sampling_rate=22050, mel_high=11025, log="ln"),
        "blackman 600": dict(frame_length=500, hop_length=200, fft_length=600, pad=0, window="blackman", periodic=False, mels=12),
        "boxcar 250": dict(frame_length=250, hop_length=250, fft_length=250, pad=125, window="boxcar", preemphasis=0.5, floor=0),
        "odd 225": dict(frame_length=201, hop_length=77, fft_length=225, pad=0, remove_dc=True, mels=8, floor=1e-3, log="ln"),
        "povey 1": dict(frame_length=1, hop_length=100, fft_length=2, pad=0, window="povey", floor=0),
    }
    for name, changes in cases.items():
        p = DEFAULTS | changes
        for what, x in sounds.items():
            if len(x) + 2 * p["pad"] >= p["frame_length"]:
                g.case(f"{name} {what}", p, x, reference(p, x), "none")
    for what, x in sounds.items():
        if what == "short":
            continue
        e = UnivNetFeatureExtractor()
        p = DEFAULTS | dict(frame_length=1024, hop_length=256, fft_length=1024, pad=384, rule="root32", power=1, root=1e-9, sampling_rate=24000,
                            mels=100, mel_high=12000, floor=1e-5, log="ln", frames_first=True)
        g.case(f"univnet {what}", p, x, np.ascontiguousarray(e.mel_spectrogram(x).astype(np.float32)), "none")
        e = LasrFeatureExtractor()
        p = DEFAULTS | dict(fft_length=512, pad=0, periodic=False, rule="double", mels=128, mel_scale="kaldi", mel_low=125, mel_high=7500,
                            mel_triangles=True, mel_norm=False, floor=1e-5, log="ln", frames_first=True)
        y = e._torch_extract_fbank_features(torch.tensor(x)[None]).to(torch.float32)[0].numpy()
        g.case(f"lasr {what}", p, x, np.ascontiguousarray(y), "none")
        for more in (dict(), dict(preemphasis=0.0), dict(per_bin_mean=[i / 32 for i in range(128)], per_bin_stddev=[1 + i / 99 for i in range(128)])):
            e = Gemma3nAudioFeatureExtractor(**more)
            p = DEFAULTS | dict(frame_length=512, fft_length=1024, pad=0, preemphasis=e.preemphasis, rule="single", power=1, mels=128,
                                mel_scale="htk", mel_low=125, mel_high=7600, mel_norm=False, floor=1e-5, log="ln", frames_first=True,
                                mean=more.get("per_bin_mean", []), std=more.get("per_bin_stddev", []))
            y, _ = e._extract_spectrogram(x, np.ones(len(x), np.int32))
            g.case(f"gemma3n {what} {' '.join(more)}", p, x, y.astype(np.float32), "none")
    g.write()


def fit_sequence():
    g = Golden("fit_sequence", REFERENCE)
    none = dict(max=0, cut=True, length=0, chunk=0, stride=0, multiple=1, left=0, right=0, mode="fill", at_start=False, fill=0)

    def padded(x, value=0.0, size=1, side="right", **how):
        e = Wav2Vec2FeatureExtractor(feature_size=size, padding_value=value, padding_side=side)
        out = e.pad(BatchFeature({"input_values": [x]}), return_attention_mask=True, **how)
        return out["input_values"][0], out["attention_mask"][0]

    rng = np.random.default_rng(4)
    inputs = [rng.standard_normal(n).astype(np.float32) for n in (1, 7, 10, 16, 23)] + [rng.standard_normal((n, 3)).astype(np.float32) for n in (5, 12)]
    for x in inputs:
        n, size, shape = len(x), x.ndim, "x".join(map(str, x.shape))
        for p, how in ((dict(max=10, length=10), dict(padding="max_length", max_length=10, truncation=True)),
                       (dict(max=16, multiple=4), dict(padding=True, max_length=16, truncation=True, pad_to_multiple_of=4)),
                       (dict(multiple=8), dict(padding=True, pad_to_multiple_of=8)),
                       (dict(length=30, fill=-1.5), dict(padding="max_length", max_length=30)),
                       (dict(max=10, length=10, multiple=5, at_start=True, fill=2), dict(padding="max_length", max_length=10, truncation=True, pad_to_multiple_of=5)),
                       (dict(max=12), dict(padding=False, max_length=12, truncation=True))):
            y, mask = padded(x, p.get("fill", 0.0), size, "left" if p.get("at_start") else "right", **how)
            g.case(f"{shape} {p}", none | p, x, y, "none", more=[mask])
        if x.ndim == 1:
            e = KyutaiSpeechToTextFeatureExtractor(sampling_rate=10, chunk_length_s=0.8, overlap=0.25, audio_delay_seconds=0.5, audio_silence_prefix_seconds=0.3)
            out = e(x, sampling_rate=10)
            p = none | dict(chunk=8, stride=6, left=3, right=15)
            g.case(f"{shape} kyutai", p, x, out["input_values"][0][0], "none", more=[out["padding_mask"][0]])
            e = PeAudioFeatureExtractor(hop_length=24)
            out = e(x)
            g.case(f"{shape} reflect", none | dict(multiple=24, mode="reflect"), x, out["input_values"][0][0], "none", more=[out["padding_mask"][0]])
            for mode in ("repeat", "repeatpad"):
                seen = []
                e = ClapFeatureExtractor()
                e._np_extract_fbank_features = lambda w, _: seen.append(w) or np.zeros((1, 1))
                e._get_input_mel(x, 40, "rand_trunc", mode)
                mask = np.ones(40, np.int32)
                if mode == "repeatpad":
                    mask[40 // n * n:] = 0
                g.case(f"{shape} {mode}", none | dict(max=40, cut=False, length=40, mode=mode.replace("pad", "_pad")), x, seen[0], "none", more=[mask])
    for x in (np.arange(5, dtype=np.int32), np.ones((3, 2), np.uint8)):
        y, mask = padded(x, 7, x.ndim, padding="max_length", max_length=8)
        assert y.dtype == x.dtype
        g.case(f"{x.dtype}", none | dict(length=8, fill=7), x, y, "none", more=[mask])
    g.write()


def normalize_sequence():
    g = Golden("normalize_sequence", REFERENCE)
    whole = dict(rule="whole", mean=True, var=True)
    for kind, n in (("speech", 3000), ("noise", 1000), ("noise", 128), ("noise", 127), ("clip", 2500), ("silence", 50), ("noise", 7), ("noise", 1), ("sweep", 1300)):
        x = sound(kind, n)
        g.case(f"whole {kind} {n}", whole, x, Wav2Vec2FeatureExtractor()(x)["input_values"][0], "none")
    rng = np.random.default_rng(5)
    for rows, columns in ((2, 3), (9, 5), (131, 4), (300, 2), (40, 1)):
        x = (rng.standard_normal((rows, columns)) * 5 - 9).astype(np.float32)
        e = SeamlessM4TFeatureExtractor(num_mel_bins=columns, feature_size=columns, stride=1)
        # The features are the transposed view of a matrix, whose columns NumPy adds pairwise.
        e._extract_fbank_features = lambda _: np.ascontiguousarray(x.T).T
        y = e(np.zeros(9, np.float32), pad_to_multiple_of=None)["input_features"][0]
        g.case(f"bins {rows}x{columns}", whole | dict(rule="bins"), x, y, "none")
        for mean in (True, False) if columns > 1 else ():
            for var in (True, False):
                y = Speech2TextFeatureExtractor.utterance_cmvn(x, rows, mean, var)
                g.case(f"cmvn {rows}x{columns} {mean} {var}", dict(rule="cmvn", mean=mean, var=var), x, y, "none")
    g.write()


def scale_features():
    g = Golden("scale_features", REFERENCE)
    rng = np.random.default_rng(6)
    none = dict(range=0, sub=0, div=1, mul=1, add=0)
    for shape in ((7,), (5, 9), (1, 1), (2, 3, 4), (40, 3), (11,)):
        x = (rng.standard_normal(shape) * 4 - 3).astype(np.float32)
        for what in (8.0, 2.0, 1e-3):
            y = np.maximum(x, x.max() - what)
            g.case(f"{shape} whisper {what}", none | dict(range=what, sub=-4, div=4), x, (y + 4.0) / 4.0, "none")
        for mean, std in ((-4.2677393, 4.5689974), (0.1, 3.0)):
            g.case(f"{shape} ast {mean}", none | dict(sub=mean, div=std * 2), x, (x - mean) / (std * 2), "none")
        for low, high in ((-11.512925148010254, 2.3143386840820312), (-2.0, 1.1)):
            e = UnivNetFeatureExtractor(normalize_min=low, normalize_max=high)
            g.case(f"{shape} univnet {low}", none | dict(sub=low, div=high - low, mul=2, add=-1), x, e.normalize(x), "none")
        g.case(f"{shape} none", none, x, x, "none")
    g.write()


if __name__ == "__main__":
    spectrogram()
    fit_sequence()
    normalize_sequence()
    scale_features()
