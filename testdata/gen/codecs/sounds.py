"""Writes cases.json of sound/wav, sound/au, sound/aiff and sound/flac: small files, and what libsndfile reads of them.

Run with the packages of requirements-sound.txt; soundfile 0.14.0 has libsndfile 1.2.2. Every run gives the same bytes.
Samples are float32, channel after channel, as a SHA-256 of their little-endian bytes. A file with an error has its text.
FLAC of 12, 20 and 32 bits, which libsndfile does not read, and of unknown length, has the integers that were written.
"""

import base64
import hashlib
import io
import json
import pathlib
import struct

import numpy as np
import soundfile as sf

ROOT = pathlib.Path(__file__).resolve().parents[3] / "sound"
assert sf.__libsndfile_version__ == "1.2.2", sf.__libsndfile_version__


def signal(n, channels, seed=0):
    """Sines, noise and full scale."""
    r = np.random.default_rng([n, channels, seed])
    t = np.arange(n)[:, None] * (1 + np.arange(channels)) / 17
    x = 0.7 * np.sin(t) + 0.2 * r.standard_normal((n, channels))
    x[5 % max(n, 1):6] = 1
    x[9:10] = -1
    return np.clip(x, -1, 1)


class Cases:
    def __init__(self, folder):
        self.folder, self.cases = folder, []

    def add(self, name, data, written=None):
        c = {"name": name, "file": base64.b64encode(data).decode()}
        try:
            f = sf.SoundFile(io.BytesIO(data))
            # A file of unknown length is read in blocks.
            x = np.concatenate(list(f.blocks(4096, dtype="float32", always_2d=True)) or [np.zeros((0, f.channels), np.float32)])
            c |= {"rate": f.samplerate}
        except sf.LibsndfileError as e:
            if written is None:
                c["error"] = str(e.error_string)
                self.cases.append(c)
                return
            x, c["rate"] = written
        x = np.ascontiguousarray(x.T.astype(np.float32))
        c |= {"channels": x.shape[0], "samples": x.shape[1], "sha256": hashlib.sha256(x.tobytes()).hexdigest(),
              "values": [float(v) for v in x.reshape(-1)[:4]]}
        self.cases.append(c)

    def write(self):
        path = ROOT / self.folder / "testdata" / "cases.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text("[\n" + ",\n".join(json.dumps(c) for c in self.cases) + "\n]\n")


def file(x, rate, format, subtype, **options):
    f = io.BytesIO()
    sf.write(f, x, rate, format=format, subtype=subtype, **options)
    data = bytearray(f.getvalue())
    if (peak := data.find(b"PEAK")) >= 0:  # the time of writing, after the size and the version
        data[peak + 12:peak + 16] = bytes(4)
    return bytes(data)


def chunk(name, data, size=None, order="<"):
    return name + struct.pack(order + "I", len(data) if size is None else size) + data + b"\0" * (len(data) & 1)


def fmt(tag, channels, rate, bits, more=b"", align=None):
    align = (bits + 7) // 8 * channels if align is None else align
    return chunk(b"fmt ", struct.pack("<HHIIHH", tag, channels, rate, rate * align, align, bits) + more)


def riff(*chunks, size=None, head=b"RIFF"):
    body = b"WAVE" + b"".join(chunks)
    return head + struct.pack("<I", len(body) if size is None else size) + body


