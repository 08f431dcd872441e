"""Writes codec/jxl/testdata: JPEG XL files, and what pillow-jxl-plugin reads of them; and codec/jxl/proof.

The files are made by pillow-jxl-plugin 1.3.8 (libjxl 0.12.0) and imagecodecs 2026.3.6 (libjxl 0.11.2). goldens.json has
the SHA-256 of the pixels. The proof has that of the samples, or of the JPEG that a file was made of.

usage: jxl.py [FOLDER N [PHOTOS]]
With FOLDER it writes there N random lossless files and N made of JPEG, and their goldens.json, for make parity-jxl.
With PHOTOS, a folder of photographs, every fourth file is made of one.
"""
import ctypes, glob, hashlib, importlib.metadata, io, json, os, random, struct, sys, tempfile, warnings

import imagecodecs
import numpy as np
import pillow_jxl
from PIL import Image, ImageCms, ImageFile, ImageOps

warnings.simplefilter("ignore")
ImageFile.MAXBLOCK = 1 << 24  # for optimized and progressive JPEG of noise
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
for package, want in (("pillow", "13.0.0"), ("pillow-jxl-plugin", "1.3.8"), ("imagecodecs", "2026.3.6")):
    if importlib.metadata.version(package) != want:
        sys.exit(f"jxl.py: {package} is {importlib.metadata.version(package)}, want {want}")


def pattern(w, h, depth, seed):
    """A band of edges, gradients and a little noise."""
    rng = np.random.RandomState(seed)
    top = (1 << depth) - 1
    y, x = np.mgrid[0:h, 0:w]
    v = (x * (3 + seed % 5) + y * (5 - seed % 3)) * 7 % 256 * top // 255
    v = np.where((x // 5 + y // 3 + seed) % 3 == 0, top - v, v)
    v = np.where(rng.randint(0, 9, (h, w)) == 0, rng.randint(0, top + 1, (h, w)), v)
    return v.astype(np.uint16 if depth > 8 else np.uint8)


def image(mode, w, h, seed):
    if mode == "I;16":
        return Image.fromarray(pattern(w, h, 16, seed))
    bands = [Image.fromarray(pattern(w, h, 8, seed + i)) for i in range(len(mode))]
    return bands[0] if mode == "L" else Image.merge(mode, bands)


def plugin(im, **options):
    f = io.BytesIO()
    im.save(f, "JXL", **options)
    return f.getvalue()


def made_of_jpeg(data, **options):
    with tempfile.NamedTemporaryFile(suffix=".jpg") as f:
        f.write(data)
        f.flush()
        with Image.open(f.name) as im:
            return plugin(im, lossless_jpeg=True, **options)


def jpeg(im, **options):
    f = io.BytesIO()
    im.save(f, "JPEG", **options)
    return f.getvalue()


def codecs(depth, w, h, n, **options):
    a = np.stack([pattern(w, h, depth, 5 + i) for i in range(n)], -1)
    return imagecodecs.jpegxl_encode(a[..., 0] if n == 1 else a, lossless=True, bitspersample=depth, **options)


def profiled(w, h, icc, alpha=False):
    """A lossless file with an ICC profile, by libjxl's own functions."""
    folder = os.path.join(os.path.dirname(os.path.dirname(imagecodecs.__file__)), "imagecodecs.libs")
    lib = ctypes.CDLL(glob.glob(os.path.join(folder, "libjxl-*"))[0])
    lib.JxlEncoderCreate.restype = lib.JxlEncoderFrameSettingsCreate.restype = ctypes.c_void_p
    encoder = ctypes.c_void_p(lib.JxlEncoderCreate(None))
    info = (ctypes.c_uint32 * 51)()  # JxlBasicInfo
    lib.JxlEncoderInitBasicInfo(info)
    info[1], info[2], info[9] = w, h, 1
    if alpha:
        info[14], info[15] = 1, 8
    pixels = image("RGBA" if alpha else "RGB", w, h, 12).tobytes()
    settings = None
    for step in range(6):
        if step == 3:
            settings = ctypes.c_void_p(lib.JxlEncoderFrameSettingsCreate(encoder, None))
        status = [
            lambda: lib.JxlEncoderUseContainer(encoder, 0),
            lambda: lib.JxlEncoderSetBasicInfo(encoder, info),
            lambda: lib.JxlEncoderSetICCProfile(encoder, icc, ctypes.c_size_t(len(icc))),
            lambda: lib.JxlEncoderSetFrameLossless(settings, 1),
            lambda: lib.JxlEncoderAddImageFrame(settings, struct.pack("<IIIIQ", 4 if alpha else 3, 2, 0, 0, 0), pixels, ctypes.c_size_t(len(pixels))),
            lambda: lib.JxlEncoderCloseInput(encoder) and 0,
        ][step]()
        if status and step < 5:
            sys.exit(f"jxl.py: libjxl does not encode: step {step}")
    out = ctypes.create_string_buffer(1 << 20)
    at, left = ctypes.c_void_p(ctypes.addressof(out)), ctypes.c_size_t(len(out))
    if lib.JxlEncoderProcessOutput(encoder, ctypes.byref(at), ctypes.byref(left)):
        sys.exit("jxl.py: libjxl does not encode")
    lib.JxlEncoderDestroy(encoder)
    return out.raw[: len(out) - left.value]


def boxes(data):
    """The boxes of a container: (type, payload)."""
    at, out = 0, []
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at : at + 8])
        head = 8
        if n == 1:
            n, head = struct.unpack(">Q", data[at + 8 : at + 16])[0], 16
        n = n or len(data) - at
        out.append((kind, data[at + head : at + n]))
        at += n
    return out


