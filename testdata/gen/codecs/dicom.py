"""Writes codec/dicom/testdata and transforms/radiology/testdata: small DICOM files of every layout that is read, and what pydicom makes of them.

Needs the packages of requirements-dicom.txt. Takes no arguments; running it again gives the same bytes.

codec/dicom/testdata/golden.json has for each file its frames: pixel_array(ds, index=i), the JPEG Baseline ones by the plugin pillow, lossless JPEG
by pylibjpeg, JPEG 2000 by pillow, and that of colours of more than 8 bits by pylibjpeg. A digest is the first 16 digits of the SHA-256 of the samples, little-endian. windows: left, top, width, height, digest of frame 0.
transforms/radiology/testdata/golden.json has results of apply_modality_lut, apply_voi_lut, apply_color_lut and apply_windowing in float64 and float32.
"""

import copy
import hashlib
import io
import json
import pathlib
import struct
import warnings

import imagecodecs
import numpy as np
import pydicom
from PIL import Image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.encaps import encapsulate, encapsulate_extended
from pydicom.pixels import apply_color_lut, apply_modality_lut, apply_voi_lut, apply_windowing, pixel_array
from pydicom.pixels.encoders.native import _encode_segment
from pydicom.sequence import Sequence
from pydicom.uid import (DeflatedExplicitVRLittleEndian, ExplicitVRBigEndian, ExplicitVRLittleEndian, ImplicitVRLittleEndian, JPEGBaseline8Bit,
                         JPEG2000, JPEG2000Lossless, JPEGExtended12Bit, JPEGLossless, JPEGLosslessSV1, RLELossless)

warnings.simplefilter("ignore")
ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT, VALUES = ROOT / "codec" / "dicom" / "testdata", ROOT / "transforms" / "radiology" / "testdata"
W, H = 22, 13
WINDOWS = ((0, 0, W, H), (0, 0, 1, 1), (W - 1, H - 1, 1, 1), (3, 2, 11, 7), (5, 0, 2, H), (0, 6, W, 1))
golden = {}


def scene(dtype, channels=1, frames=1, bits=None, w=W, h=H):
    """Smooth values with noise over the range of bits, which the highest ones of dtype may exceed."""
    t = np.dtype(dtype)
    rng = np.random.RandomState(w * channels + frames)
    f, y, x, c = np.mgrid[:frames, :h, :w, :channels]
    v = ((np.sin(x / (4 + c) + f) + np.cos(y / (3 + c)) + 2) / 4 + rng.rand(*f.shape) / 20).clip(0, 1)
    if t.kind == "f":
        return ((v - 0.4) * 1000).astype(t)
    bits = bits or 8 * t.itemsize
    low = -(2 ** (bits - 1)) if t.kind == "i" else 0
    return (v * (2**bits - 1) + low).astype(np.int64).astype(t)


def dataset(a, photometric="MONOCHROME2", bits=None, **more):
    """A dataset that describes frames: (frames, rows, columns, samples)."""
    ds = Dataset()
    ds.SOPClassUID, ds.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.7", "1.2.3.4"
    ds.PatientName = "A^B"
    frames, ds.Rows, ds.Columns, ds.SamplesPerPixel = a.shape
    if frames > 1:
        ds.NumberOfFrames = frames
    ds.PhotometricInterpretation = photometric
    if a.shape[3] > 1:
        ds.PlanarConfiguration = 0
    ds.BitsAllocated = 8 * a.dtype.itemsize
    if a.dtype.kind != "f":
        ds.BitsStored = bits or ds.BitsAllocated
        ds.HighBit = ds.BitsStored - 1
        ds.PixelRepresentation = int(a.dtype.kind == "i")
    for k, v in more.items():
        setattr(ds, k, v)
    return ds