def wav():
    c = Cases("wav")
    subtypes = ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ALAW", "ULAW"]
    for i, s in enumerate(subtypes):
        for format in ("WAV", "WAVEX", "RF64"):
            channels = (1, 2, 8)[(i + len(format)) % 3]
            c.add(f"{format}_{s}_{channels}", file(signal(40, channels), (8000, 11025, 16000, 22050, 44100, 48000)[i % 6], format, s))
        c.add(f"RIFX_{s}", file(signal(23, 2), 16000, "WAV", s, endian="BIG"))
    every = bytes(range(256))
    c.add("alaw_every", riff(fmt(6, 1, 8000, 8), chunk(b"data", every)))
    c.add("mulaw_every", riff(fmt(7, 1, 8000, 8), chunk(b"data", every)))
    c.add("u8_every", riff(fmt(1, 1, 8000, 8), chunk(b"data", every)))
    ints = np.array([0, 1, -1, 2**31 - 1, -2**31, 2**24 + 1, 2**25 - 1, 16777219, -16777219, 123456789], np.int32)
    c.add("s32_rounding", riff(fmt(1, 1, 8000, 32), chunk(b"data", ints.tobytes())))
    doubles = np.array([0, -0.0, 1, -1, 1e-300, 1 + 2**-24, 1 + 3 * 2**-24, 3.5, -1e10, 1e-45], np.float64)
    c.add("f64_rounding", riff(fmt(3, 1, 8000, 64), chunk(b"data", doubles.tobytes())))
    c.add("f32_range", riff(fmt(3, 1, 8000, 32), chunk(b"data", np.array([2, -3.5, 1e-40, -0.0, 1e30], np.float32).tobytes())))
    pcm = (signal(30, 1) * 32767).astype("<i2").tobytes()
    f16, data = fmt(1, 1, 16000, 16), chunk(b"data", pcm)
    for n in (0, 1):
        c.add(f"samples_{n}", riff(f16, chunk(b"data", pcm[:2 * n])))
    c.add("silence", riff(f16, chunk(b"data", bytes(60))))
    c.add("bits_12", riff(fmt(1, 1, 16000, 12), data))
    c.add("bits_20", riff(fmt(1, 1, 16000, 20), data))
    c.add("align_0", riff(fmt(1, 1, 16000, 16, align=0), data))
    c.add("align_wrong", riff(fmt(1, 1, 16000, 16, align=7), data))
    c.add("fmt_18", riff(fmt(1, 1, 16000, 16, b"\0\0"), data))
    c.add("chunks_before", riff(chunk(b"JUNK", b"12345"), chunk(b"LIST", b"INFOISFT\4\0\0\0abc\0"), f16, chunk(b"fact", b"\x1e\0\0\0"), data))
    c.add("chunks_after", riff(f16, data, chunk(b"LIST", b"INFOISFT\4\0\0\0abc\0")))
    c.add("chunk_unknown_odd", riff(f16, chunk(b"abcd", b"xyz"), data))
    c.add("chunk_of_0", riff(f16, chunk(b"abcd", b""), data))
    c.add("data_odd", riff(fmt(1, 1, 8000, 8), chunk(b"data", every[:7])))
    c.add("data_odd_unpadded", riff(fmt(1, 1, 8000, 8), chunk(b"data", every[:7])[:-1]))
    c.add("data_partial_sample", riff(f16, chunk(b"data", pcm[:31])))
    c.add("data_ffffffff", riff(f16, chunk(b"data", pcm, 0xFFFFFFFF), size=0xFFFFFFFF))
    c.add("data_7fffffff", riff(f16, chunk(b"data", pcm, 0x7FFFFFFF)))
    c.add("data_0_riff_0", riff(f16, chunk(b"data", pcm, 0), size=0))
    c.add("data_0_riff_8", riff(f16, chunk(b"data", pcm, 0), size=8))
    c.add("data_0_riff_ffffffff", riff(f16, chunk(b"data", pcm, 0), size=0xFFFFFFFF))
    c.add("data_short", riff(f16, chunk(b"data", pcm, 20)))
    c.add("bytes_before_data_1", riff(f16, b"\0", data))
    c.add("bytes_before_data_2", riff(f16, b"\0\0", data))
    c.add("bytes_before_data_3", riff(f16, b"\1\2\3", data))
    c.add("bytes_before_data_4", riff(f16, b"\1\2\3\4", data))
    c.add("fmt_after_data", riff(data, f16))
    c.add("no_data", riff(f16))
    c.add("no_fmt", riff(data))
    c.add("fmt_14", riff(chunk(b"fmt ", f16[8:22]), data))
    c.add("fmt_twice", riff(f16, fmt(1, 2, 8000, 8), data))
    c.add("channels_0", riff(fmt(1, 0, 16000, 16), data))
    c.add("channels_1025", riff(fmt(1, 1025, 16000, 16), chunk(b"data", bytes(4100))))
    c.add("rate_0", riff(fmt(1, 1, 0, 16), data))
    c.add("rate_2147483648", riff(chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 1 << 31, 0, 2, 16)), data))
    c.add("bits_0", riff(fmt(1, 1, 16000, 0, align=2), data))
    c.add("bits_40", riff(fmt(1, 1, 16000, 40), data))
    c.add("float_16", riff(fmt(3, 1, 16000, 24), data))
    c.add("wavpack", riff(f16, chunk(b"data", b"wvpk" + pcm)))
    guid = bytes.fromhex("000000001000800000aa00389b71")
    ambisonic = bytes.fromhex("00002107d3118644c8c1ca000000")

    def extensible(tag, channels, bits, tail=guid):
        return fmt(0xFFFE, channels, 16000, bits, struct.pack("<HHIH", 22, bits, 0, tag) + tail)

    c.add("ext_pcm", riff(extensible(1, 1, 16), data))
    c.add("ext_ambisonic", riff(extensible(1, 1, 16, ambisonic), data))
    c.add("ext_other", riff(extensible(1, 1, 16, bytes(14)), data))
    c.add("ext_short", riff(chunk(b"fmt ", extensible(1, 1, 16)[8:40]), data))
    ds64 = chunk(b"ds64", struct.pack("<QQQI", 0, 40, 20, 0))
    c.add("rf64_size", riff(ds64, f16, chunk(b"data", pcm, 0xFFFFFFFF), size=0xFFFFFFFF, head=b"RF64"))
    c.add("rf64_large", riff(chunk(b"ds64", struct.pack("<QQQI", 0, 1 << 40, 20, 0)), f16, chunk(b"data", pcm, 0xFFFFFFFF), size=0xFFFFFFFF, head=b"RF64"))
    whole = riff(chunk(b"JUNK", b"123456"), f16, data)
    for n in (4, 11, 12, 19, 25, 30, 45, 57, 58, 59, 80, len(whole) - 1):
        c.add(f"cut_{n}", whole[:n])
    c.write()


