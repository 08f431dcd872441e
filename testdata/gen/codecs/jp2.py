"""Writes codec/jp2/testdata: JPEG 2000 files, and what Pillow reads of them; and codec/jp2/proof.

The files are made by Pillow 13.0.0 and, for other depths, colours and samplings, by the OpenJPEG 2.5.4 in its wheel,
called through ctypes. goldens.json has the SHA-256 of the pixels, and of the samples that opj_decode gives, which
does not go by tiles. The proof has the SHA-256 of the samples by tiles and components.

usage: jp2.py [FOLDER N]
With FOLDER it writes there N random files and their goldens.json, for make parity-phone.
"""
import ctypes, glob, hashlib, io, json, os, random, struct, sys, tempfile
from ctypes import byref, c_char_p, c_int, c_uint8, c_uint32, c_void_p

import numpy as np
import PIL
from PIL import Image, features

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
SITE = os.path.dirname(os.path.dirname(os.path.abspath(PIL.__file__)))


def check(ok, what):
    if not ok:
        sys.exit("jp2.py: " + what)


check(PIL.__version__ == "13.0.0", f"Pillow is {PIL.__version__}, want 13.0.0")
check(features.version("jpg_2000") == "2.5.4", f"OpenJPEG is {features.version('jpg_2000')}, want 2.5.4")
opj = ctypes.CDLL(glob.glob(os.path.join(SITE, "pillow.libs", "libopenjp2-*"))[0])
for f in ("opj_image_create", "opj_create_compress", "opj_create_decompress", "opj_stream_create_default_file_stream"):
    getattr(opj, f).restype = c_void_p


def poke(p, offset, type, v):
    type.from_address(p + offset).value = v


def peek(p, offset, type):
    return type.from_address(p + offset).value