def save(name, ds, syntax, folder=OUT):
    ds.file_meta = FileMetaDataset()
    ds.file_meta.TransferSyntaxUID = syntax
    ds.file_meta.MediaStorageSOPClassUID, ds.file_meta.MediaStorageSOPInstanceUID = ds.SOPClassUID, ds.SOPInstanceUID
    ds.save_as(folder / f"{name}.dcm", enforce_file_format=True)
    return folder / f"{name}.dcm"


def digest(a):
    a = np.ascontiguousarray(a)
    return hashlib.sha256(a.astype(a.dtype.newbyteorder("<")).tobytes()).hexdigest()[:16]


def record(path, plugin=""):
    ds = pydicom.dcmread(path)
    frames = [pixel_array(ds, index=i, decoding_plugin=plugin) for i in range(int(ds.get("NumberOfFrames", 1) or 1))]
    frames = [f if f.ndim == 3 else f[..., None] for f in frames]
    f = frames[0]
    golden[path.name] = {
        "dtype": f.dtype.name, "channels": f.shape[2], "width": f.shape[1], "height": f.shape[0], "frames": [digest(x) for x in frames],
        "windows": [[x, y, w, h, digest(f[y : y + h, x : x + w])] for x, y, w, h in WINDOWS if y + h <= f.shape[0] and x + w <= f.shape[1]],
    }
    return frames


def native(name, a, syntax=ExplicitVRLittleEndian, planar=False, vr=None, pad=0, **more):
    """An uncompressed file."""
    ds = dataset(a, **more)
    stored = a.transpose(0, 3, 1, 2) if planar else a
    if planar:
        ds.PlanarConfiguration = 1
    order = ">" if syntax == ExplicitVRBigEndian else "<"
    data = np.ascontiguousarray(stored).astype(stored.dtype.newbyteorder(order)).tobytes() + b"\0" * pad
    data += b"\0" * (len(data) % 2)
    if vr == "OW" and order == ">" and a.dtype.itemsize == 1:
        data = np.frombuffer(data, "u2").byteswap().tobytes()
    key = {"f4": "FloatPixelData", "f8": "DoubleFloatPixelData"}.get(a.dtype.str[1:], "PixelData")
    setattr(ds, key, data)
    if key == "PixelData":
        ds["PixelData"].VR = vr or ("OB" if a.dtype.itemsize == 1 and syntax != ImplicitVRLittleEndian else "OW")
    path = save(name, ds, syntax)
    frames = record(path)
    return ds, frames


def encapsulated(name, frames, a, syntax, plugin="", table=True, extended=False, fragments=1, **more):
    """A file of compressed frames."""
    ds = dataset(a, **more)
    if extended:
        ds.PixelData, ds.ExtendedOffsetTable, ds.ExtendedOffsetTableLengths = encapsulate_extended(frames)
    else:
        ds.PixelData = encapsulate(frames, fragments_per_frame=fragments, has_bot=table)
    ds["PixelData"].VR = "OB"
    ds["PixelData"].is_undefined_length = True
    return record(save(name, ds, syntax), plugin)


def rle(a):
    """The frames, their segments compressed by pydicom."""
    out = []
    for f in a:
        segments = []
        for c in range(f.shape[2]):
            plane = np.ascontiguousarray(f[..., c]).astype(f.dtype.newbyteorder(">")).view("u1").reshape(-1, f.dtype.itemsize)
            segments += [bytes(_encode_segment(plane[:, k].tobytes(), f.shape[1])) for k in range(f.dtype.itemsize)]
        offsets = np.cumsum([64] + [len(s) for s in segments])[:-1]
        out.append(struct.pack("<16L", len(segments), *offsets, *[0] * (15 - len(segments))) + b"".join(segments))
    return out


def by_pillow(f, **options):
    b = io.BytesIO()
    Image.fromarray(f[..., 0] if f.shape[2] == 1 else f).save(b, "JPEG", quality=90, **options)
    return b.getvalue()


def without_app0(jpeg):
    """A JPEG without its JFIF segment, as DICOM writers make them."""
    assert jpeg[2:4] == b"\xff\xe0"
    return jpeg[:2] + jpeg[4 + struct.unpack(">H", jpeg[4:6])[0] :]


