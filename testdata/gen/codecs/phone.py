"""Writes testdata/phone: AVIF and HEIC files, and what Pillow and pillow-heif read of them.

The files are made by the encoders in the wheels of Pillow 13.0.0 (libavif 1.4.2, libaom) and pillow-heif 1.8.1
(libheif 1.23.6, x265), which are called through ctypes, because Pillow writes 8 bits and matrix 6 only. goldens.json
has the SHA-256 of the pixels. Small files become the proofs of codec/avif and codec/heif: proof/NAME and the SHA-256
of their planes as the library gives them.

usage: phone.py [FOLDER N]
With FOLDER it writes N other files of each format and their goldens.json there, for parity.
"""
import ctypes, glob, hashlib, io, json, os, struct, sys
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint8, c_uint32, c_void_p

import numpy as np
import PIL
import pillow_heif
from PIL import ExifTags, Image, ImageOps

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
SITE = os.path.dirname(os.path.dirname(os.path.abspath(PIL.__file__)))
pillow_heif.register_heif_opener()


def library(pattern):
    lib = ctypes.CDLL(glob.glob(os.path.join(SITE, pattern))[0])
    return lib


def check(ok, what):
    if not ok:
        sys.exit("phone.py: " + what)


def planes(w, h, chroma, depth, alpha, seed, full=True):
    """Planes of edges, gradients and noise: Y, U, V and A, those that there are."""
    rng = np.random.RandomState(seed)
    top = (1 << depth) - 1
    out = []
    sizes = [(w, h)]
    if chroma != "400":
        cw = w if chroma == "444" else (w + 1) // 2
        ch = (h + 1) // 2 if chroma == "420" else h
        sizes += [(cw, ch)] * 2
    if alpha:
        sizes.append((w, h))
    for i, (pw, ph) in enumerate(sizes):
        y, x = np.mgrid[0:ph, 0:pw]
        v = (x * (3 + i) + y * (5 - i)) * 7 % 256 * top // 255
        v = np.where((x // 5 + y // 3 + i) % 3 == 0, top - v, v)
        v = np.clip(v + rng.randint(-top // 8, top // 8 + 1, (ph, pw)), 0, top)
        out.append(v.astype(np.uint16 if depth > 8 else np.uint8))
    return out


# ---- AVIF ----

avif = library("pillow.libs/libavif-*")
avif.avifVersion.restype = c_char_p
check(avif.avifVersion() == b"1.4.2", f"libavif is {avif.avifVersion()}, want 1.4.2")
for f in ("avifImageCreate", "avifEncoderCreate", "avifDecoderCreate", "avifImageCreateEmpty"):
    getattr(avif, f).restype = c_void_p
# Pillow's libaom has no high bit depths: Debian 12's libavif15 encodes those.
try:
    deep = ctypes.CDLL("libavif.so.15")
except OSError:
    sys.exit("phone.py: libavif.so.15 is missing (Debian 12: libavif15)")
deep.avifVersion.restype = c_char_p
check(deep.avifVersion() == b"0.11.1", f"libavif.so.15 is {deep.avifVersion()}, want 0.11.1")
for f in ("avifImageCreate", "avifEncoderCreate"):
    getattr(deep, f).restype = c_void_p
FORMATS = {"444": 1, "422": 2, "420": 3, "400": 4}


class Data(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


def poke(p, offset, type, v):
    type.from_address(p + offset).value = v


def peek(p, offset, type):
    return type.from_address(p + offset).value


def avif_image(w, h, chroma, depth, alpha, seed, full, matrix, orientation=1, premultiplied=False):
    lib = deep if depth > 8 else avif
    p = lib.avifImageCreate(w, h, depth, FORMATS[chroma])
    poke(p, 16, c_int, int(full))
    poke(p, 80, c_int, int(premultiplied))
    poke(p, 108, ctypes.c_uint16, matrix)
    angle, axis = {1: (0, None), 2: (0, 1), 3: (2, None), 4: (0, 0), 5: (1, 0), 6: (3, None), 7: (3, 0), 8: (1, None)}[orientation]
    if orientation > 1:  # 8 bits only
        poke(p, 116, c_uint32, (4 if angle else 0) | (8 if axis is not None else 0))
        poke(p, 160, c_uint8, angle)
        poke(p, 161, c_uint8, axis or 0)
    check(lib.avifImageAllocatePlanes(c_void_p(p), 3 if alpha else 1) == 0, "no memory")
    source = planes(w, h, chroma, depth, alpha, seed)
    for i, a in enumerate(source):
        at, row = (64, 72) if alpha and i == len(source) - 1 else (24 + 8 * i, 48 + 4 * i)
        base, stride = peek(p, at, c_void_p), peek(p, row, c_uint32)
        for y in range(a.shape[0]):
            ctypes.memmove(base + y * stride, a[y].tobytes(), a[y].nbytes)
    return p


def avif_file(w, h, chroma, depth=8, alpha=False, seed=0, full=True, matrix=6, grid=None, frames=1, quality=85, **more):
    lib = deep if depth > 8 else avif
    encoder = lib.avifEncoderCreate()
    poke(encoder, 4, c_int, 1)
    poke(encoder, 8, c_int, 8)
    if depth == 8:
        poke(encoder, 32, c_int, quality)
        poke(encoder, 36, c_int, quality)
    else:  # minQuantizer and its three neighbours
        for i in range(4):
            poke(encoder, 24 + 4 * i, c_int, 12)
    columns, rows = grid or (1, 1)
    cells = [avif_image(w, h, chroma, depth, alpha, seed + i, full, matrix, **more) for i in range(columns * rows * frames)]
    if grid:
        r = lib.avifEncoderAddImageGrid(c_void_p(encoder), columns, rows, (c_void_p * len(cells))(*cells), 2)
    else:
        r = 0
        for c in cells:
            r = r or lib.avifEncoderAddImage(c_void_p(encoder), c_void_p(c), ctypes.c_uint64(1), 2 if frames == 1 else 0)
    out = Data()
    r = r or lib.avifEncoderFinish(c_void_p(encoder), byref(out))
    check(r == 0, f"avifEncoder: {r} for {chroma} {depth} {w}x{h}")
    data = ctypes.string_at(out.data, out.size)
    lib.avifRWDataFree(byref(out))
    for c in cells:
        lib.avifImageDestroy(c_void_p(c))
    lib.avifEncoderDestroy(c_void_p(encoder))
    return data


def rows_of(base, stride, width, height, depth):
    size = 2 if depth > 8 else 1
    return b"".join(ctypes.string_at(base + y * stride, width * size) for y in range(height))


def avif_planes(data):
    """The SHA-256 of the planes that libavif decodes: Y, U, V, A."""
    decoder, image = avif.avifDecoderCreate(), avif.avifImageCreateEmpty()
    check(avif.avifDecoderReadMemory(c_void_p(decoder), c_void_p(image), data, c_size_t(len(data))) == 0, "avifDecoderReadMemory")
    w, h, depth, f = (peek(image, 4 * i, c_uint32) for i in range(4))
    d = hashlib.sha256()
    for i in range(4):
        base, stride = (peek(image, 24 + 8 * i, c_void_p), peek(image, 48 + 4 * i, c_uint32)) if i < 3 else (peek(image, 64, c_void_p), peek(image, 72, c_uint32))
        pw, ph = w, h
        if i in (1, 2):
            pw, ph = (w if f == 1 else (w + 1) // 2), ((h + 1) // 2 if f == 3 else h)
        if base:
            d.update(rows_of(base, stride, pw, ph, depth))
    avif.avifImageDestroy(c_void_p(image))
    avif.avifDecoderDestroy(c_void_p(decoder))
    return d.hexdigest()


# ---- goldens ----


def digest(im):
    return hashlib.sha256(np.asarray(im).tobytes()).hexdigest()


def golden(data):
    im = Image.open(io.BytesIO(data))
    g = {
        "mode": im.mode, "width": im.width, "height": im.height, "frames": getattr(im, "n_frames", 1),
        "orientation": im.getexif().get(ExifTags.Base.Orientation, 1),
    }
    g["rgb"], g["gray"], g["rgba"] = digest(im.convert("RGB")), digest(im.convert("L")), digest(im.convert("RGBA"))
    up = ImageOps.exif_transpose(im).convert("RGB")
    g["upright"] = digest(up)
    return g


def write(folder, files, refused):
    os.makedirs(folder, exist_ok=True)
    goldens = {}
    for name, data in sorted(files.items()):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
        goldens[name] = {"refused": refused[name]} if name in refused else golden(data)
    with open(os.path.join(folder, "goldens.json"), "w") as f:
        json.dump(goldens, f, indent=1, sort_keys=True)
        f.write("\n")


def prove(folder, files, digests):
    os.makedirs(folder, exist_ok=True)
    for old in glob.glob(os.path.join(folder, "*")):
        os.remove(old)
    lines = []
    for name, data in sorted(files.items()):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
        lines.append(f"{digests(data)}  {name}\n")
    with open(os.path.join(folder, "planes.sha256"), "w") as f:
        f.writelines(lines)


files, refused = {}, {}
seed = 0
for chroma in FORMATS:
    for depth in (8, 10, 12):
        for alpha in (False, True):
            for full in (True, False):
                seed += 1
                w, h = [(19, 13), (16, 12), (13, 18)][seed % 3]
                name = f"avif_{chroma}_{depth}{'a' if alpha else ''}_{'full' if full else 'limited'}.avif"
                files[name] = avif_file(w, h, chroma, depth, alpha, seed, full)
                if chroma == "400" and alpha and depth > 8:
                    refused[name] = "gray with alpha in %d bits" % depth
for matrix in (1, 2, 5, 9):
    for full in (True, False):
        files[f"avif_matrix{matrix}_{'full' if full else 'limited'}.avif"] = avif_file(20, 11, "420", 8, False, 100 + matrix, full, matrix)
files["avif_matrix1_alpha_gray.avif"] = avif_file(20, 11, "400", 8, True, 120, True, 1)
files["avif_matrix9_alpha_gray.avif"] = avif_file(20, 11, "400", 8, True, 120, False, 9)
files["avif_matrix9_10a.avif"] = avif_file(20, 11, "444", 10, True, 121, False, 9)
files["avif_rgb.avif"] = avif_file(9, 11, "444", 8, False, 122, True, 0)
files["avif_rgb_alpha.avif"] = avif_file(9, 11, "444", 8, True, 123, True, 0)
for w, h in ((1, 1), (2, 2), (1, 9), (9, 1), (3, 2), (2, 3), (64, 65), (130, 67)):
    files[f"avif_{w}x{h}.avif"] = avif_file(w, h, "420", 8, False, w * h, w % 2 == 0)
for o in range(2, 9):
    files[f"avif_orientation{o}.avif"] = avif_file(14, 11, "420", 8, False, 200 + o, orientation=o)
files["avif_grid.avif"] = avif_file(64, 64, "420", 8, False, 210, grid=(2, 2), quality=40)
files["avif_grid_alpha.avif"] = avif_file(64, 64, "444", 8, True, 220, grid=(1, 2), quality=30)
files["avif_frames.avif"] = avif_file(24, 18, "420", 8, False, 230, frames=2)
for name, want, data in (
    ("avif_refused_matrix4.avif", "matrix coefficients 4", avif_file(8, 8, "420", 8, False, 240, True, 4)),
    ("avif_refused_ycgco.avif", "matrix coefficients 8", avif_file(8, 8, "444", 8, False, 241, True, 8)),
    ("avif_refused_rgb10.avif", "matrix coefficients 0", avif_file(8, 8, "444", 10, False, 242, True, 0)),
    ("avif_refused_premultiplied.avif", "premultiplied alpha", avif_file(8, 8, "444", 8, True, 243, premultiplied=True)),
):
    files[name], refused[name] = data, want

write(os.path.join(ROOT, "testdata", "phone"), files, refused)
prove(os.path.join(ROOT, "codec", "avif", "proof"), {
    "420_8a.avif": avif_file(9, 7, "420", 8, True, 300, False), "422_12.avif": avif_file(8, 9, "422", 12, False, 301),
    "444_10.avif": avif_file(8, 8, "444", 10, False, 302), "400_8.avif": avif_file(9, 8, "400", 8, False, 303),
}, avif_planes)
