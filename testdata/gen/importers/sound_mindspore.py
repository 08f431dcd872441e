"""Writes importer/torchaudio/testdata/mindspore.json: what MindSpore's audio transforms return, in place of torchaudio's.

Run with testdata/gen/run.sh --mindspore: MindSpore 2.10.0. The graphs are those that the importer makes of torchaudio's transforms.
"""

import pathlib

import mindspore.dataset.audio as audio
from bounded import main

OUT = pathlib.Path(__file__).resolve().parents[3] / "importer" / "torchaudio" / "testdata" / "mindspore.json"
SOUNDS = [("speech", 24000), ("noise", 22000), ("silence", 8000), ("clip", 20001), ("sweep", 9999)]
PREFIX = "torchaudio.transforms."
MEL = {"sample_rate": 22050, "n_fft": 1024, "win_length": 600, "f_min": 30.0, "f_max": 8000.0, "n_mels": 40}
DB = ("AmplitudeToDB", {"top_db": 80}, audio.AmplitudeToDB, {})
SPECTROGRAM = ("Spectrogram", {}, audio.Spectrogram, {})
# Lists of torchaudio's transforms with their arguments, and of MindSpore's.
LISTS = {
    "Spectrogram": [[SPECTROGRAM],
                    [("Spectrogram", {"n_fft": 512, "win_length": 400, "hop_length": 160, "power": 1.0, "center": False, "window_fn": "torch.hamming_window", "pad": 3},
                      audio.Spectrogram, {"n_fft": 512, "win_length": 400, "hop_length": 160, "power": 1.0, "center": False, "window": audio.WindowType.HAMMING, "pad": 3})]],
    "MelScale": [[SPECTROGRAM, ("MelScale", {"n_stft": 201, "n_mels": 64}, audio.MelScale, {"n_stft": 201, "n_mels": 64})]],
    "MelSpectrogram": [[("MelSpectrogram", {"n_mels": 80}, audio.MelSpectrogram, {"n_mels": 80})],
                       [("MelSpectrogram", MEL | {"mel_scale": "slaney", "norm": "slaney", "pad_mode": "constant"},
                         audio.MelSpectrogram, MEL | {"mel_scale": audio.MelType.SLANEY, "norm": audio.NormType.SLANEY, "pad_mode": audio.BorderType.CONSTANT})]],
    "AmplitudeToDB": [[("MelSpectrogram", {"n_mels": 80}, audio.MelSpectrogram, {"n_mels": 80}), DB]],
    "MFCC": [[("MFCC", {}, audio.MFCC, {})]],
    "ComputeDeltas": [[SPECTROGRAM, DB, ("ComputeDeltas", {"win_length": 7}, audio.ComputeDeltas, {"win_length": 7})]],
    "Resample": [[("Resample", {"orig_freq": 44100, "new_freq": 16000}, audio.Resample, {"orig_freq": 44100, "new_freq": 16000})],
                 [("Resample", {"orig_freq": 8000, "new_freq": 16000}, audio.Resample, {"orig_freq": 8000, "new_freq": 16000})]],
}


def outputs(config, x):
    steps = STEPS[repr(config)]
    for _, _, op, how in steps:
        x = op(**how)(x)
    return {"samples" if steps[0][0] == "Resample" else "features": x.reshape(x.shape[1:]) if x.ndim > 2 else x}


CASES, STEPS = [], {}
for group, lists in LISTS.items():
    for steps in lists:
        config = {"transforms": [{"type": PREFIX + name, **how} for name, how, _, _ in steps]}
        CASES.append({"group": group, "config": config, "results": [{"sound": k, "samples": n} for k, n in SOUNDS]})
        STEPS[repr(config)] = steps

if __name__ == "__main__":
    main(OUT, "MindSpore 2.10.0", CASES, outputs, "./importer/torchaudio", "bounded: mindspore", "TestMindSpore")