def au():
    c = Cases("au")
    for i, s in enumerate(["PCM_S8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ALAW", "ULAW"]):
        for endian in ("BIG", "LITTLE"):
            channels = (1, 2, 3)[(i + len(endian)) % 3]
            c.add(f"{s}_{endian}_{channels}", file(signal(40, channels), (8000, 16000, 44100)[i % 3], "AU", s, endian=endian))

    def header(offset=28, size=60, encoding=3, rate=16000, channels=1):
        return b".snd" + struct.pack(">IIIII", offset, size & 0xFFFFFFFF, encoding, rate, channels) + b"text"

    pcm = (signal(30, 1) * 32767).astype(">i2").tobytes()
    c.add("text", header() + pcm)
    c.add("no_text", header(24)[:24] + pcm)
    c.add("size_unknown", header(size=-1) + pcm)
    c.add("size_0", header(size=0) + pcm)
    c.add("size_less", header(size=21) + pcm)
    c.add("size_more", header(size=1000) + pcm)
    c.add("no_samples", header(size=0))
    c.add("cut", header()[:20])
    c.add("offset_behind", header(offset=1000) + pcm)
    c.add("channels_0", header(channels=0) + pcm)
    c.add("channels_1025", header(channels=1025) + pcm)
    c.add("rate_0", header(rate=0) + pcm)
    c.add("g722", header(encoding=24) + pcm)
    c.add("unknown", header(encoding=99) + pcm)
    c.write()