def container(list):
    return b"".join(struct.pack(">I4s", 8 + len(b), k) + b for k, b in list)


START = [(b"JXL ", b"\r\n\x87\n"), (b"ftyp", b"jxl \0\0\0\0jxl ")]


def digest(b):
    return hashlib.sha256(b).hexdigest()


def golden(data):
    try:
        im = Image.open(io.BytesIO(data))
        im.load()
    except Exception as e:
        return {"error": type(e).__name__}
    g = dict(mode=im.mode, width=im.width, height=im.height, pixels=digest(im.tobytes()))
    for name, mode in (("rgb", "RGB"), ("gray", "L"), ("rgba", "RGBA")):
        g[name] = digest(im.convert(mode).tobytes())
    g["upright"] = digest(ImageOps.exif_transpose(im).convert("RGB").tobytes())
    return g


def oriented(value):
    e = Image.Exif()
    e[0x0112] = value
    return e.tobytes()


def files():
    f = {}
    for mode in ("L", "LA", "RGB", "RGBA", "I;16"):
        for effort in (1, 3, 7, 9):
            f[f"{mode.replace(';', '').lower()}_{effort}.jxl"] = plugin(image(mode, 21, 17, effort), lossless=True, effort=effort)
    f["rgb_container.jxl"] = plugin(image("RGB", 21, 17, 2), lossless=True, use_container=True)
    f["rgb_exif6.jxl"] = plugin(image("RGB", 21, 17, 2), lossless=True, exif=oriented(6))
    f["rgb_exif3_compressed.jxl"] = plugin(image("RGB", 21, 17, 2), lossless=True, exif=oriented(3), compress_metadata=True)
    f["rgb_groups.jxl"] = plugin(image("RGB", 300, 9, 2), lossless=True)
    f["l_tall.jxl"] = plugin(image("L", 3, 520, 2), lossless=True)
    for w, h in ((1, 1), (8, 8), (16, 8), (24, 16), (256, 1)):
        f[f"l_{w}x{h}.jxl"] = plugin(image("L", w, h, 3), lossless=True)
    flat = Image.new("RGB", (40, 30), (10, 200, 30))
    f["rgb_flat.jxl"] = plugin(flat, lossless=True)
    few = image("RGB", 40, 30, 3).quantize(6).convert("RGB")
    f["rgb_palette.jxl"] = plugin(few, lossless=True, effort=9)
    text = Image.new("L", (200, 60), 255)
    for i in range(12):  # the same shape again and again, which could become patches
        text.paste(image("L", 9, 11, 4), (5 + 15 * i, 10 + i % 3 * 14))
    f["l_repeated.jxl"] = plugin(text, lossless=True, effort=9)
    f["rgb_repeated.jxl"] = plugin(text.convert("RGB"), lossless=True, effort=7)
    for n in (3, 4):
        f[f"colours_16_{n}.jxl"] = codecs(16, 19, 13, n)
    f["codecs_8.jxl"] = codecs(8, 19, 13, 3)
    f["codecs_8_gray.jxl"] = codecs(8, 19, 13, 1, usecontainer=True)
    icc = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    f["profile.jxl"] = profiled(31, 22, bytes(icc))
    curve = struct.pack(">4sII", b"curv", 0, 8) + struct.pack(">8H", 0, 900, 5000, 9000, 20000, 31000, 50000, 65535)
    tags = struct.unpack(">I", icc[128:132])[0]
    for i in range(tags):  # another curve, which JPEG XL has no name for
        at = 132 + 12 * i
        if icc[at : at + 4] in (b"rTRC", b"gTRC", b"bTRC"):
            icc[at + 4 : at + 12] = struct.pack(">II", len(icc), len(curve))
    icc += curve
    icc[0:4] = struct.pack(">I", len(icc))
    f["profile_curve.jxl"] = profiled(31, 22, bytes(icc))
    f["profile_curve_alpha.jxl"] = profiled(300, 9, bytes(icc), alpha=True)
    f["refused_gray_16_alpha.jxl"] = codecs(16, 19, 13, 2)
    f["refused_10.jxl"] = codecs(10, 19, 13, 3)
    f["refused_12_gray.jxl"] = codecs(12, 19, 13, 1)
    f["refused_float.jxl"] = plugin(Image.fromarray(pattern(19, 13, 8, 1).astype(np.float32) / 255), lossless=True)
    rgb = image("RGB", 45, 34, 6)
    for name, options in dict(jpeg_420=dict(), jpeg_444=dict(subsampling=0), jpeg_422=dict(subsampling=1), jpeg_progressive=dict(progressive=True), jpeg_exif6=dict(exif=oriented(6)), jpeg_100=dict(quality=100, subsampling=0)).items():
        f[name + ".jxl"] = made_of_jpeg(jpeg(rgb, **options))
    f["jpeg_gray.jxl"] = made_of_jpeg(jpeg(image("L", 33, 18, 6)))
    f["jpeg_exif8.jxl"] = made_of_jpeg(jpeg(image("L", 33, 18, 6), exif=oriented(8)))
    f["lossy_without_jbrd.jxl"] = container([b for b in boxes(f["jpeg_420.jxl"]) if b[0] != b"jbrd"])
    f["lossy_90.jxl"] = plugin(rgb, quality=90)
    f["lossy_gray.jxl"] = plugin(image("L", 33, 18, 6), quality=80)
    f["lossy_alpha.jxl"] = plugin(image("RGBA", 33, 18, 6), quality=80)
    f["lossy_profile.jxl"] = plugin(rgb, quality=80, use_original_profile=True)
    f["lossy_codecs.jxl"] = imagecodecs.jpegxl_encode(np.asarray(rgb), distance=1.0)
    frames = np.stack([np.asarray(image("RGB", 20, 14, i)) for i in range(3)])
    f["refused_animation.jxl"] = imagecodecs.jpegxl_encode(frames, lossless=True)
    stream = f["rgb_7.jxl"]
    half = len(stream) // 2
    f["parts.jxl"] = container(START + [(b"jxlp", struct.pack(">I", 0) + stream[:5]), (b"jxlp", struct.pack(">I", 1) + stream[5:half]), (b"free", b"x"), (b"jxlp", struct.pack(">I", 2 | 1 << 31) + stream[half:])])
    f["to_the_end.jxl"] = container(START) + struct.pack(">I4s", 0, b"jxlc") + stream
    f["long_box.jxl"] = container(START) + struct.pack(">I4sQ", 1, b"jxlc", 16 + len(stream)) + stream
    f["box_after.jxl"] = container(START + [(b"jxlc", stream), (b"xml ", b"<x/>")])
    for name in ("rgb_7.jxl", "jpeg_420.jxl", "rgb_container.jxl"):
        data = f[name]
        for i, n in enumerate((len(data) - 1, len(data) * 9 // 10, len(data) // 2, 40, 12, 3)):
            f[f"cut_{name[:-4]}_{i}.jxl"] = data[:n]
    return f


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


def random_files(n, photos):
    rng = random.Random(20261129)
    f = {}
    for i in range(2 * n):
        w, h = rng.randint(1, 400), rng.randint(1, 400)
        mode = rng.choice(("L", "LA", "RGB", "RGB", "RGBA", "I;16"))
        if i % 2:
            mode = rng.choice(("L", "RGB", "RGB"))
        if photos and i % 8 < 2:
            with Image.open(rng.choice(photos)) as im:
                im = im.convert("RGB")
                im.thumbnail((700, 700))
        else:
            im = image(mode, w, h, i)
        if i % 2:
            data = jpeg(im, quality=rng.randint(30, 100), progressive=rng.random() < 0.5, subsampling=rng.choice((0, 1, 2)), optimize=rng.random() < 0.5)
            f[f"{i:03d}_jpeg.jxl"] = made_of_jpeg(data, effort=rng.choice((3, 7)))
        else:
            f[f"{i:03d}_lossless.jxl"] = plugin(im, lossless=True, effort=rng.choice((1, 2, 3, 4, 5, 7)), use_container=rng.random() < 0.3)
    return f


if len(sys.argv) > 1:
    photos = sorted(glob.glob(os.path.join(sys.argv[3], "*.jpg"))) if len(sys.argv) > 3 else []
    made = random_files(int(sys.argv[2]), photos)
    write(sys.argv[1], made)
    write_goldens(sys.argv[1], made)
else:
    made = files()
    write(os.path.join(ROOT, "codec/jxl/testdata"), made)
    write_goldens(os.path.join(ROOT, "codec/jxl/testdata"), made)
    source = jpeg(image("RGB", 39, 26, 8), quality=60)
    proofs = {
        "rgb.jxl": (plugin(image("RGB", 23, 18, 7), lossless=True), image("RGB", 23, 18, 7).tobytes()),
        "la.jxl": (plugin(image("LA", 15, 11, 7), lossless=True, effort=3), image("LA", 15, 11, 7).tobytes()),
        "gray16.jxl": (plugin(image("I;16", 17, 12, 7), lossless=True), image("I;16", 17, 12, 7).tobytes()),
        "jpeg.jxl": (made_of_jpeg(source), source),
    }
    folder = os.path.join(ROOT, "codec/jxl/proof")
    write(folder, {name: data for name, (data, _) in proofs.items()})
    with open(os.path.join(folder, "planes.sha256"), "w") as f:
        for name, (_, want) in proofs.items():
            f.write(f"{digest(want)}  {name}\n")