def uncompressed():
    for syntax, tag in ((ImplicitVRLittleEndian, "implicit"), (ExplicitVRLittleEndian, "explicit"), (ExplicitVRBigEndian, "big"),
                        (DeflatedExplicitVRLittleEndian, "deflated")):
        native(f"{tag}_u8", scene("u1"), syntax)
        native(f"{tag}_u16_12", scene("u2", bits=12) | np.uint16(0xA000), syntax, bits=12)
        native(f"{tag}_i16", scene("i2"), syntax, photometric="MONOCHROME1")
        native(f"{tag}_rgb", scene("u1", 3), syntax, photometric="RGB")
    native("i16_13", scene("i2", bits=13) & np.int16(0x1FFF), bits=13)
    native("i8_6", scene("i1", bits=6) & np.int8(0x3F), bits=6)
    native("u8_5", scene("u1", bits=5) | np.uint8(0xC0), bits=5)
    native("i32_20", scene("i4", bits=20), bits=20)
    native("i64", scene("i8", bits=40))
    native("big_i32", scene("i4"), ExplicitVRBigEndian)
    native("rgb_planes", scene("u1", 3), planar=True, photometric="RGB")
    native("rgb16_planes", scene("u2", 3), planar=True, photometric="RGB")
    native("big_rgb16", scene("u2", 3), ExplicitVRBigEndian, photometric="RGB")
    native("palette", scene("u1"), photometric="PALETTE COLOR")
    native("frames_u16", scene("u2", frames=3))
    native("frames_rgb_planes", scene("u1", 3, frames=2), planar=True, photometric="RGB")
    native("frames_padded", scene("u1", frames=3, w=W - 1), pad=7)
    native("big_ow_odd", scene("u1", frames=3, w=W - 1), ExplicitVRBigEndian, vr="OW")
    native("big_ow_planes", scene("u1", 3, frames=2, w=W - 1), ExplicitVRBigEndian, vr="OW", planar=True, photometric="RGB")
    native("float", scene("f4"))
    native("double", scene("f8"))
    native("big_double", scene("f8"), ExplicitVRBigEndian)
    # All values of YBR_FULL that its rounding depends on.
    y, b, r = np.mgrid[0:256:51, 0:256:3, 0:256:5]
    native("ybr", np.stack([y, b, r], -1).reshape(1, -1, 43, 3).astype(np.uint8)[:, :258], photometric="YBR_FULL")
    native("ybr_planes", scene("u1", 3), planar=True, photometric="YBR_FULL")
    a = scene("u1", 3, frames=2)
    half = np.stack([a[..., ::2, 0], a[..., 1::2, 0], a[..., ::2, 1], a[..., ::2, 2]], -1)
    for syntax, tag, vr in ((ExplicitVRLittleEndian, "", "OB"), (ExplicitVRBigEndian, "big_", "OW")):
        ds = dataset(a, photometric="YBR_FULL_422")
        data = half.tobytes()
        ds.PixelData = np.frombuffer(data, "u2").byteswap().tobytes() if tag else data
        ds["PixelData"].VR = vr
        record(save(f"{tag}ybr_422", ds, syntax))
    # Frames of bits do not begin with a byte.
    bits = (scene("u1", frames=3, w=W - 1) > 120).astype(np.uint8)
    ds = dataset(bits, bits=1, BitsAllocated=1)
    data = np.packbits(bits.reshape(-1), bitorder="little").tobytes()
    ds.PixelData = data + b"\0" * (len(data) % 2)
    ds["PixelData"].VR = "OB"
    record(save("bits", ds, ExplicitVRLittleEndian))
    # Sequences of undefined and of known length before the pixels, nested.
    for length in (True, False):
        ds = dataset(scene("u1"))
        inner, outer = Dataset(), Dataset()
        inner.CodeValue, inner.PixelRepresentation = "1", 1
        outer.PurposeOfReferenceCodeSequence = Sequence([inner, copy.deepcopy(inner)])
        ds.SourceImageSequence = Sequence([outer])
        for s in (ds["SourceImageSequence"], outer["PurposeOfReferenceCodeSequence"]):
            s.is_undefined_length = length
        for item in (outer, inner):
            item.is_undefined_length_sequence_item = length
        ds.PixelData = scene("u1").tobytes()
        ds["PixelData"].VR = "OB"
        record(save("nested" if length else "nested_lengths", ds, ExplicitVRLittleEndian))


