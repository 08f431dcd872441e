"""Compares features of sounds: infer-prep's graphs beside transformers, torchaudio, libsndfile and kaldi-native-fbank.

usage: sound.py SOUND INFER_PREP

SOUND is the program of bench/sound. The input is 30 s of 16 kHz: a voice of harmonics, noise and pauses, made here. One thread each. The values are
compared first: equal where the row says so, else their largest difference is printed. All run in turns; the least processor time of each counts, and
the ratio is the median of the turns' ratios.
"""

import io
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

os.environ |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}

import numpy as np
import torch

torch.version.cuda = None  # torchaudio is built for another one than torch, and its import compares them
import kaldi_native_fbank as knf  # noqa: E402
import soundfile  # noqa: E402
import torchaudio  # noqa: E402
import transformers  # noqa: E402

torch.set_num_threads(1)
RATE, SECONDS = 16000, 30
ROUNDS = int(os.environ.get("ROUNDS") or 9)
LEAST = 0.1  # seconds of a turn
EQUAL = "equal"


def voice(rate, seconds):
    """Harmonics of a moving pitch, noise and pauses, in the range of speech, as float32 that 16 bits hold."""
    rng = np.random.default_rng(1)
    t = np.arange(rate * seconds) / rate
    phase = 2 * np.pi * np.cumsum(120 + 40 * np.sin(2 * np.pi * 0.7 * t)) / rate
    x = sum(np.sin(k * phase) / k for k in range(1, 25)) * (np.sin(2 * np.pi * 0.31 * t) > -0.6) + 0.3 * rng.standard_normal(t.size) * (np.sin(2 * np.pi * 3 * t) > 0.5)
    return (np.round(np.clip(0.15 * x, -1, 1) * 32767) / 32768).astype(np.float32)


class Case:
    def __init__(self, name, graph, input, peers):
        """graph is a file, input bytes or float32 samples; peers are (name, function, EQUAL or "")."""
        self.name, self.graph, self.input, self.peers = name, graph, input, peers


def seconds():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


def timed(run, count):
    before = seconds()
    for _ in range(count):
        run()
    return (seconds() - before) / count


class Ours:
    def __init__(self, program):
        self.p = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"GOMAXPROCS": "1"})

    def ask(self, graph, input, count=1, output=""):
        self.p.stdin.write(json.dumps({"graph": str(graph), "input": str(input), "count": count, "output": str(output)}) + "\n")
        self.p.stdin.flush()
        return json.loads(self.p.stdout.readline())["cpu"]


