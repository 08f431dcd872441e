"""Packs features of sounds into tar shards: infer-prep pack shards beside torchaudio in as many processes.

usage: soundpack.py INFER_PREP

COUNT utterances of 15 s (default 1000) are made in a temporary folder: FLAC files of 16 kHz, a script of Kaldi (wav.scp) and a text. Both write shards
of Kaldi's filter banks (80 bins, float32, KEY.sound.npy) and texts. torchaudio's program reads with soundfile, each process its part of the script into
shards of its own. Both run in turns; the least time of each counts. The keys, texts and frames must be equal, and the features near each other:
docs/exactness.md bounds fbank. webdataset reads the shards of infer-prep, and "infer-prep run" gives the same bytes.
"""

import io
import multiprocessing
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

for v in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[v] = "1"

import numpy as np
import soundfile
import torch

torch.version.cuda = None
import torchaudio  # noqa: E402
import webdataset  # noqa: E402

torch.set_num_threads(1)
RATE, SECONDS, SHARD = 16000, 15, 100
COUNT = int(os.environ.get("COUNT") or 1000)
ROUNDS = int(os.environ.get("ROUNDS") or 3)
PROCESSES = [1, 2]


def make(args):
    folder, i = args
    rng = np.random.default_rng(i)
    t = np.arange(RATE * SECONDS) / RATE
    phase = 2 * np.pi * np.cumsum(rng.uniform(90, 220) + 30 * np.sin(2 * np.pi * rng.uniform(0.3, 1) * t)) / RATE
    x = sum(np.sin(k * phase) / k for k in range(1, 12)) * (np.sin(2 * np.pi * rng.uniform(0.2, 0.6) * t) > -0.6)
    x += 0.05 * rng.standard_normal(t.size)
    soundfile.write(folder / f"utt{i:05d}.flac", np.clip(0.2 * x, -1, 1), RATE, format="FLAC", subtype="PCM_16")


def pack(args):
    """One process of torchaudio's program."""
    out, entries = args
    torch.set_num_threads(1)
    for at in range(0, len(entries), SHARD):
        with tarfile.open(f"{out}-{at // SHARD:05d}.tar", "w") as tar:
            for key, path, text in entries[at:at + SHARD]:
                x, rate = soundfile.read(path, dtype="float32", always_2d=True)
                assert rate == RATE
                f = torchaudio.compliance.kaldi.fbank(torch.from_numpy(x.T) * 32768, num_mel_bins=80, dither=0)
                b = io.BytesIO()
                np.save(b, f.numpy())
                for name, data in ((f"{key}.sound.npy", b.getvalue()), (f"{key}.txt", text.encode())):
                    info = tarfile.TarInfo(name)
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))


def read(folder):
    samples = {}
    for p in sorted(folder.rglob("*.tar")):
        with tarfile.open(p) as tar:
            for m in tar:
                key, _, field = m.name.partition(".")
                data = tar.extractfile(m).read()
                samples.setdefault(key, {})[field] = np.load(io.BytesIO(data)) if field.endswith("npy") else data
    return samples


def cpu():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sounds = folder / "sounds"
        sounds.mkdir()
        with multiprocessing.Pool(2) as p:
            p.map(make, [(sounds, i) for i in range(COUNT)], chunksize=8)
        entries = [(f"utt{i:05d}", f"{sounds}/utt{i:05d}.flac", f"words of {i}") for i in range(COUNT)]
        (folder / "wav.scp").write_text("".join(f"{k} {p}\n" for k, p, _ in entries))
        (folder / "text").write_text("".join(f"{k} {t}\n" for k, _, t in entries))
        graph = subprocess.run([program, "graph", "make", "decode_sound", "mix_mono", "fbank", "mels=80"], check=True, capture_output=True, text=True).stdout
        (folder / "g.json").write_text(graph)

        def ours(processes):
            out = folder / "ours"
            subprocess.run(["rm", "-rf", out], check=True)
            subprocess.run([program, "pack", "shards", "-q", "-o", out, "--graph", folder / "g.json", "--scp", f"wav={folder}/wav.scp", "--label", f"txt={folder}/text",
                            "--samples-per-file", str(SHARD), "--jobs", str(processes)], check=True, stdout=subprocess.DEVNULL, env=os.environ | {"GOMAXPROCS": str(processes)})

        def theirs(processes):
            out = folder / "theirs"
            subprocess.run(["rm", "-rf", out], check=True)
            out.mkdir()
            part = -(-COUNT // processes)
            context = multiprocessing.get_context("fork")  # the imports are not timed
            ps = [context.Process(target=pack, args=((f"{out}/part{k}", entries[k * part:(k + 1) * part]),)) for k in range(processes)]
            for p in ps:
                p.start()
            for p in ps:
                p.join()
                assert p.exitcode == 0

        ours(2)
        theirs(2)
        a, b = read(folder / "ours"), read(folder / "theirs")
        assert list(a) == list(b) == [k for k, _, _ in entries], "the keys differ"
        worst, far = 0.0, 0
        for k in a:
            assert a[k]["txt"] == b[k]["txt"] and a[k]["sound.npy"].shape == b[k]["sound.npy"].shape, k
            d = np.abs(a[k]["sound.npy"] - b[k]["sound.npy"])
            worst, far = max(worst, float(d.max())), far + int((d > 2e-3).sum())
        urls = sorted(str(p) for p in (folder / "ours").rglob("*.tar"))
        for n, x in enumerate(webdataset.WebDataset(urls, shardshuffle=False).decode()):
            assert x["__key__"] == entries[n][0] and x["txt"] == entries[n][2] and x["sound.npy"].tobytes() == a[x["__key__"]]["sound.npy"].tobytes()
        assert n == COUNT - 1
        values = sum(x["sound.npy"].size for x in a.values())
        # The same features as run, and webdataset's view of the shards.
        one = f"{sounds}/utt00000.flac"
        subprocess.run([program, "run", "-q", "--graph", folder / "g.json", "-o", folder / "run", one], check=True)
        assert np.load(folder / "run" / "utt00000.flac.npy").tobytes() == a["utt00000"]["sound.npy"].tobytes(), "pack and run differ"
        print(f"{COUNT} utterances of {SECONDS} s, FLAC, {sum(os.path.getsize(p) for _, p, _ in entries) / 1e6:.0f} MB; fbank of 80 bins; load {os.getloadavg()[0]:.1f}")
        print(f"values apart by more than 2e-3: {far} of {values}; at most {worst:.1e}")
        print("| processes | infer-prep, s | torchaudio, s | speed-up | infer-prep, CPU s | torchaudio, CPU s | speed-up by CPU time |\n|---|---|---|---|---|---|---|")
        for n in PROCESSES:
            turns = []
            for _ in range(ROUNDS):
                turn = []
                for run in (ours, theirs):
                    wall, before = time.perf_counter(), cpu()
                    run(n)
                    turn += [time.perf_counter() - wall, cpu() - before]
                turns.append(turn)
            best = [min(t[i] for t in turns) for i in range(4)]
            wall, work = (statistics.median(t[i + 2] / t[i] for t in turns) for i in (0, 1))
            print(f"| {n} | {best[0]:.2f} | {best[2]:.2f} | {wall:.2f} | {best[1]:.2f} | {best[3]:.2f} | {work:.2f} |", flush=True)


if __name__ == "__main__":
    main()
