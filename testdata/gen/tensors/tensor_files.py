"""Goldens of package tensor, as the reference writers write them.

Needs numpy 2.4.6, ml_dtypes 0.6.0, onnx 1.23.2, safetensors 0.8.0 (checked).
Writes ../../tensor/testdata/goldens.zip and half.json; the same bytes each time.
"""
import hashlib
import io
import json
import math
import pathlib
import struct
import zipfile

import ml_dtypes
import numpy as np
import onnx
import safetensors
import safetensors.numpy
from onnx import numpy_helper

VERSIONS = {
    np: "2.4.6",
    ml_dtypes: "0.6.0",
    onnx: "1.23.2",
    safetensors: "0.8.0",
}
for module, want in VERSIONS.items():
    assert module.__version__ == want, (module.__name__, module.__version__, want)

OUT = pathlib.Path(__file__).resolve().parent.parent.parent.parent / "tensor" / "testdata"

DTYPES = {
    "uint8": np.uint8, "int8": np.int8, "uint16": np.uint16, "int16": np.int16, "int32": np.int32,
    "int64": np.int64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32,
    "float64": np.float64, "bool": np.bool_,
}
SHAPES = [(), (0,), (1,), (2, 3), (3, 2, 5), (4, 0, 7)]


def array(dtype, shape):
    """Byte k of the data is 37k+11 modulo 256; of bools, its lowest bit but one."""
    dtype = np.dtype(dtype)
    k = np.arange(math.prod(shape) * dtype.itemsize)
    b = ((k * 37 + 11) & 0xFF).astype(np.uint8)
    if dtype == np.bool_:
        b = (b >> 1) & 1
    return b.view(dtype).reshape(shape)


def npy(a, version=None):
    f = io.BytesIO()
    np.lib.format.write_array(f, a, version=version, allow_pickle=False)
    return f.getvalue()


def varint(n):
    n &= (1 << 64) - 1
    b = bytearray()
    while n > 0x7F:
        b.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(b) + bytes([n])


files = {}
for name, dtype in DTYPES.items():
    for shape in SHAPES:
        a = array(dtype, shape)
        key = name + "_" + ("x".join(map(str, shape)) or "scalar")
        if name != "bfloat16":
            files[f"npy/{key}.npy"] = npy(a)
        files[f"safetensors/{key}.safetensors"] = safetensors.numpy.save({"the tensor": a})
        files[f"onnx/{key}.pb"] = numpy_helper.from_array(a, key).SerializeToString()

# What NumPy can write but we do not: other orders and versions. All are (2, 3) or (3, 2, 5).
for name, dtype in DTYPES.items():
    if name == "bfloat16":
        continue
    a = array(dtype, (3, 2, 5))
    files[f"npy_read/{name}_fortran.npy"] = npy(np.asfortranarray(a))
    if a.itemsize > 1:
        files[f"npy_read/{name}_big.npy"] = npy(a.astype(a.dtype.newbyteorder(">")))
        files[f"npy_read/{name}_bigfortran.npy"] = npy(np.asfortranarray(a.astype(a.dtype.newbyteorder(">"))))
a = array(np.float32, (3, 2, 5))
files["npy_read/float32_v2.npy"] = npy(a, (2, 0))
files["npy_read/float32_v3.npy"] = npy(a, (3, 0))
head = b"{'shape': (3L, 2L, 5L), 'descr': \"<f4\", 'fortran_order': False}\n"  # as Python 2 prints
py2 = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + a.tobytes()
assert np.array_equal(np.lib.format.read_array(io.BytesIO(py2)).view(np.uint8), a.view(np.uint8))
files["npy_read/float32_python2.npy"] = py2

every = {n: array(d, (2, 3)) for n, d in DTYPES.items() if n != "bfloat16"}
every["Größe"] = array(np.uint8, ())
for kind, save in ("savez", np.savez), ("compressed", np.savez_compressed):
    f = io.BytesIO()
    save(f, **every)
    files[f"npz/{kind}.npz"] = f.getvalue()
f = io.BytesIO()
limit, zipfile.ZIP64_LIMIT = zipfile.ZIP64_LIMIT, 300  # as if these were bytes beyond 2 GiB
np.savez(f, **every, large=array(np.uint8, (400,)))
zipfile.ZIP64_LIMIT = limit
files["npz/zip64_beyond_300.npz"] = f.getvalue()
f = io.BytesIO()
np.savez(f)
files["npz/empty.npz"] = f.getvalue()

every["bfloat16"] = array(ml_dtypes.bfloat16, (2, 3))
every['"quoted"\\\n\t\x01/\x7f<&>\u2028'] = array(np.uint8, ())
every["empty"] = array(np.uint8, (0, 3))
every["an other"] = array(np.uint8, (3,))
files["safetensors/every.safetensors"] = safetensors.numpy.save(every)
files["safetensors/metadata.safetensors"] = safetensors.numpy.save(
    {"x": array(np.float32, (2, 3))}, metadata={"fo\"rmat": "pt\n"})