def aiff():
    c = Cases("aiff")
    for i, s in enumerate(["PCM_S8", "PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ALAW", "ULAW"]):
        channels = (1, 2, 3)[i % 3]
        c.add(f"{s}_{channels}", file(signal(40, channels), (8000, 11025, 16000, 22050, 44100, 48000)[i % 6], "AIFF", s))
    for s in ("PCM_16", "PCM_24", "PCM_32"):
        c.add(f"{s}_LITTLE", file(signal(23, 2), 96000, "AIFF", s, endian="LITTLE"))

    def comm(channels=1, frames=30, bits=16, rate="400cfa00000000000000", more=b""):
        return chunk(b"COMM", struct.pack(">hIh", channels, frames, bits) + bytes.fromhex(rate) + more, order=">")

    def form(*chunks, kind=b"AIFF"):
        body = kind + b"".join(chunks)
        return b"FORM" + struct.pack(">I", len(body)) + body

    pcm = (signal(30, 1) * 32767).astype(">i2").tobytes()
    ssnd = chunk(b"SSND", bytes(8) + pcm, order=">")
    c.add("plain", form(comm(), ssnd))
    c.add("chunks_before", form(chunk(b"NAME", b"abc", order=">"), comm(), chunk(b"ANNO", b"hello", order=">"), ssnd))
    c.add("chunks_after", form(comm(), ssnd, chunk(b"NAME", b"abc", order=">")))
    c.add("offset", form(comm(), chunk(b"SSND", struct.pack(">II", 4, 0) + b"skip" + pcm, order=">")))
    c.add("frames_less", form(comm(frames=3), ssnd))
    c.add("frames_more", form(comm(frames=3000), ssnd))
    c.add("size_more", form(comm(), chunk(b"SSND", bytes(8) + pcm, 8000, order=">")))
    c.add("size_less", form(comm(), chunk(b"SSND", bytes(8) + pcm[:21], order=">")))
    c.add("bits_12", form(comm(bits=12), ssnd))
    c.add("bits_20", form(comm(bits=20), ssnd))
    c.add("bits_40", form(comm(bits=40), ssnd))
    c.add("bits_0", form(comm(bits=0), ssnd))
    for kind in (b"NONE", b"twos", b"sowt", b"fl32", b"alaw", b"ulaw", b"raw ", b"in24", b"MAC3", b"QDM2"):
        c.add("aifc_" + kind.decode().strip(), form(comm(more=kind + b"\0\0"), ssnd, kind=b"AIFC"))
    for name, r in {"44100": "400eac44000000000000", "8000_5": "400bfa04000000000000", "1": "3fff8000000000000000", "0": "00000000000000000000",
                    "half": "3ffe8000000000000000", "negative": "c00cfa00000000000000", "2_29": "401c8000000000000000", "2_31": "401e8000000000000000"}.items():
        c.add("rate_" + name, form(comm(rate=r), ssnd))
    c.add("channels_0", form(comm(channels=0), ssnd))
    c.add("channels_1025", form(comm(channels=1025), chunk(b"SSND", bytes(8 + 4100), order=">")))
    c.add("comm_17", form(chunk(b"COMM", comm()[8:25], order=">"), ssnd))
    c.add("no_comm", form(ssnd))
    c.add("no_ssnd", form(comm()))
    c.add("comm_last", form(ssnd, comm()))
    whole = form(comm(), ssnd)
    for n in (12, 19, 30, 38, 45, 50, 54, 55, len(whole) - 1):
        c.add(f"cut_{n}", whole[:n])
    c.write()


class Bits:
    def __init__(self):
        self.out, self.n, self.v = bytearray(), 0, 0

    def put(self, value, bits):
        self.v = self.v << bits | value & (1 << bits) - 1
        self.n += bits
        while self.n >= 8:
            self.n -= 8
            self.out.append(self.v >> self.n & 255)
        self.v &= (1 << self.n) - 1

    def unary(self, n):
        for _ in range(n):
            self.put(0, 1)
        self.put(1, 1)

    def align(self):
        if self.n:
            self.put(0, 8 - self.n)


def crc(data, poly, bits):
    c = 0
    for x in data:
        c ^= x << bits - 8
        for _ in range(8):
            c = (c << 1 ^ (poly if c >> bits - 1 else 0)) & (1 << bits) - 1
    return c


def utf8(n):
    if n < 0x80:
        return bytes([n])
    size = 2
    while n >= 1 << 5 * size + 1:
        size += 1
    out = []
    for _ in range(size - 1):
        out.insert(0, 0x80 | n & 63)
        n >>= 6
    return bytes([(0xFF << 8 - size) & 255 | n] + out)


def stream_info(channels, bits, total, block=4096, rate=16000, least=None):
    x = rate << 44 | channels - 1 << 41 | bits - 1 << 36 | total
    return b"fLaC\x80\0\0\x22" + struct.pack(">HH", block if least is None else least, block) + bytes(6) + struct.pack(">Q", x) + bytes(16)