def cases(folder, program):
    def graph(name, *args):
        path = folder / f"{name}.json"
        path.write_text(subprocess.run([program, "graph", *args], check=True, capture_output=True, text=True).stdout)
        return path

    def imported(name, extractor):
        extractor.save_pretrained(folder / name)
        return graph(name, "import", "--hf", str(folder / name), "--backend", "samples")

    x, high = voice(RATE, SECONDS), voice(48000, SECONDS)
    flac = io.BytesIO()
    soundfile.write(flac, x, RATE, format="FLAC", subtype="PCM_16")
    wav = io.BytesIO()
    soundfile.write(wav, x, RATE, format="WAV", subtype="PCM_16")
    whisper = transformers.WhisperFeatureExtractor()
    wav2vec2 = transformers.Wav2Vec2FeatureExtractor(do_normalize=True)
    seamless = transformers.SeamlessM4TFeatureExtractor()
    resample = torchaudio.transforms.Resample(48000, RATE)

    def load(data):
        return lambda: soundfile.read(io.BytesIO(data.getvalue()), dtype="float32", always_2d=True)[0].T

    def call(extractor, key):
        return lambda: extractor(x, sampling_rate=RATE, return_tensors="np")[key][0]

    def kaldi():
        o = knf.FbankOptions()
        o.frame_opts.dither, o.mel_opts.num_bins, o.energy_floor = 0, 80, 0
        f = knf.OnlineFbank(o)
        f.accept_waveform(RATE, x * 32768)
        f.input_finished()
        return np.stack([f.get_frame(i) for i in range(f.num_frames_ready)])

    wave = torch.from_numpy(x[None] * 32768)
    decode = graph("decode", "make", "decode_sound")
    yield Case("FLAC, 16 bits", decode, flac.getvalue(), [("libsndfile", load(flac), EQUAL)])
    yield Case("WAV, 16 bits", graph("decode_wav", "make", "decode_sound"), wav.getvalue(), [("libsndfile", load(wav), EQUAL)])
    yield Case("48 to 16 kHz", graph("resample", "make", "resample_sinc", "from_rate=48000", "to_rate=16000"), high,
               [("torchaudio Resample", lambda: resample(torch.from_numpy(high)).numpy(), EQUAL)])
    yield Case("Wav2Vec2, normalized", imported("wav2vec2", wav2vec2), x, [("transformers", call(wav2vec2, "input_values"), EQUAL)])
    yield Case("Whisper, 80 bins", imported("whisper", whisper), x, [
        ("transformers, NumPy", lambda: whisper._np_extract_fbank_features(x[None], "cpu")[0], EQUAL),
        ("transformers, torch", lambda: whisper._torch_extract_fbank_features(x[None], "cpu")[0], "")])
    yield Case("SeamlessM4T, 80 bins", imported("seamless", seamless), x, [("transformers", call(seamless, "input_features"), EQUAL)])
    yield Case("fbank, 80 bins", graph("fbank", "make", "fbank", "mels=80"), x, [
        ("torchaudio compliance.kaldi", lambda: torchaudio.compliance.kaldi.fbank(wave, num_mel_bins=80, dither=0).numpy(), ""),
        ("kaldi-native-fbank", kaldi, "")])


def main():
    ours = Ours(sys.argv[1])
    load = os.getloadavg()[0]
    print(f"transformers {transformers.__version__}, torch {torch.__version__}, torchaudio {torchaudio.__version__}, NumPy {np.__version__}, "
          f"soundfile {soundfile.__version__} (libsndfile {soundfile.__libsndfile_version__}), kaldi-native-fbank {knf.__version__}; load {load:.1f}, {ROUNDS} turns")
    print("| 30 s, one thread | infer-prep, ms | other | other, ms | speed-up | values |\n|---|---|---|---|---|---|")
    differs = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for c in cases(folder, sys.argv[2]):
            file = folder / "input"
            file = file.with_suffix("." + c.graph.stem)
            file.write_bytes(c.input if isinstance(c.input, bytes) else c.input.tobytes())
            ours.ask(c.graph, file, 1, folder / "out.npy")
            got = np.load(folder / "out.npy")
            count = max(1, round(LEAST / ours.ask(c.graph, file, 3)))
            peers = []
            for name, run, claim in c.peers:
                want = np.asarray(run())
                same = want.shape == got.shape and want.dtype == got.dtype and want.tobytes() == got.tobytes()
                apart = np.abs(want.astype(np.float64) - got.reshape(want.shape)).max() if want.size == got.size else f"shapes {got.shape}, {want.shape}"
                if claim == EQUAL and not same:
                    differs.append(f"{c.name}, {name}: {apart}")
                peers.append((name, run, "equal" if same else f"within {apart:.1e}" if want.size == got.size else apart, max(1, round(LEAST / timed(run, 1)))))
            turns = []
            for _ in range(ROUNDS):
                turns.append([ours.ask(c.graph, file, count)] + [timed(run, n) for _, run, _, n in peers])
            best = [1e3 * min(t[i] for t in turns) for i in range(len(peers) + 1)]
            for i, (name, _, values, _) in enumerate(peers, 1):
                ratio = statistics.median(t[i] / t[0] for t in turns)
                print(f"| {c.name} | {best[0]:.2f} | {name} | {best[i]:.2f} | {ratio:.2f} | {values} |", flush=True)
    for d in differs:
        print(f"not equal: {d}")
    sys.exit(1 if differs else 0)


if __name__ == "__main__":
    main()