def compressed():
    for name, a, more in (
        ("u8", scene("u1"), {}), ("u16_12", scene("u2", bits=12), {"bits": 12}), ("i16", scene("i2"), {}), ("i32", scene("i4"), {}),
        ("rgb", scene("u1", 3), {"photometric": "RGB"}), ("rgb16", scene("u2", 3), {"photometric": "RGB"}),
        ("ybr", scene("u1", 3), {"photometric": "YBR_FULL"}), ("frames", scene("u1", 3, frames=2), {"photometric": "RGB"}),
    ):
        encapsulated(f"rle_{name}", rle(a), a, RLELossless, "pydicom", table=name != "frames", **more)
    gray, rgb = scene("u1", frames=3), scene("u1", 3, frames=3)
    encapsulated("jpeg_gray", [by_pillow(gray[0])], gray[:1], JPEGBaseline8Bit, "pillow")
    encapsulated("jpeg_frames", [by_pillow(f) for f in gray], gray, JPEGBaseline8Bit, "pillow")
    encapsulated("jpeg_frames_no_table", [by_pillow(f) for f in gray], gray, JPEGBaseline8Bit, "pillow", table=False)
    encapsulated("jpeg_fragments", [by_pillow(f) for f in gray], gray, JPEGBaseline8Bit, "pillow", fragments=3)
    encapsulated("jpeg_fragments_no_table", [by_pillow(f) for f in gray], gray, JPEGBaseline8Bit, "pillow", table=False, fragments=3)
    encapsulated("jpeg_one_fragments", [by_pillow(gray[0])], gray[:1], JPEGBaseline8Bit, "pillow", table=False, fragments=4)
    encapsulated("jpeg_extended_table", [by_pillow(f) for f in gray], gray, JPEGBaseline8Bit, "pillow", extended=True)
    encapsulated("jpeg_extended_8", [by_pillow(gray[0])], gray[:1], JPEGExtended12Bit, "pillow")
    for sub in (0, 1, 2):
        j = by_pillow(rgb[0], subsampling=sub)
        encapsulated(f"jpeg_ybr_{sub}", [without_app0(j)], rgb[:1], JPEGBaseline8Bit, "pillow", photometric="YBR_FULL_422")
        # The photometric interpretation is that of the JPEG's JFIF segment.
        encapsulated(f"jpeg_jfif_{sub}", [j], rgb[:1], JPEGBaseline8Bit, "pillow", photometric="RGB")
    encapsulated("jpeg_ybr_as_rgb", [without_app0(by_pillow(rgb[0], subsampling=0))], rgb[:1], JPEGBaseline8Bit, "pillow", photometric="RGB")
    encapsulated("jpeg_adobe_rgb", [by_pillow(rgb[0], keep_rgb=True)], rgb[:1], JPEGBaseline8Bit, "pillow", photometric="RGB")
    # An Adobe marker makes Pillow return RGB.
    j = without_app0(by_pillow(rgb[0], subsampling=0))
    encapsulated("jpeg_adobe_ybr", [j[:2] + b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x01" + j[2:]], rgb[:1], JPEGBaseline8Bit, "pillow", photometric="RGB")
    for bits, t, more in ((8, "u1", {}), (12, "u2", {"bits": 12}), (16, "u2", {}), (16, "i2", {}), (12, "i2", {"bits": 12}), (9, "u2", {"bits": 9})):
        a = scene(t, bits=bits)
        plain = (a[0, ..., 0].astype(np.int64) & (2**bits - 1)).astype(f"u{a.dtype.itemsize}")
        for predictor in range(1, 8):
            if predictor > 1 and (bits, t) not in ((16, "u2"), (8, "u1")):
                continue
            j = imagecodecs.jpeg_encode(plain, lossless=True, predictor=predictor, bitspersample=bits)
            frames = encapsulated(f"lossless_{t}_{bits}_{predictor}", [j], a, JPEGLosslessSV1 if predictor == 1 else JPEGLossless, "pylibjpeg", **more)
            assert (frames[0][..., 0] == a[0, ..., 0]).all(), (bits, t, predictor)
    a = scene("u1", 3)
    j = imagecodecs.jpeg_encode(a[0], lossless=True, predictor=1, colorspace="rgb", outcolorspace="rgb")
    encapsulated("lossless_rgb", [j], a, JPEGLosslessSV1, "pylibjpeg", photometric="RGB")


def jpeg2000():
    """Files of JPEG 2000, of which each plugin gives the same samples."""

    def case(name, a, bits, plugin="pillow", both=True, signed=None, lossy=False, jp2=False, allocated=None, **more):
        frames = []
        for f in a:
            f = f[..., 0] if f.shape[2] == 1 else f
            if signed is not None:  # another type than that of the file
                f = (f.astype(np.int64) & (2**bits - 1)).astype(f"u{f.dtype.itemsize}") if not signed else f
            frames.append(imagecodecs.jpeg2k_encode(f, level=40 if lossy else 0, codecformat="jp2" if jp2 else "j2k", bitspersample=bits, reversible=not lossy))
        if allocated:
            more["BitsAllocated"] = allocated
        more["bits"] = more.get("bits", bits)
        name = f"jpeg2000_{name}"
        syntax = JPEG2000 if lossy else JPEG2000Lossless
        got = encapsulated(name, frames, a, syntax, plugin, **more)
        if both:
            other = {"pillow": "pylibjpeg", "pylibjpeg": "pillow"}[plugin]
            assert (pixel_array(pydicom.dcmread(OUT / f"{name}.dcm"), index=0, decoding_plugin=other).reshape(got[0].shape) == got[0]).all(), name
        if not lossy and "photometric" not in more:
            assert all((g.astype(np.int64) == f).all() for g, f in zip(got, a)), name

    for t, bits in (("u1", 8), ("u1", 5), ("i1", 8), ("i1", 6), ("u2", 16), ("u2", 12), ("u2", 9), ("i2", 16), ("i2", 13)):
        case(f"{t}_{bits}", scene(t, bits=bits), bits)
    case("frames", scene("u2", bits=12, frames=3), 12)
    case("lossy", scene("u2", bits=12), 12, lossy=True)
    case("lossy_signed", scene("i2", bits=13), 13, lossy=True)
    case("lossy_rgb", scene("u1", 3), 8, lossy=True, photometric="YBR_ICT")
    # Unsigned in a file of signed samples.
    case("sign", scene("i2", bits=13), 13, signed=False)
    case("sign_8", scene("i1"), 8, signed=False)
    case("sign_palette", scene("i2", bits=13), 13, signed=False, photometric="PALETTE COLOR")
    case("sign_palette_16", scene("i2"), 16, signed=False, photometric="PALETTE COLOR")
    # Fewer bits than the file's.
    case("narrow", scene("u1"), 8, allocated=16)
    case("narrow_signed", scene("i1"), 8, allocated=16)
    case("narrow_sign", scene("i1", bits=7), 7, signed=False, allocated=16)
    case("narrow_32", scene("i2", bits=14), 14, allocated=32)
    # Other bits stored than those of the codestream, which have no effect.
    case("stored", scene("u2", bits=14), 14, **{"BitsStored": 10})
    for name in ("RGB", "YBR_RCT", "YBR_FULL"):
        case(name.lower(), scene("u1", 3), 8, photometric=name)
    case("rgb_jp2", scene("u1", 3), 8, jp2=True, photometric="YBR_RCT")
    case("gray_jp2", scene("u2", bits=12), 12, jp2=True)
    case("rgb_12", scene("u2", 3, bits=12), 12, "pylibjpeg", both=False, photometric="RGB")
    case("rgb_5", scene("u1", 3, bits=5), 5, photometric="RGB")


def lut(first, bits, data, **more):
    ds = Dataset()
    ds.LUTDescriptor = [len(data) % 65536, first, bits]
    ds["LUTDescriptor"].VR = "SS" if first < 0 else "US"
    ds.LUTData = np.asarray(data, "<u2").tobytes()
    ds["LUTData"].VR = "OW"
    return ds


def results(r, sigmoid):
    """What stands for an array. NumPy's exp depends on the processor in the last bit, so values of a sigmoid have 12 digits."""
    if sigmoid:
        return {"rounded": [float(f"{v:.11e}") for v in r.reshape(-1)[::7]]}
    return {"float64": digest(r.astype(np.float64)), "float32": digest(r.astype(np.float32)), "values": r.astype(np.float64).reshape(-1)[:: r.size // 5].tolist()}


def values():
    """Files with the numbers of modality and VOI LUT modules, and what pydicom makes of them."""
    out = []

    def case(name, a, *what, syntax=ExplicitVRLittleEndian, **more):
        ds = dataset(a, **more)
        ds.PixelData = a.tobytes()
        ds["PixelData"].VR = "OW"
        path = save(name, ds, syntax, VALUES)
        for modality, index in what:
            ds = pydicom.dcmread(path)
            r = pixel_array(ds)
            if modality:
                r = apply_modality_lut(r, ds)
            if index is not None:
                r = apply_voi_lut(r, ds, index)
            out.append({"file": path.name, "modality": modality, "voi": index, **results(r, "SIGMOID" in more.values())})

    ct, u16, u8 = scene("i2", bits=13), scene("u2", bits=12), scene("u1")
    hu = {"RescaleSlope": "1", "RescaleIntercept": "-1024", "bits": 12}
    case("rescale", u16, (True, None), **hu)
    case("rescale_fraction", u16, (True, None), RescaleSlope="0.1234567", RescaleIntercept="-7.89", bits=12)
    case("rescale_signed", ct, (True, None), RescaleSlope="2.5", RescaleIntercept="0.3", bits=13)
    case("window", u16, (True, 0), (False, 0), WindowCenter="40", WindowWidth="400", **hu)
    case("window_signed", ct, (False, 0), WindowCenter="100.5", WindowWidth="900.25", bits=13)
    case("windows", u16, (True, 0), (True, 1), (True, 2), WindowCenter=["40", "600", "-500"], WindowWidth=["400", "1500.5", "1"], **hu)
    for f in ("LINEAR", "LINEAR_EXACT", "SIGMOID"):
        case("window_" + f.lower(), u16, (True, 0), WindowCenter="600", WindowWidth="777", VOILUTFunction=f, **hu)
    case("window_mono1", u16, (True, 0), photometric="MONOCHROME1", WindowCenter="600", WindowWidth="777", **hu)
    case("window_8", u8, (False, 0), WindowCenter="127", WindowWidth="180", syntax=ImplicitVRLittleEndian)
    rng = np.random.RandomState(5)
    m16, m8 = rng.randint(0, 65536, 3000), rng.randint(0, 256, 200)
    case("modality_lut", u16, (True, None), (True, 0), bits=12, ModalityLUTSequence=[lut(500, 16, m16)], WindowCenter="30000", WindowWidth="40000")
    case("modality_lut_signed", ct, (True, None), bits=13, ModalityLUTSequence=[lut(-2000, 16, m16)])
    case("modality_lut_implicit", ct, (True, None), bits=13, ModalityLUTSequence=[lut(-2000, 16, m16)], syntax=ImplicitVRLittleEndian)
    case("modality_lut_8", u8, (True, None), ModalityLUTSequence=[lut(20, 8, m8)])
    case("modality_lut_all", u16, (True, None), bits=12, ModalityLUTSequence=[lut(0, 16, np.arange(65536) // 16 * 7)], syntax=DeflatedExplicitVRLittleEndian)
    v12 = rng.randint(0, 4096, 2000)
    case("voi_lut", u16, (False, 0), (False, 1), bits=12, VOILUTSequence=[lut(300, 12, v12), lut(0, 16, m16)])
    case("voi_lut_signed", ct, (False, 0), bits=13, VOILUTSequence=[lut(-1000, 12, v12)], WindowCenter="1", WindowWidth="2")
    case("voi_lut_8", u8, (False, 0), VOILUTSequence=[lut(20, 8, m8)])
    case("voi_lut_of_modality", u16, (True, 0), VOILUTSequence=[lut(-800, 12, v12)], **(hu | {"RescaleSlope": "1.3"}))
    palettes = []
    for name, a, bits, first, n, syntax in (
        ("palette_8", scene("u1"), 8, 0, 256, ExplicitVRLittleEndian), ("palette_16", scene("u1"), 16, 0, 256, ImplicitVRLittleEndian),
        ("palette_first", scene("u1"), 16, 30, 100, ExplicitVRLittleEndian), ("palette_wraps", scene("u2", bits=12), 8, 100, 200, ExplicitVRLittleEndian),
        ("palette_signed", scene("i2", bits=9), 16, -100, 300, ExplicitVRLittleEndian), ("palette_all", scene("u2"), 16, 0, 65536, DeflatedExplicitVRLittleEndian),
    ):
        ds = dataset(a, photometric="PALETTE COLOR")
        for c in ("Red", "Green", "Blue"):
            setattr(ds, f"{c}PaletteColorLookupTableDescriptor", [n % 65536, first, bits])
            ds[f"{c}PaletteColorLookupTableDescriptor"].VR = "SS" if first < 0 else "US"
            setattr(ds, f"{c}PaletteColorLookupTableData", (rng.randint(0, 2**bits, n) if n < 65536 else np.arange(n) // 16 * 5).astype(f"<u{bits // 8}").tobytes())
            ds[f"{c}PaletteColorLookupTableData"].VR = "OW"
        ds.PixelData = a.tobytes()
        ds["PixelData"].VR = "OW"
        path = save(name, ds, syntax, VALUES)
        ds = pydicom.dcmread(path)
        r = apply_color_lut(pixel_array(ds), ds)
        palettes.append({"file": path.name, "dtype": r.dtype.name, "digest": digest(r)})
    windows = []
    a = scene("i2", bits=13)[0, ..., 0]
    for f in ("LINEAR", "LINEAR_EXACT", "SIGMOID"):
        for center, width in ((40, 400), (-600.5, 1500), (0.25, 1), (100, 33.3)):
            ds = Dataset()
            ds.PhotometricInterpretation, ds.BitsStored, ds.PixelRepresentation, ds.VOILUTFunction = "MONOCHROME2", 8, 0, f
            ds.WindowCenter, ds.WindowWidth = center, width
            for src in (a, (a * np.float64(1.7) - 3).astype(np.float32), a * np.float64(0.123)):
                r = apply_windowing(src, ds)
                windows.append({"function": f.lower(), "center": center, "width": width, "in": src.dtype.name, **results(r, f == "SIGMOID")})
    (VALUES / "golden.json").write_text(json.dumps({"files": out, "windows": windows, "palettes": palettes}, indent=0) + "\n")


if __name__ == "__main__":
    for d in (OUT, VALUES):
        d.mkdir(parents=True, exist_ok=True)
        for f in d.glob("*.dcm"):
            f.unlink()
    uncompressed()
    compressed()
    jpeg2000()
    values()
    (OUT / "golden.json").write_text(json.dumps(golden, indent=0) + "\n")
    print(len(golden), "files")
