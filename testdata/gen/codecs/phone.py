"""Writes testdata/phone: AVIF and HEIC files, and what Pillow and pillow-heif read of them. codec/avif/testdata/sequences.json
has animations of AVIF, as codec/animation/testdata/animations.json has those of other formats.

The files are made by the encoders in the wheels of Pillow 13.0.0 (libavif 1.4.2, libaom) and pillow-heif 1.8.1
(libheif 1.23.6, x265), which are called through ctypes, because Pillow writes 8 bits and matrix 6 only. goldens.json
has the SHA-256 of the pixels. Small files become the proofs of codec/avif and codec/heif: proof/NAME and the SHA-256
of their planes as the library gives them.

usage: phone.py [FOLDER N [PHOTOS]]
With FOLDER it writes there N random files of each format and their goldens.json, for make parity-phone. With PHOTOS,
a folder of photographs, every fourth file is one of them, encoded by Pillow's and pillow-heif's own save().
"""
import base64, ctypes, glob, hashlib, io, json, os, struct, sys, tempfile
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint8, c_uint32, c_void_p

import numpy as np
import PIL
import pillow_heif
from PIL import ExifTags, Image, ImageOps, ImageSequence

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


def avif_file(w, h, chroma, depth=8, alpha=False, seed=0, full=True, matrix=6, grid=None, frames=1, quality=85, timescale=1, delays=(), **more):
    lib = deep if depth > 8 else avif
    encoder = lib.avifEncoderCreate()
    poke(encoder, 16, ctypes.c_uint64, timescale)
    poke(encoder, 4, c_int, 1)
    poke(encoder, 8, c_int, 8)
    if depth == 8:
        poke(encoder, 32, c_int, quality)
        poke(encoder, 36, c_int, quality)
        for at in (384, 392):  # creationTime and modificationTime, for files that are equal every time
            poke(encoder, at, ctypes.c_uint64, 1)
    else:  # minQuantizer and its three neighbours
        for i in range(4):
            poke(encoder, 24 + 4 * i, c_int, 12)
    columns, rows = grid or (1, 1)
    cells = [avif_image(w, h, chroma, depth, alpha, seed + i, full, matrix, **more) for i in range(columns * rows * frames)]
    if grid:
        r = lib.avifEncoderAddImageGrid(c_void_p(encoder), columns, rows, (c_void_p * len(cells))(*cells), 2)
    else:
        r = 0
        for i, c in enumerate(cells):
            r = r or lib.avifEncoderAddImage(c_void_p(encoder), c_void_p(c), ctypes.c_uint64(delays[i] if delays else 1), 2 if frames == 1 else 0)
    out = Data()
    r = r or lib.avifEncoderFinish(c_void_p(encoder), byref(out))
    check(r == 0, f"avifEncoder: {r} for {chroma} {depth} {w}x{h}")
    data = ctypes.string_at(out.data, out.size)
    lib.avifRWDataFree(byref(out))
    for c in cells:
        lib.avifImageDestroy(c_void_p(c))
    lib.avifEncoderDestroy(c_void_p(encoder))
    if frames > 1 and depth > 8:  # libavif 0.11 writes the times at which it runs
        for box in (b"mvhd", b"tkhd", b"mdhd"):
            parts = data.split(box)
            data = box.join(parts[:1] + [p[:4] + struct.pack(">QQ", 1, 1) + p[20:] for p in parts[1:]])
    return data


def rows_of(base, stride, width, height, depth):
    size = 2 if depth > 8 else 1
    return b"".join(ctypes.string_at(base + y * stride, width * size) for y in range(height))


