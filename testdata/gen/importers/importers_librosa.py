"""Writes importer/librosa/testdata/bounded.json: what librosa's features return, whose bits depend on the processor.

Run with testdata/gen/run.sh --librosa: librosa 0.11.0; common/bounded.py says on which processor.
"""

import pathlib

import librosa
from bounded import main

OUT = pathlib.Path(__file__).resolve().parents[3] / "importer" / "librosa" / "testdata" / "bounded.json"
SOUNDS = [("speech", 24000), ("noise", 22000), ("silence", 8000), ("clip", 20001), ("sweep", 9999), ("speech", 150)]
MEL, DB, MFCC = "librosa.feature.melspectrogram", "librosa.power_to_db", "librosa.feature.mfcc"
SMALL = {"sr": 16000, "n_fft": 400, "hop_length": 160, "n_mels": 80}
CALLS = {
    "melspectrogram": [{MEL: {}}, {MEL: SMALL | {"n_fft": 512, "win_length": 400, "window": "hamming", "center": False, "power": 1.0, "htk": True, "norm": None, "fmin": 20, "fmax": 7600}},
                       {MEL: SMALL | {"pad_mode": "reflect"}}],
    "power_to_db": [{MEL: SMALL, DB: {}}, {MEL: SMALL, DB: {"ref": 4.0, "amin": 1e-5, "top_db": None}}, {MEL: SMALL, DB: {"ref": 0.5, "top_db": 60.5}}],
    "mfcc": [{MFCC: {}}, {MFCC: SMALL | {"n_mfcc": 13, "lifter": 22, "mel_norm": None, "htk": True}}, {MFCC: SMALL | {"n_mfcc": 40, "norm": None}}],
}


def outputs(config, x):
    try:
        if MFCC in config:
            return {"features": librosa.feature.mfcc(y=x, **config[MFCC])}
        y = librosa.feature.melspectrogram(y=x, **config[MEL])
        return {"features": librosa.power_to_db(y, **config[DB]) if DB in config else y}
    except librosa.ParameterError as e:
        raise ValueError(e) from e


if __name__ == "__main__":
    cases = [{"group": g, "config": c, "results": [{"sound": k, "samples": n} for k, n in SOUNDS]} for g, calls in CALLS.items() for c in calls]
    main(OUT, "librosa 0.11.0, NumPy 2.4.6, SciPy 1.16.3", cases, outputs, "./importer/librosa", "bounded: librosa")
