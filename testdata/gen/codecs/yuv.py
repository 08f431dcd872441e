"""Writes golden/yuv.json: what libyuv makes of camera frames.

libyuv is Debian 12's package libyuv0, called through ctypes. The frames are
made of a formula that the Go test repeats; the file has SHA-256 digests. The
script also checks that libyuv's plain C rows agree with its vector rows: on x86
with those of SSSE3 alone and of AVX2, on ARM with those of NEON. For ARM on
another machine, set PYTHON of run.sh to a script that runs Debian's arm64
python3, with its python3-numpy and libyuv0, under qemu-aarch64-static. The
version that is checked is then that of the machine's own libyuv0.
"""
import ctypes, hashlib, json, subprocess, sys
import numpy as np

VERSION = "0.0~git20230123.b2528b0-1"
have = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libyuv0"], capture_output=True, text=True).stdout
if have != VERSION:
    sys.exit(f"yuv.py: libyuv0 is {have or 'missing'}, want {VERSION} (Debian: apt-get install libyuv0={VERSION})")
lib = ctypes.CDLL("libyuv.so.0")
# The flags that enable a set of rows: its bit in libyuv's cpu_id.h and all bits
# below, because libyuv prefers the rows of the highest bit. 1 enables plain C.
HAVE = lib.MaskCpuFlags(-1)
ROWS = {name: HAVE & (2 * bit - 1) for name, bit in {"NEON": 4, "SSSE3": 0x40, "AVX2": 0x400}.items() if HAVE & bit}
CONSTANTS = ctypes.addressof(ctypes.c_char.in_dll(lib, "kYuvJPEGConstants"))


def noise(n, seed):
    """n bytes of a linear congruential generator."""
    out, x = np.empty(n, np.uint8), seed
    for i in range(n):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
        out[i] = x >> 24
    return out


def ptr(a, at=0):
    return ctypes.c_void_p(a.ctypes.data + at)


def rows_agree(*args):
    """What plain C gives, after comparing each set of vector rows with it."""
    assert lib.MaskCpuFlags(1) == 1
    plain = convert(*args)
    for name, flags in ROWS.items():
        assert lib.MaskCpuFlags(flags) == flags, name
        assert (convert(*args) == plain).all(), f"libyuv's rows for {name} differ"
    lib.MaskCpuFlags(-1)
    return plain


def convert(y, y_stride, u, v, uv_stride, pixel_stride, w, h):
    """RGB of the whole frame, by Android420ToARGBMatrix. u and v are (array, offset)."""
    argb = np.empty((h, w, 4), np.uint8)
    status = lib.Android420ToARGBMatrix(
        ptr(y), y_stride, ptr(*u), uv_stride, ptr(*v), uv_stride, pixel_stride,
        ptr(argb), w * 4, ctypes.c_void_p(CONSTANTS), w, h)
    assert status == 0, status
    return argb


def digest(a):
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()


def frame(layout, w, h, pad, seed):
    """The planes of a frame: y, y_stride, u, v, uv_stride, pixel_stride."""
    cw, ch = (w + 1) // 2, (h + 1) // 2
    y_stride = w + pad
    y = noise(y_stride * h, seed)
    if layout == "I420":
        uv_stride = cw + pad
        u, v = noise(uv_stride * ch, seed + 1), noise(uv_stride * ch, seed + 2)
        return y, y_stride, (u, 0), (v, 0), uv_stride, 1
    if layout == "separate":  # interleaved with other bytes, in arrays of their own
        uv_stride = 2 * cw + pad
        u, v = noise(uv_stride * ch, seed + 1), noise(uv_stride * ch, seed + 2)
        return y, y_stride, (u, 0), (v, 0), uv_stride, 2
    uv_stride = 2 * cw + pad
    uv = noise(uv_stride * ch, seed + 1)
    first, second = (uv, 0), (uv, 1)
    if layout == "NV12":
        return y, y_stride, first, second, uv_stride, 2
    return y, y_stride, second, first, uv_stride, 2  # NV21


def main():
    cases = []
    seed = 1
    sizes = [(1, 1), (2, 2), (3, 1), (1, 5), (7, 5), (16, 16), (33, 19), (64, 48), (127, 63), (160, 121)]
    for layout in ["I420", "NV12", "NV21", "separate"]:
        for w, h in sizes:
            for pad in [0, 5]:
                seed += 10
                args = frame(layout, w, h, pad, seed)
                argb = rows_agree(*args, w, h)
                crops = [None]
                if w > 3 and h > 3:
                    crops += [[1, 1, w - 1, h - 2], [2, 3, w - 1, h], [w - 1, 0, w, h]]
                for crop in crops:
                    l, t, r, b = crop or [0, 0, w, h]
                    part = np.ascontiguousarray(argb[t:b, l:r])
                    for rotation in [0, 90, 180, 270]:
                        cw, ch = r - l, b - t
                        ow, oh = (ch, cw) if rotation % 180 else (cw, ch)
                        out = np.empty((oh, ow, 4), np.uint8)
                        assert lib.ARGBRotate(ptr(part), cw * 4, ptr(out), ow * 4, cw, ch, rotation) == 0
                        cases.append({"layout": layout, "width": w, "height": h, "pad": pad, "seed": seed, "crop": crop,
                                      "rotation": rotation, "sha256": digest(out[:, :, [2, 1, 0]])})
    # Every triple of Y, U and V: a frame of 512 x 256 for each V, whose columns
    # are two of each U and whose rows are Y. All rows of a chroma sample share
    # it, so every second row is another frame.
    cube = hashlib.sha256()
    y = np.repeat(np.arange(256, dtype=np.uint8), 512)
    u = np.tile(np.arange(256, dtype=np.uint8), 128)
    for v in range(256):
        args = (y, 512, (u, 0), (np.full(256 * 128, v, np.uint8), 0), 256, 1)
        argb = rows_agree(*args, 512, 256)
        cube.update(argb[:, ::2, [2, 1, 0]].tobytes())
    with open("../golden/yuv.json", "w") as f:
        f.write("{\n")
        f.write(f' "libyuv": {json.dumps(VERSION)},\n "cube": {json.dumps(cube.hexdigest())},\n "cases": [\n')
        f.write(",\n".join("  " + json.dumps(c) for c in cases))
        f.write("\n ]\n}\n")
    print(f"yuv.json: {len(cases)} cases, 16,777,216 triples; plain C agrees with {', '.join(ROWS) or 'no other rows'}")


main()
