"""Writes the goldens of decode_sound, decode_pcm, pcm_to_float, mix_mono and resample_poly.

Run with the packages of requirements-sound.txt on x86-64; soundfile 0.14.0 has libsndfile 1.2.2. Every run gives the
same bytes. sound/wav and sound/flac have the goldens of more files (codecs/sounds.py).
"""

import io

import numpy as np
import soundfile as sf
from scipy.signal import resample_poly as scipy_poly

from golden import Golden, wave

assert sf.__libsndfile_version__ == "1.2.2"


def encoded(g, name, params, data, want):
    g.encoded_case(name, params, data, want)
    g.cases[-1]["out"][0]["layout"] = "none"


def decode_sound():
    g = Golden("decode_sound", "libsndfile 1.2.2 (soundfile 0.14.0)")
    for format, subtypes in (("WAV", ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ALAW", "ULAW")), ("FLAC", ("PCM_S8", "PCM_16", "PCM_24"))):
        for i, s in enumerate(subtypes):
            rate, channels, n = (8000, 16000, 22050, 44100, 48000, 11025, 32000, 96000)[i % 8], (1, 2, 6)[i % 3], (160, 301, 1, 1000)[i % 4]
            f = io.BytesIO()
            sf.write(f, wave(n, channels).T, rate, format=format, subtype=s)
            x, got = sf.read(io.BytesIO(f.getvalue()), dtype="float32", always_2d=True)
            assert got == rate
            encoded(g, f"{format}_{s}_{channels}x{n}", {"sampling_rate": rate}, f.getvalue(), np.ascontiguousarray(x.T))
    g.write()


def decode_pcm():
    g = Golden("decode_pcm", "libsndfile 1.2.2 (soundfile 0.14.0), RAW")
    r = np.random.default_rng(3)
    names = {"u8": "PCM_U8", "s8": "PCM_S8", "s16": "PCM_16", "s24": "PCM_24", "s32": "PCM_32", "f32": "FLOAT", "f64": "DOUBLE", "alaw": "ALAW", "mulaw": "ULAW"}
    for name, subtype in names.items():
        for endian in ("le", "be") if name[1:] in ("16", "24", "32", "64") else ("",):
            for channels in (1, 3):
                size = int(name[1:]) // 8 if name[1:].isdigit() else 1
                data = r.integers(0, 256, size * channels * 85).astype(np.uint8).tobytes()
                if name[0] == "f":
                    data = (r.standard_normal(channels * 85) * 2).astype((">" if endian == "be" else "<") + f"f{size}").tobytes()
                x, _ = sf.read(io.BytesIO(data), dtype="float32", always_2d=True, format="RAW", subtype=subtype, samplerate=8000, channels=channels,
                               endian={"le": "LITTLE", "be": "BIG", "": "FILE"}[endian])
                encoded(g, f"{name}{endian}_{channels}", {"encoding": name + endian, "channels": channels}, data, np.ascontiguousarray(x.T))
    g.write()


def pcm_to_float():
    g = Golden("pcm_to_float", "libsndfile 1.2.2 (soundfile 0.14.0)")
    r = np.random.default_rng(4)
    for dtype, subtype in (("int16", "PCM_16"), ("int32", "PCM_32")):
        for channels, n in ((None, 300), (1, 160), (2, 301), (6, 40), (None, 1), (3, 0)):
            i = np.iinfo(dtype)
            x = r.integers(i.min, i.max, (n,) if channels is None else (channels, n), dtype, endpoint=True)
            x.reshape(-1)[:2] = [i.min, i.max][:x.size]
            f = io.BytesIO()
            sf.write(f, x.T, 16000, format="WAV", subtype=subtype)
            want = np.zeros(x.shape, np.float32)
            if n:
                want = np.ascontiguousarray(sf.read(io.BytesIO(f.getvalue()), dtype="float32")[0].T).reshape(x.shape)
            g.columns_case(f"{dtype}_{x.shape}", {}, [x], [want])
    g.write()


def mix_mono():
    g = Golden("mix_mono", "NumPy 2.4.6 mean, as librosa 0.11.0 to_mono")
    for channels, n in ((1, 300), (2, 301), (3, 160), (6, 999), (8, 70), (16, 33), (2, 1), (2, 0)):
        x = wave(n, channels)
        g.columns_case(f"{channels}x{n}", {}, [x], [np.mean(x, axis=0)])
    x = wave(50, 5) * np.float32(1e30)
    g.columns_case("large", {}, [x], [np.mean(x, axis=0)])
    g.write()


def resample_poly():
    g = Golden("resample_poly", "SciPy 1.16.3 signal.resample_poly")
    sounds = [wave(n, c, 1) for n, c in ((4000, None), (1500, 2), (1, None), (7, 1), (0, None), (333, 3))]
    rates = [(44100, 16000), (48000, 16000), (8000, 16000), (16000, 16000), (22050, 16000), (11025, 16000), (16000, 44100), (44100, 48000), (16000, 24000), (7, 5), (96000, 16000)]
    for a, b in rates:
        for x in sounds:
            if x.size > 2000 and (a, b) not in rates[:4]:
                continue
            y = scipy_poly(x, b, a, axis=-1) if x.shape[-1] else np.zeros(x.shape, np.float32)
            assert y.dtype == np.float32
            g.columns_case(f"{a}_{b}_{x.shape}", {"from_rate": a, "to_rate": b}, [x], [y])
    g.write()


if __name__ == "__main__":
    decode_sound()
    decode_pcm()
    pcm_to_float()
    mix_mono()
    resample_poly()