def pattern(w, h, depth, seed, signed=False):
    """A component of edges, gradients and noise."""
    rng = np.random.RandomState(seed)
    top = (1 << depth) - 1
    y, x = np.mgrid[0:h, 0:w]
    v = (x * (3 + seed % 5) + y * (5 - seed % 3)) * 7 % 256 * top // 255
    v = np.where((x // 5 + y // 3 + seed) % 3 == 0, top - v, v)
    v = np.clip(v + rng.randint(-(top // 8) - 1, top // 8 + 2, (h, w)), 0, top)
    return v - (1 << depth - 1) if signed else v


def encode(components, space, boxed=True, irreversible=False, mct=0, size=None, tile=None):
    """A file of OpenJPEG. A component is (samples, depth, signed, dx, dy); size is the image's, that of the first one by default."""
    params = (ctypes.c_uint8 * 65536)()
    opj.opj_set_default_encoder_parameters(params)
    p = ctypes.addressof(params)
    check(peek(p, 5600, c_int) == 6 and peek(p, 5604, c_int) == 64, "another layout of opj_cparameters_t")
    poke(p, 5616, c_int, int(irreversible))
    poke(p, 4796, c_int, 1)
    poke(p, 20, c_int, 1)
    if irreversible:
        poke(p, 4800, ctypes.c_float, 6)
    least = min(*(s for c in components for s in c[0].shape), *(tile or ()))
    poke(p, 5600, c_int, min(6, least.bit_length()))
    if tile:
        poke(p, 0, c_int, 1)
        poke(p, 12, c_int, tile[0])
        poke(p, 16, c_int, tile[1])
    h, w = components[0][0].shape
    if size:
        w, h = size
    form = (c_uint32 * (9 * len(components)))()
    for i, (v, depth, signed, dx, dy) in enumerate(components):
        form[9 * i : 9 * i + 9] = [dx, dy, v.shape[1], v.shape[0], 0, 0, depth, depth, int(signed)]
    image = opj.opj_image_create(len(components), form, space)
    for at, v in ((0, 0), (4, 0), (8, w), (12, h)):
        poke(image, at, c_uint32, v)
    comps = peek(image, 24, c_void_p)
    for i, c in enumerate(components):
        data = np.ascontiguousarray(c[0], dtype=np.int32)
        ctypes.memmove(peek(comps, 64 * i + 48, c_void_p), data.ctypes.data, data.nbytes)
    codec = opj.opj_create_compress(2 if boxed else 0)
    check(opj.opj_setup_encoder(c_void_p(codec), params, c_void_p(image)), "opj_setup_encoder")
    with tempfile.NamedTemporaryFile() as f:
        stream = opj.opj_stream_create_default_file_stream(f.name.encode(), 0)
        check(opj.opj_start_compress(c_void_p(codec), c_void_p(image), c_void_p(stream)), "opj_start_compress")
        check(opj.opj_encode(c_void_p(codec), c_void_p(stream)), "opj_encode")
        check(opj.opj_end_compress(c_void_p(codec), c_void_p(stream)), "opj_end_compress")
        opj.opj_stream_destroy(c_void_p(stream))
        opj.opj_destroy_codec(c_void_p(codec))
        opj.opj_image_destroy(c_void_p(image))
        with open(f.name, "rb") as g:
            return g.read()


def samples(data):
    """The components that opj_decode gives, None if it fails."""
    boxed = data[:4] == b"\0\0\0\x0c"
    params = (ctypes.c_uint8 * 65536)()
    opj.opj_set_default_decoder_parameters(params)
    codec = opj.opj_create_decompress(2 if boxed else 0)
    opj.opj_setup_decoder(c_void_p(codec), params)
    image = c_void_p()
    out = None
    with tempfile.NamedTemporaryFile() as f:
        f.write(data)
        f.flush()
        stream = opj.opj_stream_create_default_file_stream(f.name.encode(), 1)
        if opj.opj_read_header(c_void_p(stream), c_void_p(codec), byref(image)) and opj.opj_decode(c_void_p(codec), c_void_p(stream), image):
            out = []
            comps = peek(image.value, 24, c_void_p)
            for i in range(peek(image.value, 16, c_uint32)):
                c = comps + 64 * i
                w, h = peek(c, 8, c_uint32), peek(c, 12, c_uint32)
                v = np.frombuffer(ctypes.string_at(peek(c, 48, c_void_p), 4 * w * h), np.int32).reshape(h, w)
                out.append((v, peek(c, 24, c_uint32), peek(c, 32, c_uint32), peek(c, 0, c_uint32), peek(c, 4, c_uint32)))
        opj.opj_stream_destroy(c_void_p(stream))
    opj.opj_destroy_codec(c_void_p(codec))
    if image:
        opj.opj_image_destroy(image)
    return out


def digest(b):
    return hashlib.sha256(b).hexdigest()


def golden(data):
    """What Pillow reads."""
    g = {}
    try:
        im = Image.open(io.BytesIO(data))
        im.load()
        g.update(mode=im.mode, width=im.width, height=im.height, pixels=digest(im.tobytes()))
        for name, mode in (("rgb", "RGB"), ("gray", "L"), ("rgba", "RGBA")):
            g[name] = digest(im.convert(mode).tobytes())
    except Exception as e:
        return {"error": type(e).__name__}
    s = samples(data)
    if s and b"pclr" not in data and all(c[1:] == s[0][1:] for c in s) and s[0][1] <= 16 and s[0][3:] == (1, 1):
        g["native"] = digest(np.stack([c[0] for c in s], -1).astype("ui"[s[0][2]] + "12"[s[0][1] > 8]).tobytes())
    return g


def pillow(im, **options):
    f = io.BytesIO()
    im.save(f, "JPEG2000", **options)
    return f.getvalue()


def image(mode, w, h, seed):
    if mode == "I;16":
        return Image.fromarray(pattern(w, h, 16, seed).astype(np.uint16))
    bands = [Image.fromarray(pattern(w, h, 8, seed + i).astype(np.uint8)) for i in range(len(mode))]
    return bands[0] if mode == "L" else Image.merge(mode, bands)


def colours(depth, w, h, n, signed=False, **options):
    space = options.pop("space", 1 if n > 2 else 2)
    return encode([(pattern(w, h, depth, 3 + i, signed), depth, signed, 1, 1) for i in range(n)], space, **options)


def sub(w, h, dx, dy, space, n=3, **options):
    sizes = [(1, 1)] + [(dx, dy)] * 2 + [(1, 1)] * (n - 3)
    return encode([(pattern(-(-w // a), -(-h // b), 8, 7 + i), 8, False, a, b) for i, (a, b) in enumerate(sizes)], space, size=(w, h), **options)


def palette(columns, entries, depth=8, space=16, mode="L", bits=7):
    """A file of palette indices: boxes pclr and cmap put into one of Pillow's."""
    w, h = 19, 13
    v = pattern(w, h, depth, 5) % max(1, min(entries, 1 << depth))
    comps = [(v, depth, False, 1, 1)] + ([(pattern(w, h, 8, 9), 8, False, 1, 1)] if mode == "LA" else [])
    data = encode(comps, 2)
    rng = np.random.RandomState(entries)
    colours = rng.randint(0, 256, (entries, columns)).astype(np.uint8)
    colours[entries // 2 :: 3] = colours[0]  # colours that are there twice
    pclr = struct.pack(">HB", entries, columns) + bytes([bits] * columns) + colours.tobytes()
    cmap = b"".join(struct.pack(">HBB", 0, 1, i) for i in range(columns))
    at = data.index(b"jp2h") - 4
    length = struct.unpack(">I", data[at : at + 4])[0]
    head = data[at + 8 : at + length]
    i = head.index(b"colr")
    head = head[: i + 7] + struct.pack(">I", space) + head[i + 11 :]
    head += struct.pack(">I4s", 8 + len(pclr), b"pclr") + pclr + struct.pack(">I4s", 8 + len(cmap), b"cmap") + cmap
    return data[:at] + struct.pack(">I4s", 8 + len(head), b"jp2h") + head + data[at + length :]


def box(data, kind, payload, before):
    at = data.index(before) - 4
    return data[:at] + struct.pack(">I4s", 8 + len(payload), kind) + payload + data[at:]


def reverse(data):
    """A codestream with its tile-parts in the other order."""
    at = start = data.index(b"\xff\x90\x00\x0a")
    parts = []
    while data[at : at + 2] == b"\xff\x90":
        n = struct.unpack(">I", data[at + 6 : at + 10])[0]
        parts.append(data[at : at + n])
        at += n
    return data[:start] + b"".join(parts[::-1]) + data[at:]


def enumerated(data, space):
    at = data.index(b"colr") + 7
    return data[:at] + struct.pack(">I", space) + data[at + 4 :]


def files():
    f = {}
    for mode in ("L", "LA", "RGB", "RGBA", "I;16"):
        for irreversible in (False, True):
            kind = mode.replace(";", "").lower() + ("_97" if irreversible else "_53")
            f[kind + ".jp2"] = pillow(image(mode, 23, 17, 1), irreversible=irreversible, mct=int(len(mode) == 3))
            f[kind + "_tiles.j2k"] = pillow(image(mode, 45, 37, 2), irreversible=irreversible, tile_size=(16, 13), num_resolutions=3, no_jp2=True)
    rgb = image("RGB", 40, 31, 3)
    f["rgb_53_no_mct.jp2"] = pillow(rgb, mct=0)
    f["rgb_97_rates.jp2"] = pillow(rgb, irreversible=True, mct=1, quality_layers=[20, 10, 5])
    f["rgb_53_layers.jp2"] = pillow(rgb, mct=1, quality_mode="dB", quality_layers=[30, 40, 0])
    for order in ("RLCP", "RPCL", "PCRL", "CPRL"):
        f[f"rgb_97_{order.lower()}.j2k"] = pillow(rgb, irreversible=True, progression=order, precinct_size=(32, 32), codeblock_size=(16, 16), no_jp2=True)
    f["rgb_53_offset.jp2"] = pillow(rgb, offset=(5, 3), tile_offset=(2, 1), tile_size=(16, 16))
    f["rgb_97_plt.jp2"] = pillow(rgb, irreversible=True, plt=True, tile_size=(20, 20))
    f["l_53_signed.jp2"] = pillow(image("L", 11, 9, 4), signed=True)
    f["rgb_53_signed.j2k"] = pillow(image("RGB", 11, 9, 4), signed=True, no_jp2=True)
    f["l_53_one.jp2"] = pillow(image("L", 1, 1, 4))
    f["rgb_97_line.jp2"] = pillow(image("RGB", 37, 1, 4), irreversible=True)
    f["rgb_53_column.j2k"] = pillow(image("RGB", 1, 37, 4), no_jp2=True)
    f["l_53_comment.j2k"] = pillow(image("L", 9, 9, 4), comment="a comment", no_jp2=True)
    for depth in (1, 4, 7, 9, 10, 12, 15):
        f[f"gray_{depth}.jp2"] = colours(depth, 15, 12, 1)
        f[f"gray_{depth}.j2k"] = colours(depth, 15, 12, 1, boxed=False)
    for depth in (4, 10, 12, 16):
        f[f"colours_{depth}.jp2"] = colours(depth, 15, 12, 3, mct=1)
        f[f"colours_{depth}_97.j2k"] = colours(depth, 15, 12, 3, boxed=False, irreversible=True, tile=(8, 7))
    f["colours_alpha_12.jp2"] = colours(12, 15, 12, 4)
    f["gray_alpha_12.jp2"] = colours(12, 15, 12, 2)
    f["gray_20.jp2"] = colours(20, 15, 12, 1)
    f["gray_12_signed.jp2"] = colours(12, 15, 12, 1, signed=True)
    f["colours_12_signed.jp2"] = colours(12, 15, 12, 3, signed=True)
    f["colours_5_signed.jp2"] = colours(5, 15, 12, 3, signed=True)
    f["unlike_depths.jp2"] = encode([(pattern(15, 12, d, i), d, False, 1, 1) for i, d in enumerate((8, 5, 12, 1))], 1)
    cube = np.arange(256, dtype=np.int64).reshape(16, 16)
    every = [np.tile(cube, (4, 4)), np.repeat(np.repeat(cube, 4, 0), 4, 1), np.tile(cube.T, (4, 4))[::-1]]
    f["sycc_every.jp2"] = encode([(v, 8, False, 1, 1) for v in every], 3)
    f["sycc_alpha.jp2"] = encode([(pattern(20, 14, 8, i), 8, False, 1, 1) for i in range(4)], 3)
    for dx, dy in ((2, 1), (2, 2), (1, 2), (4, 1)):
        f[f"sycc_{dx}{dy}.jp2"] = sub(20, 16, dx, dy, 3)
        f[f"sub_{dx}{dy}.j2k"] = sub(20, 16, dx, dy, 0, boxed=False)
    f["sycc_odd.jp2"] = sub(21, 15, 2, 2, 3)
    f["sub_odd.j2k"] = sub(21, 15, 2, 2, 0, boxed=False, irreversible=True)
    f["sub_srgb.jp2"] = sub(20, 16, 2, 2, 1)
    f["sub_alpha.j2k"] = sub(20, 16, 2, 2, 0, n=4, boxed=False)
    f["sub_tiles.jp2"] = sub(36, 28, 2, 2, 3, tile=(16, 16))
    f["cmyk.jp2"] = enumerated(colours(8, 15, 12, 4), 12)
    f["refused_eycc.jp2"] = enumerated(colours(8, 15, 12, 3), 24)
    f["unknown_space.jp2"] = enumerated(colours(8, 15, 12, 3), 14)
    f["unknown_gray.jp2"] = enumerated(colours(8, 15, 12, 1), 14)
    f["refused_gray_as_rgb.jp2"] = enumerated(colours(8, 15, 12, 1), 16)
    f["refused_five.j2k"] = colours(8, 15, 12, 5, boxed=False)
    f["palette.jp2"] = palette(3, 200)
    f["palette_twice.jp2"] = palette(3, 256)
    f["palette_4_bits.jp2"] = palette(3, 16, depth=4)
    f["palette_alpha.jp2"] = palette(4, 90)
    f["palette_many.jp2"] = palette(3, 700)
    f["palette_deep.jp2"] = palette(3, 20, bits=9)
    f["palette_of_gray.jp2"] = palette(3, 20, space=17)
    f["refused_palette_cmyk.jp2"] = palette(4, 20, space=12)
    f["refused_palette_2.jp2"] = palette(2, 20)
    f["refused_palette_pa.jp2"] = palette(3, 20, mode="LA")
    f["tiles_reversed.j2k"] = reverse(f["rgb_97_tiles.j2k"])
    plain = f["rgb_97.jp2"]
    f["box_before.jp2"] = box(plain, b"xml ", b"x" * 50, b"jp2h")
    f["box_between.jp2"] = box(plain, b"uuid", b"x" * 50, b"jp2c")
    f["box_after.jp2"] = plain + struct.pack(">I4s", 20, b"xml ") + b"x" * 12
    f["box_cut_after.jp2"] = plain + struct.pack(">I4s", 200, b"xml ") + b"x" * 12
    at = plain.index(b"jp2c") - 4
    f["box_to_the_end.jp2"] = plain[:at] + struct.pack(">I", 0) + plain[at + 4 :]
    f["box_long.jp2"] = plain[:at] + struct.pack(">I4sQ", 1, b"jp2c", len(plain) - at + 8) + plain[at + 8 :]
    f["box_without_jp2c.jp2"] = plain[:at]
    for name in ("rgb_97.jp2", "rgb_53_tiles.j2k", "rgb_97_rates.jp2", "sub_tiles.jp2", "l_53.jp2"):
        data = f[name]
        tile = data.index(b"\xff\x93")  # SOD
        for i, n in enumerate((len(data) - 1, len(data) - 2, len(data) - 3, len(data) * 9 // 10, (tile + len(data)) // 2, tile + 5, tile, tile - 9, 60, 30)):
            stem, ext = name.split(".")
            f[f"cut_{stem}_{i}.{ext}"] = data[:n]
    return f


def proofs():
    """Small files, lossless and lossy, of which every decoder must give the same samples."""
    grow = dict(num_resolutions=4)
    return {
        "53.jp2": pillow(image("RGB", 31, 23, 11), mct=1, **grow),
        "53_16.j2k": pillow(image("I;16", 17, 14, 12), no_jp2=True, **grow),
        "97.jp2": pillow(image("RGB", 31, 23, 13), irreversible=True, mct=1, **grow),
        "97_16.j2k": pillow(image("I;16", 33, 27, 14), irreversible=True, tile_size=(16, 16), quality_layers=[4], no_jp2=True, **grow),
    }


def tiles(data):
    """The digest of the samples by tiles and components, from opj_decode."""
    comps = samples(data)
    at = data.index(b"\xff\x51") + 4
    x1, y1, x0, y0, tw, th = struct.unpack(">6I", data[at + 2 : at + 26])
    check(x0 == y0 == 0, "an offset")
    out = b""
    for y in range(0, y1, th):
        for x in range(0, x1, tw):
            for v, depth, *_ in comps:
                out += v[y : y + th, x : x + tw].astype(np.uint8 if depth <= 8 else np.uint16).tobytes()
    return digest(out)


def write(folder, made):
    os.makedirs(folder, exist_ok=True)
    for old in glob.glob(os.path.join(folder, "*")):
        os.remove(old)
    for name, data in made.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)


def write_goldens(folder, made):
    with open(os.path.join(folder, "goldens.json"), "w") as f:
        json.dump({name: golden(data) for name, data in sorted(made.items())}, f, indent=1)
        f.write("\n")


def random_files(n):
    """n files of each of the wavelets 5/3 and 9/7, by Pillow with random options."""
    rng = random.Random(20261129)
    f = {}
    for i in range(2 * n):
        mode = rng.choice(("L", "LA", "RGB", "RGB", "RGBA", "I;16"))
        options = dict(irreversible=i % 2 == 1, mct=int(mode == "RGB" and rng.random() < 0.6), no_jp2=rng.random() < 0.4)
        if rng.random() < 0.5:
            options["tile_size"] = (rng.choice((32, 64, 100, 128)), rng.choice((32, 64, 99, 128)))
        if rng.random() < 0.5:
            options["num_resolutions"] = rng.randint(1, 6)
        if rng.random() < 0.5:
            options["quality_layers"] = sorted((rng.randint(2, 40) for _ in range(rng.randint(1, 4))), reverse=True)
        if rng.random() < 0.3:
            options["progression"] = rng.choice(("LRCP", "RLCP", "RPCL", "PCRL", "CPRL"))
        if rng.random() < 0.3:
            options["codeblock_size"] = rng.choice(((32, 32), (16, 64), (4, 256)))
        if rng.random() < 0.3:
            options["precinct_size"] = rng.choice(((64, 64), (128, 128)))
        w, h = rng.randint(1, 400), rng.randint(1, 400)
        data = pillow(image(mode, w, h, i), **options)
        if rng.random() < 0.1:
            data = data[: rng.randint(len(data) // 2, len(data))]
        f[f"{i:03d}_{'97' if i % 2 else '53'}.jp2"] = data
    return f


if len(sys.argv) > 1:
    made = random_files(int(sys.argv[2]))
    write(sys.argv[1], made)
    write_goldens(sys.argv[1], made)
else:
    made = files()
    write(os.path.join(ROOT, "codec/jp2/testdata"), made)
    write_goldens(os.path.join(ROOT, "codec/jp2/testdata"), made)
    small = proofs()
    folder = os.path.join(ROOT, "codec/jp2/proof")
    write(folder, small)
    with open(os.path.join(folder, "planes.sha256"), "w") as f:
        for name, data in small.items():
            f.write(f"{tiles(data)}  {name}\n")