def rice(b, residuals, order, block, partitions=0, k=7, method=0):
    b.put(method, 2)
    b.put(partitions, 4)
    size, at = block >> partitions, 0
    for p in range(1 << partitions):
        n = size - (order if p == 0 else 0)
        kk = k[p] if isinstance(k, list) else k
        if kk == "raw":
            part = residuals[at:at + n]
            raw = max([int(v).bit_length() + 1 for v in part] + [0]) if any(part) else 0
            b.put(31 if method else 15, 5 if method else 4)
            b.put(raw, 5)
            for v in part:
                b.put(int(v), raw)
        else:
            b.put(kk, 5 if method else 4)
            for v in residuals[at:at + n]:
                u = int(v) << 1 if v >= 0 else (-int(v) << 1) - 1
                b.unary(u >> kk)
                b.put(u, kk)
        at += n


FIXED = {0: [], 1: [1], 2: [2, -1], 3: [3, -3, 1], 4: [4, -6, 4, -1]}


def subframe(b, x, bits, kind, wasted=0, order=0, coefs=None, shift=0, precision=8, **how):
    code = {"constant": 0, "verbatim": 1, "fixed": 8 + order, "lpc": 31 + order}[kind]
    b.put(code << 1 | (1 if wasted else 0), 8)
    if wasted:
        b.unary(wasted - 1)
    x = [int(v) >> wasted for v in x]
    bits -= wasted
    if kind == "constant":
        b.put(x[0], bits)
        return
    if kind == "verbatim":
        for v in x:
            b.put(v, bits)
        return
    for v in x[:order]:
        b.put(v, bits)
    if kind == "fixed":
        coefs = FIXED[order]
    else:
        b.put(precision - 1, 4)
        b.put(shift, 5)
        for v in coefs:
            b.put(v, precision)
    res = [x[i] - (sum(q * x[i - 1 - j] for j, q in enumerate(coefs)) >> shift) for i in range(order, len(x))]
    rice(b, res, order, len(x), **how)


def frame(channels, bits, number, parts, assignment=None, variable=False, block=None, bits_code=None, rate_code=0, rate_tail=b""):
    """parts are (samples, bits, how) for each subframe."""
    n = len(parts[0][0])
    code = {8: 1, 12: 2, 16: 4, 20: 5, 24: 6, 32: 7}.get(bits, 0) if bits_code is None else bits_code
    size_code, size_tail = (6, bytes([n - 1])) if n <= 256 else (7, struct.pack(">H", n - 1))
    if block == "code" and n in (192, 256, 512, 576, 4096):
        size_code, size_tail = {192: 1, 576: 2, 256: 8, 512: 9, 4096: 12}[n], b""
    head = bytes([0xFF, 0xF9 if variable else 0xF8, size_code << 4 | rate_code, (channels - 1 if assignment is None else assignment) << 4 | code << 1])
    head += utf8(number) + size_tail + rate_tail
    head += bytes([crc(head, 7, 8)])
    b = Bits()
    for x, width, how in parts:
        subframe(b, x, width, **how)
    b.align()
    data = head + bytes(b.out)
    return data + struct.pack(">H", crc(data, 0x8005, 16))