files["safetensors/none.safetensors"] = safetensors.numpy.save({})

# The typed fields of TensorProto: values 1, 2, … and the extremes of the type.
for name, dtype in DTYPES.items():
    dtype = np.dtype(dtype)
    a = np.arange(1, 7).astype(dtype).reshape(2, 3)
    if name == "bool":
        a[0, 1] = False
    elif "int" in name:
        a[0, 0], a[1, 2] = np.iinfo(dtype).min, np.iinfo(dtype).max
    else:
        a[0, 0], a[1, 2] = -np.inf, ml_dtypes.finfo(dtype).smallest_subnormal
    onnx_type = onnx.helper.np_dtype_to_tensor_dtype(dtype)
    p = onnx.helper.make_tensor(name, onnx_type, a.shape, a.flatten().tolist())
    assert not p.HasField("raw_data")
    assert numpy_helper.to_array(p).tobytes() == a.tobytes()
    files[f"onnx_typed/{name}_packed.pb"] = p.SerializeToString()
    # The same unpacked, dims packed, the fields in another order: all valid protobuf.
    field = onnx.helper.tensor_dtype_to_field(onnx_type)
    number = onnx.TensorProto.DESCRIPTOR.fields_by_name[field].number
    b = b""
    for v in getattr(p, field):
        if field == "float_data":
            b += bytes([number << 3 | 5]) + struct.pack("<f", v)
        elif field == "double_data":
            b += bytes([number << 3 | 1]) + struct.pack("<d", v)
        else:
            b += bytes([number << 3]) + varint(v)
    b += b"\x42" + bytes([len(name)]) + name.encode() + bytes([2 << 3, onnx_type]) + b"\x0a\x02\x02\x03"
    b += b"\x62\x03doc"  # doc_string
    assert numpy_helper.to_array(onnx.TensorProto.FromString(b)).tobytes() == a.tobytes()
    files[f"onnx_typed/{name}_unpacked.pb"] = b
    files[f"onnx_typed/{name}.bin"] = a.tobytes()
files["onnx_other/string.pb"] = numpy_helper.from_array(
    np.array(b"\xff\xd8 image \x00", dtype=object), "image").SerializeToString()
files["onnx_other/unnamed.pb"] = numpy_helper.from_array(array(np.uint8, (1,))).SerializeToString()

OUT.mkdir(exist_ok=True)
with zipfile.ZipFile(OUT / "goldens.zip", "w", zipfile.ZIP_STORED) as z:
    for name, data in files.items():
        info = zipfile.ZipInfo(name)
        info.create_system = 3
        z.writestr(info, data)

# Half precision: digests of the results' little-endian bytes.
LOW32 = [0, 1, 0x0FFF, 0x1000, 0x1001, 0x1FFF, 0x2000, 0x3000, 0x5000, 0x7FFF, 0x8000, 0x8001, 0xC000,
         0xEFFF, 0xF000, 0xF001, 0xFFFF]
LOW64 = [0, 1, 0x01FFFFFFFFFF, 0x020000000000, 0x020000000001, 0x03FFFFFFFFFF, 0x040000000000,
         0x060000000000, 0x7FFFFFFFFFFF, 0x800000000000, 0xFFFFFFFFFFFF]
high = np.arange(1 << 16)


def digest(a):
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()


half = {
    "float32_low": LOW32,
    "float64_low": LOW64,
    "float16": [], "bfloat16": [], "float16_from_float64": [],
}
with np.errstate(all="ignore"):
    for low in LOW32:
        f = (high << 16 | low).astype(np.uint32).view(np.float32)
        half["float16"].append(digest(f.astype(np.float16)))
        half["bfloat16"].append(digest(f.astype(ml_dtypes.bfloat16)))
    for low in LOW64:
        f = (high.astype(np.uint64) << np.uint64(48) | np.uint64(low)).view(np.float64)
        half["float16_from_float64"].append(digest(f.astype(np.float16)))
    every = high.astype(np.uint16)
    half["float32_from_float16"] = digest(every.view(np.float16).astype(np.float32))
    half["float32_from_bfloat16"] = digest(every.view(ml_dtypes.bfloat16).astype(np.float32))
    # Around every boundary of float64 -> float16: halves, the doubles midway, and their neighbours.
    h = every[:0x7C00].view(np.float16).astype(np.float64)
    mid = (h + np.append(h[1:], 65536.0)) / 2
    near = np.stack([h, np.nextafter(mid, 0), mid, np.nextafter(mid, np.inf)], axis=1)
    half["float16_near"] = digest(np.concatenate([near, -near]).astype(np.float16))
(OUT / "half.json").write_text(json.dumps(half, indent=1) + "\n")
