"""Writes sound/mp3/testdata/cases.json: small MP3 files, and what libsndfile reads of them.

Run with the packages of requirements-sound.txt; soundfile 0.14.0 has libsndfile 1.2.2 with mpg123 and LAME, which
encodes the files here. Every run on x86-64 with AVX gives the same bytes. Samples are float32: every STRIDE-th of each
channel, as text. A file with an error has its text.

With a folder as argument it writes larger files of Debian's lame there instead, and the samples beside them, for
MP3_CORPUS=FOLDER go test ./sound/mp3 -run Corpus, which measures the difference over all of them.
"""

import base64
import io
import json
import pathlib
import subprocess
import sys

import numpy as np
import soundfile as sf

ROOT = pathlib.Path(__file__).resolve().parents[3] / "sound" / "mp3" / "testdata"
STRIDE = 61
RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)
assert sf.__libsndfile_version__ == "1.2.2", sf.__libsndfile_version__


def signal(n, channels, rate, seed=0):
    """A sweep, noise, clicks, which need short blocks, and silence."""
    r = np.random.default_rng([n, channels, rate, seed])
    t = np.arange(n) / rate
    x = np.zeros((n, channels))
    f = np.exp(np.interp(t, [0, t[-1]], [np.log(100), np.log(rate * 0.45)]))
    for c in range(channels):
        x[:, c] = 0.4 * np.sin(2 * np.pi * np.cumsum(f) / rate * (1 + 0.1 * c)) + 0.1 * r.standard_normal(n)
        for s in range(n // 4, n, n // 4):
            x[s:s + 50, c] += r.uniform(-0.8, 0.8, len(x[s:s + 50]))
        x[n // 2:n // 2 + n // 8, c] = 0
    return np.clip(x, -1, 1)


def encode(x, rate, mode="CONSTANT", level=0.5):
    f = io.BytesIO()
    sf.write(f, x, rate, format="MP3", subtype="MPEG_LAYER_III", bitrate_mode=mode, compression_level=level)
    return f.getvalue()


def decode(data):
    f = sf.SoundFile(io.BytesIO(data))
    return f.samplerate, np.ascontiguousarray(f.read(dtype="float32", always_2d=True).T)


def frames(data):
    """The positions of all frames."""
    at, i = [], 0
    while i + 4 <= len(data) and data[i] == 0xFF:
        first = data[i + 1] >> 3 & 1
        kbit = ([0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320] if first else
                [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160])[data[i + 2] >> 4]
        rate = (44100, 48000, 32000)[data[i + 2] >> 2 & 3] >> (0 if first else 1 if data[i + 1] & 0x10 else 2)
        at.append(i)
        i += (144 if first else 72) * 1000 * kbit // rate + (data[i + 2] >> 1 & 1)
    return at


def modes(data, seed):
    """Other modes in every frame: data of joint stereo that is read as intensity stereo, and the other way round."""
    r, b = np.random.default_rng(seed), bytearray(data)
    for i in frames(data)[1:]:
        b[i + 3] = b[i + 3] & 0x0F | 0x40 | int(r.integers(0, 4)) << 4
    return bytes(b)


def id3(size, flags=0):
    return b"ID3\4\0" + bytes([flags, size >> 21 & 127, size >> 14 & 127, size >> 7 & 127, size & 127]) + bytes(size)


def small():
    cases = []

    def add(name, data):
        c = {"name": name, "file": base64.b64encode(data).decode()}
        try:
            rate, x = decode(data)
            c |= {"rate": rate, "channels": x.shape[0], "samples": x.shape[1],
                  "values": [round(float(v), 8) for v in x[:, ::STRIDE].reshape(-1)]}
        except sf.LibsndfileError as e:
            c["error"] = str(e.error_string)
        cases.append(c)

    for i, rate in enumerate(RATES):
        for channels in (1, 2):
            mode = ("CONSTANT", "VARIABLE", "AVERAGE")[(i + channels) % 3]
            add(f"{rate}_{channels}_{mode.lower()}", encode(signal(2000, channels, rate), rate, mode, (0.2, 0.5, 0.9)[i % 3]))
    x = signal(4000, 2, 44100, 1)
    one, low = encode(x, 44100, level=0.5), encode(signal(4000, 2, 22050, 2), 22050, level=0.5)
    at = frames(one)
    bare = one[at[1]:]  # without the frame of the tag
    add("intensity_mpeg1", modes(one, 3))
    add("intensity_mpeg2", modes(low, 4))
    add("loud", encode(np.sign(np.sin(np.arange(4000) / 20))[:, None], 44100, level=0))
    add("silence", encode(np.zeros((3000, 1)), 16000, "VARIABLE"))
    add("tiny", encode(x[:10], 44100))
    add("no_tag", bare)
    add("tag_of_no_delay", one.replace(b"LAME", b"\0\0\0\0", 1))
    assert b"LAME" in one
    add("cut", one[:at[3] + 100])
    add("cut_without_tag", bare[:len(bare) * 2 // 3])
    add("from_the_middle", one[at[2]:])
    add("twice", one + one)
    add("tags_in_front", id3(300) + id3(20) + one)
    add("tags_behind", one + b"TAG" + bytes(125))
    add("ape_tag_behind", bare + b"APETAGEX" + (2000).to_bytes(4, "little") + (300).to_bytes(4, "little") + bytes(4) +
        b"\0\0\0\xa0" + bytes(8) + bytes(300))
    add("tag_between", bare[:at[3] - at[1]] + id3(40) + bare[at[3] - at[1]:])
    add("zeros_behind", bare + bytes(500))
    add("zeros_between", bare[:at[3] - at[1]] + bytes(700) + bare[at[3] - at[1]:])
    add("bytes_lost", bare[:at[3] - at[1] - 40] + bare[at[3] - at[1]:])
    add("many_zeros_behind", bare + bytes(5000))
    add("rate_changes", bare + low)
    add("channels_change", bare + encode(x[:, :1], 44100))
    add("one_frame", bare[:at[2] - at[1]])
    add("no_frame", id3(100))
    add("bad_tag", b"ID3\4\0\0\xff\xff\xff\xff" + one)
    ROOT.mkdir(parents=True, exist_ok=True)
    (ROOT / "cases.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


def corpus(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for rate in RATES:
        for channels in (1, 2):
            f = io.BytesIO()
            sf.write(f, signal(int(rate * 1.1), channels, rate), rate, format="WAV", subtype="FLOAT")
            high = "320" if rate >= 32000 else "160" if rate >= 16000 else "64"
            options = {"64": ["-b", "64"], "high": ["-b", high], "v0": ["-V0"], "v2": ["-V2"], "v9": ["-V9"], "abr": ["--abr", "56"],
                       "crc": ["-p", "-b", "64"], "no_reservoir": ["--nores", "-b", "64"], "no_tag": ["-t", "-b", "64"],
                       "id3": ["--add-id3v2", "--tt", "x", "--pad-id3v2", "-b", "64"], "id3v1": ["--id3v1-only", "--tt", "x", "-b", "64"]}
            if channels == 2:
                options |= {"middle_side": ["-m", "f", "-b", "64"], "left_right": ["-m", "s", "-b", "64"], "dual": ["-m", "d", "-b", "64"]}
            for name, o in options.items():
                path = folder / f"{rate}_{channels}_{name}.mp3"
                subprocess.run(["lame", "--silent", "--resample", str(rate / 1000), *o, "-", path], input=f.getvalue(), check=True)
                _, x = decode(path.read_bytes())
                path.with_suffix(".f32").write_bytes(x.tobytes())


if len(sys.argv) > 1:
    corpus(pathlib.Path(sys.argv[1]))
else:
    small()