def flac():
    c = Cases("flac")
    for i, (s, bits) in enumerate([("PCM_S8", 8), ("PCM_16", 16), ("PCM_24", 24)]):
        for channels in (1, 2, 8):
            c.add(f"{s}_{channels}", file(signal(300, channels), (8000, 44100, 96000)[i], "FLAC", s, compression_level=(0.0, 0.6, 1.0)[i]))
    t = np.arange(5000)
    tone = (0.9 * np.sin(t / 30) * 32767).astype(np.int16)
    c.add("tone", file(tone, 16000, "FLAC", "PCM_16", compression_level=1.0))
    c.add("tone_stereo", file(np.stack([tone, tone // 2 + 7], 1), 16000, "FLAC", "PCM_16", compression_level=1.0))
    c.add("silence", file(np.zeros(9000, np.int16), 16000, "FLAC", "PCM_16"))
    c.add("square", file(np.where(t % 40 < 20, 32767, -32768).astype(np.int16), 16000, "FLAC", "PCM_16"))
    c.add("sample_1", file(np.array([-32768], np.int16), 16000, "FLAC", "PCM_16"))
    c.add("samples_160", file(tone[:160], 16000, "FLAC", "PCM_16"))

    # Every kind of subframe, by a writer of this file.
    kinds = {
        "constant": dict(kind="constant"), "verbatim": dict(kind="verbatim"),
        **{f"fixed_{o}": dict(kind="fixed", order=o) for o in range(5)},
        **{f"lpc_{o}": dict(kind="lpc", order=o, coefs=[(-1) ** j * (90 - 2 * j) for j in range(o)], shift=6, k=12) for o in (1, 2, 3, 4, 5, 8, 9, 12, 13, 32)},
        "lpc_shift_0": dict(kind="lpc", order=2, coefs=[1, -1], shift=0, k=9),
        "lpc_precision_15": dict(kind="lpc", order=3, coefs=[16000, -16384, 9000], shift=14, precision=15),
        "partitions": dict(kind="fixed", order=2, partitions=3, k=[0, 3, 6, 9, 12, 14, 1, 2]),
        "rice2": dict(kind="fixed", order=1, method=1, k=20), "rice2_raw": dict(kind="fixed", order=1, method=1, k="raw"),
        "raw": dict(kind="fixed", order=1, partitions=2, k=["raw", 5, "raw", 7]), "rice_0": dict(kind="fixed", order=2, k=0),
        "wasted": dict(kind="fixed", order=1, wasted=3), "wasted_verbatim": dict(kind="verbatim", wasted=5),
    }
    x = np.round(np.sin(np.arange(64) / 5) * 3000 + np.cos(np.arange(64) * 1.7) * 40).astype(np.int64)
    for name, how in kinds.items():
        v = np.full(64, -1234) if name == "constant" else x >> 3 << 3 if how.get("wasted") == 3 else x >> 5 << 5 if "wasted" in how else x
        c.add(name, stream_info(1, 16, 64, 64) + frame(1, 16, 0, [(v, 16, how)]))
    zeros = np.zeros(64, int)
    c.add("raw_0_bits", stream_info(1, 16, 64, 64) + frame(1, 16, 0, [(zeros, 16, dict(kind="fixed", order=0, k="raw"))]))
    how = dict(kind="fixed", order=2)
    left, right = x, (x * 3 >> 2) + 5
    side = left - right
    mid = left + right >> 1
    c.add("left_side", stream_info(2, 16, 64, 64) + frame(2, 16, 0, [(left, 16, how), (side, 17, how)], 8))
    c.add("side_right", stream_info(2, 16, 64, 64) + frame(2, 16, 0, [(side, 17, how), (right, 16, how)], 9))
    c.add("mid_side", stream_info(2, 16, 64, 64) + frame(2, 16, 0, [(mid, 16, how), (side, 17, how)], 10))
    extreme = np.array([-32768, 32767] * 32)
    c.add("mid_side_extreme", stream_info(2, 16, 64, 64) + frame(2, 16, 0, [(extreme + extreme[::-1] >> 1, 16, dict(kind="verbatim")), (extreme - extreme[::-1], 17, dict(kind="verbatim"))], 10))
    for bits in (4, 8, 12, 17, 20, 24, 32):
        v = x << bits - 16 if bits >= 16 else x >> 16 - bits
        big = np.stack([v, v * 3 >> 2], 1)
        written = (big / 2.0 ** (bits - 1)).astype(np.float32)
        if bits == 32:
            written = big.astype(np.float32) / np.float32(2**31)
        m, s = big.sum(1) >> 1, big[:, 0] - big[:, 1]
        parts = [(m, bits, dict(kind="lpc", order=2, coefs=[60, -30], shift=5, method=1, k=max(bits - 10, 0))), (s, bits + 1, dict(kind="fixed", order=1, method=1, k=max(bits - 10, 0)))]
        c.add(f"bits_{bits}", stream_info(2, bits, 64, 64) + frame(2, bits, 0, parts, 10), (written, 16000))
    v = np.array([-2**31, 2**31 - 1] * 32)
    w = v[::-1].copy()
    c.add("bits_32_extreme", stream_info(2, 32, 64, 64) + frame(2, 32, 0, [(v, 32, dict(kind="verbatim")), (v - w, 33, dict(kind="verbatim"))], 8),
          ((np.stack([v, w], 1).astype(np.float32) / np.float32(2**31)), 16000))
    for n in (192, 256, 512, 576):
        y = (np.arange(n) * 37 % 251) - 100
        c.add(f"block_{n}", stream_info(1, 16, n, n) + frame(1, 16, 0, [(y, 16, dict(kind="fixed", order=1, k=6))], block="code"))
    two = [frame(1, 16, i, [(x * (i + 1) >> 1, 16, how)]) for i in range(3)]
    c.add("frames_3", stream_info(1, 16, 192, 64) + b"".join(two))
    c.add("frames_fewer", stream_info(1, 16, 150, 64) + b"".join(two))
    c.add("frames_unknown", stream_info(1, 16, 0, 64) + b"".join(two), (np.concatenate([x * (i + 1) >> 1 for i in range(3)])[:, None] / 2**15, 16000))
    c.add("frames_missing", stream_info(1, 16, 192, 64) + two[0] + two[2])
    c.add("frames_more_promised", stream_info(1, 16, 500, 64) + b"".join(two))
    c.add("frames_garbage_between", stream_info(1, 16, 192, 64) + two[0] + b"garbage" + two[1] + two[2])
    c.add("frames_garbage_after", stream_info(1, 16, 192, 64) + b"".join(two) + b"garbage")
    c.add("frames_cut", stream_info(1, 16, 192, 64) + b"".join(two)[:-20])
    c.add("frames_cut_1", stream_info(1, 16, 192, 64) + b"".join(two)[:-1])
    c.add("frames_cut_header", stream_info(1, 16, 192, 64) + two[0] + two[1][:4])
    c.add("frames_none", stream_info(1, 16, 192, 64))
    variable = [frame(1, 16, at, [(x[:n], 16, how)], variable=True) for at, n in ((0, 64), (64, 16), (80, 40))]
    c.add("variable", stream_info(1, 16, 120, 64, least=16) + b"".join(variable))
    c.add("fixed_numbers_variable_info", stream_info(1, 16, 128, 64, least=16) + two[0] + two[1])
    c.add("number_large", stream_info(1, 16, 0, 64) + frame(1, 16, 70000, [(x, 16, how)]), (x[:, None] / 2**15, 16000))
    c.add("bits_of_stream", stream_info(1, 16, 64, 64) + frame(1, 16, 0, [(x, 16, how)], bits_code=0))
    c.add("rate_in_frame", stream_info(1, 16, 64, 64) + frame(1, 16, 0, [(x, 16, how)], rate_code=13, rate_tail=struct.pack(">H", 16000)))
    c.add("rate_in_frame_other", stream_info(1, 16, 64, 64) + frame(1, 16, 0, [(x, 16, how)], rate_code=12, rate_tail=bytes([44])))
    c.add("channels_change", stream_info(2, 16, 64, 64) + two[0])
    one = stream_info(1, 16, 64, 64) + two[0]
    for at, bit in ((45, 1), (46, 0), (50, 3), (60, 7), (len(one) - 1, 0), (len(one) - 2, 5)):
        bad = bytearray(one)
        bad[at] ^= 1 << bit
        c.add(f"flipped_{at}", bytes(bad))
    bad = bytearray(b"".join(two))
    bad[len(two[0]) + 20] ^= 4
    c.add("flipped_second", stream_info(1, 16, 192, 64) + bytes(bad))
    padding = b"\x01\0\0\5" + bytes(5)
    info = stream_info(1, 16, 64, 64)
    c.add("metadata", info[:4] + b"\0" + info[5:] + padding[:] + b"\x84\0\0\x0c" + b"\4\0\0\0test\0\0\0\0" + two[0])
    c.add("no_stream_info", b"fLaC\x81\0\0\5" + bytes(5) + two[0])
    # Predictions that lead beyond the frame's bits, with valid checksums.
    c.add("beyond_16", stream_info(1, 16, 64, 64) + frame(1, 16, 0, [(np.append(x[:63], 32768), 16, how)]))
    c.add("beyond_16_least", stream_info(1, 16, 64, 64) + frame(1, 16, 0, [(np.append(x[:63], -32769), 16, how)]))
    c.add("beyond_16_side", stream_info(2, 16, 64, 64) + frame(2, 16, 0, [(x, 16, how), (np.append(side[:63], x[63] - 32768), 17, how)], 8))
    c.write()


if __name__ == "__main__":
    wav()
    au()
    aiff()
    flac()