def avif_planes(data):
    """What libavif decodes: Y, U, V, A, those that there are, and what their conversion depends on."""
    decoder, image = avif.avifDecoderCreate(), avif.avifImageCreateEmpty()
    check(avif.avifDecoderReadMemory(c_void_p(decoder), c_void_p(image), data, c_size_t(len(data))) == 0, "avifDecoderReadMemory")
    w, h, depth, f = (peek(image, 4 * i, c_uint32) for i in range(4))
    out = []
    for i in range(4):
        base, stride = (peek(image, 24 + 8 * i, c_void_p), peek(image, 48 + 4 * i, c_uint32)) if i < 3 else (peek(image, 64, c_void_p), peek(image, 72, c_uint32))
        pw, ph = w, h
        if i in (1, 2):
            pw, ph = (w if f == 1 else (w + 1) // 2), ((h + 1) // 2 if f == 3 else h)
        if base:
            out.append((pw, ph, rows_of(base, stride, pw, ph, depth)))
    about = {"depth": depth, "format": f, "full": peek(image, 16, c_int) == 1, "matrix": peek(image, 108, ctypes.c_uint16)}
    avif.avifImageDestroy(c_void_p(image))
    avif.avifDecoderDestroy(c_void_p(decoder))
    return out, about


# ---- HEIC ----

heif = library("pillow_heif.libs/libheif-*")
heif.heif_get_version.restype = c_char_p
check(heif.heif_get_version() == b"1.23.6", f"libheif is {heif.heif_get_version()}, want 1.23.6")


class HeifError(ctypes.Structure):
    _fields_ = [("code", c_int), ("sub", c_int), ("message", c_char_p)]


for f in (
    "image_create", "image_add_plane", "image_set_nclx_color_profile", "context_get_encoder_for_format", "encoder_set_lossy_quality",
    "encoder_set_parameter_string", "context_encode_image", "context_encode_grid", "context_write_to_file", "context_get_primary_image_handle",
    "context_read_from_memory_without_copy", "decode_image", "context_set_primary_image", "image_get_nclx_color_profile",
):
    getattr(heif, "heif_" + f).restype = HeifError
for f in ("context_alloc", "image_get_plane", "image_get_plane_readonly", "encoding_options_alloc", "decoding_options_alloc", "nclx_color_profile_alloc"):
    getattr(heif, "heif_" + f).restype = c_void_p


def good(e, what):
    check(e.code == 0, f"{what}: {e.code}.{e.sub} {e.message}")


def heif_image(w, h, chroma, depth, alpha, seed, nclx):
    p = c_void_p()
    good(heif.heif_image_create(w, h, 2 if chroma == "400" else 0, {"400": 0, "420": 1, "422": 2, "444": 3}[chroma], byref(p)), "heif_image_create")
    source = planes(w, h, chroma, depth, alpha, seed)
    for i, a in enumerate(source):
        channel = 6 if alpha and i == len(source) - 1 else i
        good(heif.heif_image_add_plane(p, channel, a.shape[1], a.shape[0], depth), "heif_image_add_plane")
        stride = c_int()
        base = heif.heif_image_get_plane(p, channel, byref(stride))
        for y in range(a.shape[0]):
            ctypes.memmove(base + y * stride.value, a[y].tobytes(), a[y].nbytes)
    if nclx:
        good(heif.heif_image_set_nclx_color_profile(p, c_void_p(nclx)), "heif_image_set_nclx_color_profile")
    return p


def heif_file(w, h, chroma, depth=8, alpha=False, seed=0, full=True, matrix=6, orientation=1, grid=None, quality=85, nclx=True):
    context, encoder, handle = heif.heif_context_alloc(), c_void_p(), c_void_p()
    good(heif.heif_context_get_encoder_for_format(c_void_p(context), 1, byref(encoder)), "heif_context_get_encoder_for_format")
    good(heif.heif_encoder_set_lossy_quality(encoder, quality), "heif_encoder_set_lossy_quality")
    if chroma != "400":
        good(heif.heif_encoder_set_parameter_string(encoder, b"chroma", chroma.encode()), "chroma")
    good(heif.heif_encoder_set_parameter_string(encoder, b"preset", b"fast"), "preset")
    good(heif.heif_encoder_set_parameter_string(encoder, b"x265:pools", b"1"), "pools")
    options = heif.heif_encoding_options_alloc()
    profile = None
    if nclx:
        profile = heif.heif_nclx_color_profile_alloc()
        for at, v in ((4, 1), (8, 13), (12, matrix)):
            poke(profile, at, c_int, v)
        poke(profile, 16, c_uint8, int(full))
        poke(options, 8, c_void_p, profile)
    poke(options, 16, c_uint8, int(not nclx))
    poke(options, 20, c_int, orientation)
    columns, rows = grid or (1, 1)
    tiles = [heif_image(w, h, chroma, depth, alpha, seed + i, profile) for i in range(columns * rows)]
    if grid:
        e = heif.heif_context_encode_grid(c_void_p(context), (c_void_p * len(tiles))(*tiles), rows, columns, encoder, c_void_p(options), byref(handle))
    else:
        e = heif.heif_context_encode_image(c_void_p(context), tiles[0], encoder, c_void_p(options), byref(handle))
    good(e, f"encode {chroma} {depth} {w}x{h}")
    heif.heif_context_set_primary_image(c_void_p(context), handle)
    with tempfile.NamedTemporaryFile() as f:
        good(heif.heif_context_write_to_file(c_void_p(context), f.name.encode()), "heif_context_write_to_file")
        data = open(f.name, "rb").read()
    for t in tiles:
        heif.heif_image_release(t)
    heif.heif_image_handle_release(handle)
    heif.heif_encoder_release(encoder)
    heif.heif_context_free(c_void_p(context))
    return data


def heif_planes(data):
    """What libheif decodes: Y, Cb, Cr, alpha, those that there are, and what their conversion depends on."""
    context, handle, image, profile = heif.heif_context_alloc(), c_void_p(), c_void_p(), c_void_p()
    good(heif.heif_context_read_from_memory_without_copy(c_void_p(context), data, c_size_t(len(data)), None), "read")
    good(heif.heif_context_get_primary_image_handle(c_void_p(context), byref(handle)), "primary")
    options = heif.heif_decoding_options_alloc()
    poke(options, 113, c_uint8, 1)  # output_image_nclx_profile_passthrough
    good(heif.heif_decode_image(handle, byref(image), 99, 99, c_void_p(options)), "heif_decode_image")
    out = []
    about = {"colorspace": heif.heif_image_get_colorspace(image), "format": heif.heif_image_get_chroma_format(image), "full": True, "matrix": -1}
    about["depth"] = heif.heif_image_get_bits_per_pixel_range(image, 0)
    if heif.heif_image_get_nclx_color_profile(image, byref(profile)).code == 0:
        about["matrix"], about["full"] = peek(profile.value, 12, c_int), peek(profile.value, 16, c_uint8) != 0
    for channel in (0, 1, 2, 6):
        stride = c_int()
        base = heif.heif_image_get_plane_readonly(image, channel, byref(stride))
        if base:
            w, h, depth = (getattr(heif, "heif_image_get_" + f)(image, channel) for f in ("width", "height", "bits_per_pixel_range"))
            check(depth == about["depth"], "planes of several depths")
            out.append((w, h, rows_of(base, stride.value, w, h, depth)))
    heif.heif_image_release(image)
    heif.heif_image_handle_release(handle)
    heif.heif_context_free(c_void_p(context))
    return out, about


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
    g["pixels"] = digest(im)
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


def prove(folder, files, decode):
    os.makedirs(folder, exist_ok=True)
    for old in glob.glob(os.path.join(folder, "*")):
        os.remove(old)
    lines = []
    for name, data in sorted(files.items()):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
        d = hashlib.sha256(b"".join(p[2] for p in decode(data)[0])).hexdigest()
        lines.append(f"{d}  {name}\n")
    with open(os.path.join(folder, "planes.sha256"), "w") as f:
        f.writelines(lines)


def sequence(data):
    """The frames of an animation, each converted to RGB before the next is asked for."""
    im, frames, durations = Image.open(io.BytesIO(data)), [], []
    for frame in ImageSequence.Iterator(im):
        frames.append(hashlib.sha256(frame.convert("RGB").tobytes()).hexdigest()[:16])
        durations.append(frame.info["duration"])
    return {"format": "avif", "file": base64.b64encode(data).decode(), "size": im.size, "frames": frames, "durations": durations}


def sequences(n):
    """n animations of all kinds."""
    rng = np.random.RandomState(n)
    kinds = [(c, d, a) for c in FORMATS for d in (8, 10, 12) for a in (False, True) if not (c == "400" and a and d > 8)]
    out = []
    for i in range(n):
        chroma, depth, alpha = kinds[i % len(kinds)]
        w, h, frames = rng.randint(1, 40), rng.randint(1, 40), rng.randint(2, 6)
        out.append(sequence(avif_file(w, h, chroma, depth, alpha, int(rng.randint(1 << 30)), bool(i & 1), int(rng.choice([6, 1, 9])), frames=frames, timescale=int(rng.choice([1, 10, 30, 1000, 90000])),
                                      delays=[int(v) for v in rng.randint(1, 5000, frames)], quality=50)))
    return out


def random_files(n, photos):
    """n files of each format: any format, depth, range, matrix, size and orientation that is decoded."""
    rng = np.random.RandomState(n)
    pick = lambda *a: a[rng.randint(len(a))]
    photos = sorted(glob.glob(os.path.join(photos, "*.jpg"))) if photos else []
    out = {}
    for i in range(n):
        for ext in ("avif", "heic"):
            if photos and i % 4 == 0:
                im = Image.open(photos[rng.randint(len(photos))]).convert("RGB")
                im.thumbnail((rng.randint(300, 1500),) * 2)
                b = io.BytesIO()
                if ext == "avif":
                    im.save(b, "AVIF", quality=int(rng.randint(40, 95)), subsampling=pick("4:2:0", "4:2:2", "4:4:4"), range=pick("full", "limited"), speed=8)
                else:
                    im.save(b, "HEIF", quality=int(rng.randint(40, 95)), chroma=pick("420", "422", "444"))
                out[f"{ext}_photo{i}.{ext}"] = b.getvalue()
                continue
            chroma, depth, alpha, full = pick("444", "422", "420", "420", "400"), pick(8, 8, 10, 12), pick(False, False, True), pick(True, False)
            if ext == "avif" and chroma == "400" and depth > 8:
                alpha = False
            w, h, matrix = rng.randint(1, 300), rng.randint(1, 300), pick(6, 6, 1, 9, 5, 2)
            more = {} if ext == "avif" and depth > 8 else {"orientation": pick(1, 1, 2, 3, 4, 5, 6, 7, 8)}
            make = avif_file if ext == "avif" else heif_file
            out[f"{ext}_{i}_{chroma}_{depth}_{w}x{h}.{ext}"] = make(w, h, chroma, depth, alpha, int(rng.randint(1 << 30)), full, matrix, **more)
    return out


if len(sys.argv) > 2:
    write(sys.argv[1], random_files(int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ""), {})
    with open(os.path.join(sys.argv[1], "sequences.json"), "w") as f:
        json.dump(sequences(int(sys.argv[2])), f)
    sys.exit()

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
for matrix in (1, 2, 9):
    files[f"avif_400_matrix{matrix}.avif"] = avif_file(20, 11, "400", 8, False, 110 + matrix, matrix == 1, matrix)
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

for chroma in FORMATS:
    for depth in (8, 10, 12):
        for alpha in (False, True):
            for full in (True, False):
                seed += 1
                w, h = [(18, 12), (16, 20), (19, 13)][seed % 3]
                name = f"heif_{chroma}_{depth}{'a' if alpha else ''}_{'full' if full else 'limited'}.heic"
                files[name] = heif_file(w, h, chroma, depth, alpha, seed, full)
for matrix in (1, 2, 5, 9):
    for chroma in ("420", "444"):
        files[f"heif_{chroma}_matrix{matrix}.heic"] = heif_file(20, 10, chroma, 8, False, 400 + matrix, chroma == "420" or matrix < 5, matrix)
for name, want, data in (
    ("heif_refused_matrix4.heic", "matrix coefficients 4", heif_file(8, 8, "420", 8, False, 470, True, 4)),
    ("heif_refused_rgb_limited.heic", "matrix coefficients 0", heif_file(8, 8, "444", 8, False, 471, False, 0)),
):
    files[name], refused[name] = data, want
files["heif_rgb_alpha.heic"] = heif_file(16, 10, "444", 8, True, 411, True, 0)
files["heif_rgb10.heic"] = heif_file(16, 10, "444", 10, False, 412, True, 0)
files["heif_rgb.heic"] = heif_file(16, 10, "444", 8, False, 410, True, 0)
for w, h in ((1, 1), (2, 2), (9, 3), (64, 65), (130, 67)):
    files[f"heif_{w}x{h}.heic"] = heif_file(w, h, "420", 8, False, w * h)
for o in range(2, 9):
    for kind, w, h, chroma, full in (("even", 18, 12, "420", o % 2 == 0), ("odd", 15, 11, "420", True), ("odd_limited", 15, 11, "420", False), ("422", 15, 11, "422", o % 2 == 0), ("444", 15, 11, "444", True)):
        files[f"heif_{kind}_orientation{o}.heic"] = heif_file(w, h, chroma, 8, False, 420 + o, full, orientation=o)
files["heif_grid.heic"] = heif_file(64, 64, "420", 8, False, 440, grid=(2, 2), quality=40)
files["heif_grid_turned.heic"] = heif_file(64, 64, "420", 8, False, 450, grid=(1, 2), quality=30, orientation=6)
files["heif_no_profile.heic"] = heif_file(20, 14, "420", 8, False, 460, nclx=False)

os.makedirs(os.path.join(ROOT, "codec", "avif", "testdata"), exist_ok=True)
with open(os.path.join(ROOT, "codec", "avif", "testdata", "sequences.json"), "w") as f:
    json.dump(sequences(22), f, indent=0)
    f.write("\n")
PHONE = os.path.join(ROOT, "testdata", "phone")
write(PHONE, files, refused)

# Planes of some files, for tests of the conversions that need no library: each format and depth in one range without
# alpha, in the other with it, and all small sizes, matrices and moves of odd sizes.
some = {}
for name, data in sorted(files.items()):
    if name in refused or len(data) > 2000 or "frames" in name or name.count("_") == 3 and ("0a_" in name or "2a_" in name or "8a_" in name) == ("full" in name):
        continue
    if "orientation" in name and "odd_limited" not in name:
        continue
    list, about = (avif_planes if name.endswith(".avif") else heif_planes)(data)
    about["planes"] = [{"width": w, "height": h, "data": base64.b64encode(b).decode()} for w, h, b in list]
    some[name] = about
with open(os.path.join(PHONE, "planes.json"), "w") as f:
    json.dump(some, f, indent=0, sort_keys=True)
    f.write("\n")
prove(os.path.join(ROOT, "codec", "heif", "proof"), {
    "420_8a.heic": heif_file(10, 6, "420", 8, True, 500, False, quality=60), "422_12.heic": heif_file(8, 9, "422", 12, False, 501, quality=60),
    "444_10.heic": heif_file(8, 8, "444", 10, False, 502, quality=60), "420_odd_turned.heic": heif_file(9, 7, "420", 8, False, 503, False, 9, 6, quality=60),
}, heif_planes)
prove(os.path.join(ROOT, "codec", "avif", "proof"), {
    "420_8a.avif": avif_file(9, 7, "420", 8, True, 300, False), "422_12.avif": avif_file(8, 9, "422", 12, False, 301),
    "444_10.avif": avif_file(8, 8, "444", 10, False, 302), "400_8.avif": avif_file(9, 8, "400", 8, False, 303),
}, avif_planes)
