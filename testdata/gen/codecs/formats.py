"""Makes testdata/images and testdata/damaged for all formats but JPEG, and testdata/golden/codecs.json.

Needs Pillow 13.0.0, numpy and transformers 5.23.0 (its convert_to_rgb is the reference of the alpha policies).
Takes no arguments; running it again gives the same bytes.
"""

import glob
import hashlib
import io
import json
import lzma
import os
import struct
import warnings
import zlib

import numpy as np
from PIL import Image, ImageOps
from transformers.image_transforms import convert_to_rgb

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IMAGES = os.path.join(ROOT, "images")
DAMAGED = os.path.join(ROOT, "damaged")
FORMATS = ("png", "gif", "bmp", "tiff", "webp", "pnm", "qoi", "tga", "ico", "dib")

warnings.simplefilter("ignore")

whole = {}  # name -> bytes: images without a fault by their format's specification, though perhaps odd
accepted = {}  # name -> bytes: damaged images that Pillow reads nevertheless, and so must we
damaged = {}  # name -> (kind, bytes): "format", "unsupported" or "limit"


def scene(w, h, channels, seed=0):
    """A picture with edges, gradients and noise."""
    rng = np.random.RandomState(seed + 1000 * w + h)
    y, x = np.mgrid[0:h, 0:w]
    planes = []
    for c in range(channels):
        v = 40 * c + x * 255 // max(w - 1, 1) * (c % 2) + y * 255 // max(h - 1, 1) * (1 - c % 2)
        v = np.where((x // 5 + y // 7 + c) % 3 == 0, 255 - v, v)
        v = v + rng.randint(-20, 21, (h, w))
        planes.append(np.clip(v, 0, 255))
    return np.stack(planes, -1).astype(np.uint8)


# ---- PNG ----

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def chunk(name, body=b"", crc=None):
    if crc is None:
        crc = zlib.crc32(name + body)
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", crc)


def ihdr(w, h, depth, color, interlace=0):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, color, 0, 0, interlace))


def pack_rows(samples, depth):
    """samples: (h, w, channels) integers; gives one bytes object a row."""
    rows = []
    for row in samples:
        flat = row.reshape(-1)
        if depth == 16:
            rows.append(flat.astype(">u2").tobytes())
        elif depth == 8:
            rows.append(flat.astype(np.uint8).tobytes())
        else:
            bits = ((flat[:, None] >> np.arange(depth - 1, -1, -1)) & 1).astype(np.uint8)
            rows.append(np.packbits(bits.reshape(-1)).tobytes())
    return rows


def png_filter(rows, bpp, first):
    """Filters the rows, with each of the five filters in turn."""
    out = b""
    prev = bytes(len(rows[0])) if rows else b""
    for i, row in enumerate(rows):
        f = (i + first) % 5
        b = bytearray([f])
        for j, v in enumerate(row):
            a = row[j - bpp] if j >= bpp else 0
            up = prev[j]
            c = prev[j - bpp] if j >= bpp else 0
            if f == 0:
                p = 0
            elif f == 1:
                p = a
            elif f == 2:
                p = up
            elif f == 3:
                p = (a + up) // 2
            else:
                e = a + up - c
                pa, pb, pc = abs(e - a), abs(e - up), abs(e - c)
                p = a if pa <= pb and pa <= pc else up if pb <= pc else c
            b.append((v - p) & 255)
        out += bytes(b)
        prev = row
    return out


def png(samples, depth, color, interlace=False, before=b"", after=b"", split=None, end=True, raw=None):
    h, w = samples.shape[:2]
    if samples.ndim == 2:
        samples = samples[:, :, None]
    bpp = max(1, samples.shape[2] * depth // 8)
    if raw is None:
        if interlace:
            raw = b""
            for n, (x, y, dx, dy) in enumerate(PASSES):
                part = samples[y::dy, x::dx]
                if part.size:
                    raw += png_filter(pack_rows(part, depth), bpp, n)
        else:
            raw = png_filter(pack_rows(samples, depth), bpp, 0)
    z = zlib.compress(raw, 9)
    if split:
        idat = b"".join(chunk(b"IDAT", z[i : i + split]) for i in range(0, len(z), split))
    else:
        idat = chunk(b"IDAT", z)
    return PNG_MAGIC + ihdr(w, h, depth, color, int(interlace)) + before + idat + after + (chunk(b"IEND") if end else b"")


def exif(orientation, order="<", prefix=b""):
    head = b"II*\0" if order == "<" else b"MM\0*"
    return prefix + head + struct.pack(order + "IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)


XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description %s/></x:xmpmeta>'


def png_chunks(data):
    """The chunks of a PNG as (name, body)."""
    at, out = 8, []
    while at < len(data):
        n = struct.unpack(">I", data[at : at + 4])[0]
        out.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + n]))
        at += 12 + n
    return out


def png_again(chunks):
    return PNG_MAGIC + b"".join(chunk(name, body) for name, body in chunks)


def png_pieces(data, size, checksum=None):
    """The same with image data in pieces of size bytes, and another checksum."""
    chunks = png_chunks(data)
    idat = b"".join(body for name, body in chunks if name == b"IDAT")
    if checksum is not None:
        idat = idat[: -len(checksum)] + checksum
    pieces = [(b"IDAT", idat[i : i + size]) for i in range(0, len(idat), size)]
    first = [name for name, _ in chunks].index(b"IDAT")
    return png_again(chunks[:first] + pieces + [c for c in chunks[first:] if c[0] != b"IDAT"])


def either(name, data):
    """Adds a file that Pillow reads or not, where no other rule says which."""
    try:
        Image.open(io.BytesIO(data)).load()
        accepted[name] = data
    except OSError:
        damaged[name] = ("format", data)


def make_png_order():
    """What Pillow makes of chunks in pieces and in other orders."""
    wrong = b"\x12\x34\x56\x78"
    for name in ("rgb8", "p2_twice1", "rgba16_interlaced", "gray8"):
        data = whole[f"png_{name}.png"]
        for size in (1, 2, 3, 5, 7, 50):
            either(f"png_pieces{size}_{name}.png", png_pieces(data, size, wrong))
        damaged[f"png_whole_wrong_{name}.png"] = ("format", png_pieces(data, 1 << 30, wrong))
    chunks = png_chunks(whole["png_rgb8.png"])
    idat = [c for c in chunks if c[0] == b"IDAT"]
    accepted["png_idat_first.png"] = png_again(idat[:1] + chunks)
    fdat = lambda n: (b"fdAT", struct.pack(">I", n) + b"data")
    damaged["png_fdat_alone.png"] = ("format", png_again(chunks[:-1] + [fdat(0)] + chunks[-1:]))
    animated = png_chunks(whole["png_apng.png"])
    i = [name for name, _ in animated].index(b"IDAT")
    accepted["png_actl_twice.png"] = png_again(animated[:1] + [c for c in animated if c[0] == b"acTL"] + animated[1:])
    damaged["png_fdat_order.png"] = ("format", png_again(animated[: i + 1] + [fdat(2)] + animated[-1:]))
    accepted["png_fdat_next.png"] = png_again(animated[: i + 1] + [fdat(1)] + animated[-1:])
    damaged["png_trns_after.png"] = ("format", png_again(chunks[:-1] + [(b"tRNS", b"abc")] + chunks[-1:]))
    p = [c for c in png_chunks(whole["png_p2_twice1.png"]) if c[0] not in (b"PLTE", b"tRNS")]
    damaged["png_key_without_palette.png"] = ("format", png_again(p[:1] + [(b"tRNS", b"\xff\0\xff")] + p[1:]))
    accepted["png_alpha_without_palette.png"] = png_again(p[:1] + [(b"tRNS", b"\xff\7\xff")] + p[1:])


def make_png():
    w, h = 37, 23
    for depth in (1, 2, 4, 8, 16):
        top = (1 << depth) - 1
        g = scene(w, h, 1, depth)[:, :, 0].astype(int) * top // 255
        if depth == 16:
            g[:4] = np.arange(4 * w).reshape(4, w) * 3  # around the clip at 255
        for inter in (False, True):
            tag = "_interlaced" if inter else ""
            whole[f"png_gray{depth}{tag}.png"] = png(g, depth, 0, inter)
        for n, key in enumerate((0, int(g[5, 5]), 300 if depth > 4 else top)):
            whole[f"png_gray{depth}_key{n}.png"] = png(g, depth, 0, n == 1, chunk(b"tRNS", struct.pack(">H", key)))
    # keys that only match after Pillow's scaling, masking or clipping
    whole["png_gray2_key85.png"] = png(np.array([[0, 1, 2, 3]] * 3), 2, 0, False, chunk(b"tRNS", b"\0\x55"))
    whole["png_gray4_key17.png"] = png(np.array([[0, 1, 2, 15]] * 3), 4, 0, False, chunk(b"tRNS", b"\0\x11"))
    ramp = np.arange(256).reshape(16, 16)
    whole["png_gray8_key_wide.png"] = png(ramp, 8, 0, False, chunk(b"tRNS", b"\x01\x2c"))
    whole["png_gray16_key_wide.png"] = png(ramp * 2, 16, 0, False, chunk(b"tRNS", b"\x01\x00"))
    whole["png_gray16_key255.png"] = png(ramp * 2, 16, 0, False, chunk(b"tRNS", b"\x00\xff"))
    for depth in (8, 16):
        k = 1 if depth == 8 else 257
        extra = 0 if depth == 8 else np.random.RandomState(5).randint(0, 256, (h, w, 4)) - 128
        for color, ch in ((2, 3), (4, 2), (6, 4)):
            s = np.clip(scene(w, h, ch, depth + color).astype(int) * k + (extra[:, :, :ch] if depth == 16 else 0), 0, 256 * k - 1 if depth == 8 else 65535)
            if ch in (2, 4):
                s[:, :, -1] = (np.mgrid[0:h, 0:w][1] * 8 % 256) * k  # alpha of 0, 255 and between
            name = {2: "rgb", 4: "la", 6: "rgba"}[color]
            for inter in (False, True):
                tag = "_interlaced" if inter else ""
                whole[f"png_{name}{depth}{tag}.png"] = png(s, depth, color, inter, split=300 if inter else None)
            if color == 2:
                r, g, b = (int(v) for v in s[7, 9])
                whole[f"png_rgb{depth}_key.png"] = png(s, depth, 2, False, chunk(b"tRNS", struct.pack(">HHH", r, g, b)))
    whole["png_rgb8_key_wide.png"] = png(s[:, :, :3] >> 8, 8, 2, False, chunk(b"tRNS", b"".join(bytes([7, v >> 8]) for v in s[3, 3, :3])))
    rgb16 = np.full((4, 4, 3), 0x0505)
    whole["png_rgb16_key_low.png"] = png(rgb16, 16, 2, False, chunk(b"tRNS", b"\x09\x05" * 3))
    for depth in (1, 2, 4, 8):
        n = 1 << depth
        pal = scene(n, 1, 3, depth)[0]
        idx = scene(w, h, 1, depth)[:, :, 0].astype(int) * (n - 1) // 255
        plte = chunk(b"PLTE", pal.tobytes())
        whole[f"png_p{depth}.png"] = png(idx, depth, 3, False, plte)
        whole[f"png_p{depth}_interlaced.png"] = png(idx, depth, 3, True, plte)
        one = b"\xff" * (n // 2) + b"\0"
        whole[f"png_p{depth}_one.png"] = png(idx, depth, 3, False, plte + chunk(b"tRNS", one))
        many = bytes((i * 37) % 256 for i in range(n))
        whole[f"png_p{depth}_many.png"] = png(idx, depth, 3, False, plte + chunk(b"tRNS", many))
    twice = np.array([[10, 20, 30], [200, 100, 50], [10, 20, 30], [0, 0, 0]], np.uint8)
    idx = np.arange(64).reshape(8, 8) % 4
    for n, t in enumerate((b"\0", b"\xff\xff\0", b"\xff\0\n", b"\0\0", b"\xff", b"")):
        whole[f"png_p2_twice{n}.png"] = png(idx, 2, 3, False, chunk(b"PLTE", twice.tobytes()) + chunk(b"tRNS", t))
    accepted["png_p8_short_palette.png"] = png(ramp, 8, 3, False, chunk(b"PLTE", twice.tobytes()))
    accepted["png_p8_no_palette.png"] = png(ramp, 8, 3)
    rgb = scene(19, 11, 3, 3)
    for o in range(0, 10):
        whole[f"png_exif{o}.png"] = png(rgb, 8, 2, False, chunk(b"eXIf", exif(o, "<>"[o % 2])))
    whole["png_exif_after.png"] = png(rgb, 8, 2, False, after=chunk(b"eXIf", exif(6)))
    whole["png_xmp.png"] = png(rgb, 8, 2, False, chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP % b'tiff:Orientation="8"'))
    whole["png_xmp_zlib.png"] = png(rgb, 8, 2, False, chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(XMP % b'tiff:Orientation="3"')))
    hexed = exif(6, ">", b"Exif\0\0")
    whole["png_raw_exif.png"] = png(rgb, 8, 2, False, chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(b"\nexif\n%8d\n%s\n" % (len(hexed), hexed.hex().encode()))))
    for o in (2, 5, 7):
        whole[f"png_exif{o}_p.png"] = png(idx[:5], 2, 3, False, chunk(b"PLTE", twice.tobytes()) + chunk(b"eXIf", exif(o)))
        whole[f"png_exif{o}_gray.png"] = png(scene(9, 4, 1)[:, :, 0], 8, 0, False, chunk(b"eXIf", exif(o)))
    actl = chunk(b"acTL", struct.pack(">II", 2, 0))

    def fctl(seq, fw=19, fh=11, x=0, y=0):
        return chunk(b"fcTL", struct.pack(">IIIIIHHBB", seq, fw, fh, x, y, 1, 10, 0, 0))

    fdat = chunk(b"fdAT", struct.pack(">I", 2) + zlib.compress(bytes(11 * (1 + 3 * 19))))
    whole["png_apng.png"] = png(rgb, 8, 2, False, actl + fctl(0), fctl(1) + fdat)
    whole["png_apng_exif_behind.png"] = png(rgb, 8, 2, False, actl + fctl(0), fctl(1) + fdat + chunk(b"eXIf", exif(6)))
    accepted["png_apng_short.png"] = png(rgb, 8, 2, False, actl + fctl(0), fctl(1) + fdat, end=False)[:-9]
    whole["png_apng_default.png"] = png(rgb, 8, 2, False, actl, fctl(0) + chunk(b"fdAT", struct.pack(">I", 1) + fdat[12:-4]) + fctl(2) + chunk(b"fdAT", struct.pack(">I", 3) + fdat[12:-4]))
    good = whole["png_rgb8.png"]
    accepted["png_no_iend.png"] = good[:-12]
    whole["png_trailing.png"] = good + b"trailing bytes"
    accepted["png_bad_idat_crc.png"] = PNG_MAGIC + ihdr(19, 11, 8, 2) + chunk(b"IDAT", zlib.compress(png_filter(pack_rows(rgb, 8), 3, 0)), 1) + chunk(b"IEND")
    accepted["png_no_adler.png"] = good[:-20]
    damaged["png_idat_header.png"] = ("format", good[:-12] + struct.pack(">I", 99) + b"IDAT")
    whole["png_1x1.png"] = png(rgb[:1, :1], 8, 2)
    accepted["png_short_stream.png"] = png(rgb, 8, 2, raw=png_filter(pack_rows(rgb[:6], 8), 3, 0))
    accepted["png_long_stream.png"] = png(rgb[:6], 8, 2, raw=png_filter(pack_rows(rgb, 8), 3, 0))
    whole["png_stored.png"] = PNG_MAGIC + ihdr(19, 11, 8, 2) + chunk(b"IDAT", zlib.compress(png_filter(pack_rows(rgb, 8), 3, 0), 0)) + chunk(b"IEND")

    # Pillow's limits of texts and profiles.
    mib = b"a" * (1 << 20)
    xmp = zlib.compress(XMP % b'tiff:Orientation="3"' + bytes(200))

    def text(name, body, after=False):
        c = chunk(name, body)
        return png(rgb, 8, 2, False, b"" if after else c, c if after else b"")

    accepted["png_text_mib.png"] = text(b"zTXt", b"Comment\0\0" + zlib.compress(mib))
    accepted["png_text_damaged.png"] = text(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(99))[:-1] + b"\1")
    accepted["png_text_short_xmp.png"] = text(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + xmp[:-6])
    accepted["png_text_method_itxt.png"] = text(b"iTXt", b"Comment\0\1\7\0\0" + zlib.compress(mib + b"a"))
    accepted["png_profile_damaged.png"] = text(b"iCCP", b"x\0\0" + bytes(2000))
    damaged["png_text_ztxt.png"] = ("limit", text(b"zTXt", b"Comment\0\0" + zlib.compress(mib + b"a")))
    damaged["png_text_ztxt_after.png"] = ("limit", text(b"zTXt", b"Comment\0\0" + zlib.compress(mib + b"a"), True))
    damaged["png_text_itxt.png"] = ("limit", text(b"iTXt", b"Comment\0\1\0\0\0" + zlib.compress(mib + b"a")))
    damaged["png_text_method.png"] = ("format", text(b"zTXt", b"Comment\0\7" + zlib.compress(b"a")))
    damaged["png_profile.png"] = ("limit", text(b"iCCP", b"x\0\0" + zlib.compress(mib + b"a")))
    damaged["png_profile_method.png"] = ("format", text(b"iCCP", b"x\0\1" + zlib.compress(b"a")))
    damaged["png_profile_no_zero.png"] = ("format", text(b"iCCP", b"profile"))
    damaged["png_profile_short.png"] = ("format", text(b"iCCP", b"x\0"))

    damaged["png_truncated.png"] = ("format", good[: len(good) // 2])
    damaged["png_truncated_header.png"] = ("format", good[:20])
    damaged["png_bad_ihdr_crc.png"] = ("format", good[:29] + b"\0\0\0\0" + good[33:])
    damaged["png_mid_row.png"] = ("format", png(rgb, 8, 2, raw=png_filter(pack_rows(rgb, 8), 3, 0)[:100]))
    damaged["png_bad_filter.png"] = ("format", png(rgb, 8, 2, raw=b"\x09" + bytes(11 * 58)))
    damaged["png_bad_adler.png"] = ("format", PNG_MAGIC + ihdr(19, 11, 8, 2) + chunk(b"IDAT", zlib.compress(png_filter(pack_rows(rgb, 8), 3, 0))[:-1] + b"\0") + chunk(b"IEND"))
    damaged["png_bad_type.png"] = ("format", PNG_MAGIC + ihdr(19, 11, 3, 2) + chunk(b"IDAT") + chunk(b"IEND"))
    damaged["png_no_idat.png"] = ("format", PNG_MAGIC + ihdr(19, 11, 8, 2) + chunk(b"IEND"))
    damaged["png_zero_width.png"] = ("format", png(rgb[:, :0], 8, 2, raw=b""))
    damaged["png_huge.png"] = ("limit", PNG_MAGIC + ihdr(60000, 60000, 8, 6) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND"))
    damaged["png_huge_side.png"] = ("limit", PNG_MAGIC + ihdr(0xFFFFFFFF, 0xFFFFFFFF, 8, 6) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND"))
    damaged["png_truncated_after.png"] = ("format", good[:-12] + chunk(b"tEXt", b"Comment\0" + bytes(100))[:50])
    damaged["png_unsupported_frame.png"] = ("unsupported", png(rgb[:5, :7], 8, 2, False, actl + fctl(0, 7, 5, 1, 2)).replace(ihdr(7, 5, 8, 2), ihdr(19, 11, 8, 2)))


# ---- GIF ----


def lzw(bits, samples, clear_every=0, end=True):
    """GIF's LZW in blocks of at most 200 bytes."""
    clear, stop = 1 << bits, (1 << bits) + 1
    out, acc, n = bytearray(), 0, 0
    size, table, nxt, w, count = bits + 1, {}, stop + 1, None, 0

    def put(code):
        nonlocal acc, n
        acc |= code << n
        n += size
        while n >= 8:
            out.append(acc & 255)
            acc >>= 8
            n -= 8

    put(clear)
    for s in samples:
        s = int(s)
        count += 1
        if clear_every and count % clear_every == 0 and w is not None:
            put(w)
            put(clear)
            size, table, nxt, w = bits + 1, {}, stop + 1, None
        if w is None:
            w = s
        elif (w, s) in table:
            w = table[w, s]
        else:
            put(w)
            if nxt < 4096:
                table[w, s] = nxt
                if nxt == 1 << size and size < 12:
                    size += 1
                nxt += 1
            w = s
    put(w)
    if end:
        put(stop)
    if n:
        out.append(acc & 255)
    blocks = b"".join(bytes([len(out[i : i + 200])]) + bytes(out[i : i + 200]) for i in range(0, len(out), 200))
    return bytes([bits]) + blocks + b"\0"


def gif(screen, parts, table=None, background=0, version=b"89a", end=b";"):
    flags = 0x80 | (len(table) // 3).bit_length() - 2 if table else 0
    return b"GIF" + version + struct.pack("<HHBBB", *screen, flags, background, 0) + (table or b"") + b"".join(parts) + end


def gif_frame(idx, bits, x=0, y=0, table=None, interlaced=False, **options):
    h, w = idx.shape
    flags = (0x80 | (len(table) // 3).bit_length() - 2 if table else 0) | (0x40 if interlaced else 0)
    rows = [r for first, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for r in range(first, h, step)] if interlaced else range(h)
    return b"," + struct.pack("<HHHHB", x, y, w, h, flags) + (table or b"") + lzw(bits, idx[list(rows)].reshape(-1), **options)


def gif_control(transparent=None, disposal=0):
    return b"!\xf9\x04" + bytes([disposal << 2 | (transparent is not None), 10, 0, transparent or 0]) + b"\0"


def make_gif():
    w, h = 37, 23
    comment = b"!\xfe\x05hello\0"
    for bits in (1, 2, 4, 8):
        n = 1 << bits
        table = scene(n, 1, 3, bits)[0].tobytes()
        idx = scene(w, h, 1, bits)[:, :, 0].astype(int) * (n - 1) // 255
        b = max(bits, 2)
        whole[f"gif_{bits}bit.gif"] = gif((w, h), [gif_frame(idx, b)], table, version=b"87a")
        whole[f"gif_{bits}bit_interlaced.gif"] = gif((w, h), [gif_control(), gif_frame(idx, b, interlaced=True)], table)
        whole[f"gif_{bits}bit_transparent.gif"] = gif((w, h), [comment, gif_control(n // 2), gif_frame(idx, b)], table)
        whole[f"gif_{bits}bit_local.gif"] = gif((w, h), [gif_frame(idx, b, table=table[::-1])], table)
        whole[f"gif_{bits}bit_local_only.gif"] = gif((w, h), [gif_control(0), gif_frame(idx, b, table=table[::-1])])
    ramp = bytes(v for i in range(256) for v in (i, i, i))
    gray = scene(w, h, 1)[:, :, 0]
    color = scene(256, 1, 3, 9)[0].tobytes()
    whole["gif_gray.gif"] = gif((w, h), [gif_frame(gray, 8)], ramp)
    whole["gif_gray_transparent.gif"] = gif((w, h), [gif_control(int(gray[4, 4])), gif_frame(gray, 8)], ramp)
    whole["gif_no_table.gif"] = gif((w, h), [gif_frame(gray, 8)])
    whole["gif_gray_local.gif"] = gif((w, h), [gif_frame(gray, 8, table=ramp)], color)
    whole["gif_gray_global.gif"] = gif((w, h), [gif_frame(gray, 8, table=color)], ramp)
    whole["gif_offset.gif"] = gif((w + 9, h + 7), [gif_frame(gray, 8, 4, 3)], color, background=7)
    whole["gif_offset_transparent.gif"] = gif((w + 9, h + 7), [gif_control(200), gif_frame(gray, 8, 4, 3, interlaced=True)], color, background=7)
    whole["gif_offset_gray.gif"] = gif((w + 9, h + 7), [gif_control(99), gif_frame(gray, 8, 4, 3)])
    accepted["gif_beyond.gif"] = gif((w - 9, h - 7), [gif_frame(gray, 8, 4, 3)], color)
    accepted["gif_zero_screen.gif"] = gif((0, 0), [gif_frame(gray, 8)], color)
    whole["gif_animated.gif"] = gif((w, h), [b"!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", gif_control(3, 2), gif_frame(gray, 8), gif_control(4), gif_frame(gray[::-1], 8)], color)
    accepted["gif_short_table.gif"] = gif((w, h), [gif_frame(gray, 8)], color[:48])
    accepted["gif_short_table_transparent.gif"] = gif((w, h), [gif_control(100), gif_frame(gray, 8)], color[:48])
    whole["gif_clears.gif"] = gif((w, h), [gif_frame(gray, 8, clear_every=50)], color)
    noise = np.random.RandomState(1).randint(0, 256, (90, 110))
    whole["gif_full_table.gif"] = gif((110, 90), [gif_frame(noise, 8)], color)
    accepted["gif_no_end_code.gif"] = gif((w, h), [gif_frame(gray, 8, end=False)], color)
    accepted["gif_no_trailer.gif"] = gif((w, h), [gif_frame(gray, 8)], color, end=b"")
    whole["gif_trailing.gif"] = gif((w, h), [gif_frame(gray, 8)], color) + b"trailing"
    for n, (iw, ih) in enumerate(((1, 1), (3, 2), (2, 5), (1, 9))):
        whole[f"gif_small{n}.gif"] = gif((iw, ih), [gif_frame(gray[:ih, :iw], 8, interlaced=True)], color)
    f = io.BytesIO()
    Image.fromarray(scene(60, 40, 3)).quantize(64).save(f, "GIF")
    whole["gif_pillow.gif"] = f.getvalue()

    good = whole["gif_8bit.gif"]
    damaged["gif_truncated.gif"] = ("format", good[:-150])
    damaged["gif_truncated_table.gif"] = ("format", good[:100])
    damaged["gif_truncated_header.gif"] = ("format", good[:9])
    damaged["gif_no_image.gif"] = ("format", gif((w, h), [comment], color))
    damaged["gif_early_end.gif"] = ("format", gif((w, h), [gif_frame(gray, 8)[:10] + lzw(8, gray[:9].reshape(-1))], color))
    damaged["gif_bad_code.gif"] = ("format", gif((4, 4), [b"," + struct.pack("<HHHHB", 0, 0, 4, 4, 0) + b"\x08\x04\x00\xff\xff\xff\0"], color))
    damaged["gif_zero_frame.gif"] = ("format", gif((w, h), [b"," + struct.pack("<HHHHB", 0, 0, 0, 0, 0) + b"\x08\0"], color))
    damaged["gif_huge.gif"] = ("limit", gif((60000, 60000), [gif_frame(gray, 8)], color))


# ---- BMP ----


def bmp(w, h, bits, data, palette=b"", header=40, compression=0, top_down=False, masks=(), colors=0, offset=None):
    if header == 12:
        dib = struct.pack("<IHHHH", 12, w, h, 1, bits)
    else:
        dib = struct.pack("<IiiHHIIiiII", header, w, -h if top_down else h, 1, bits, compression, len(data), 2835, 2835, colors, 0)
        if header >= 52:
            dib += struct.pack("<IIII", *(tuple(masks) + (0,) * 4)[:4])[: header - 40]
        dib += bytes(header - len(dib))
        if header == 40:
            dib += b"".join(struct.pack("<I", m) for m in masks[:3])
    if offset is None:
        offset = 14 + len(dib) + len(palette)
    return b"BM" + struct.pack("<IHHI", 14 + len(dib) + len(palette) + len(data), 0, 0, offset) + dib + palette + data


def bmp_rows(samples, depth, top_down=False):
    if samples.ndim == 2:
        samples = samples[:, :, None]
    rows = [r + bytes(-len(r) % 4) for r in pack_rows(samples, depth)]
    return b"".join(rows if top_down else rows[::-1])


def make_bmp():
    w, h = 37, 23
    for bits in (1, 4, 8):
        n = 1 << bits
        pal = scene(n, 1, 4, bits)[0]
        idx = scene(w, h, 1, bits)[:, :, 0].astype(int) * (n - 1) // 255
        whole[f"bmp_{bits}bit.bmp"] = bmp(w, h, bits, bmp_rows(idx, bits), pal.tobytes())
        whole[f"bmp_{bits}bit_top_down.bmp"] = bmp(w, h, bits, bmp_rows(idx, bits, True), pal.tobytes(), top_down=True)
        whole[f"bmp_{bits}bit_os2.bmp"] = bmp(w, h, bits, bmp_rows(idx, bits), pal[:, :3].tobytes(), header=12)
    ramp = bytes(v for i in range(256) for v in (i, i, i, 0))
    gray = scene(w, h, 1)[:, :, 0]
    black_white = b"\0\0\0\0\xff\xff\xff\0"
    whole["bmp_gray.bmp"] = bmp(w, h, 8, bmp_rows(gray, 8), ramp)
    whole["bmp_gray_64.bmp"] = bmp(w, h, 8, bmp_rows(gray // 4, 8), ramp[:256], colors=64)
    whole["bmp_black_white.bmp"] = bmp(w, h, 1, bmp_rows(gray >> 7, 1), black_white)
    whole["bmp_white_black.bmp"] = bmp(w, h, 1, bmp_rows(gray >> 7, 1), black_white[4:] + black_white[:4])
    accepted["bmp_8bit_black_white.bmp"] = bmp(w, h, 8, bmp_rows(gray, 8), black_white, colors=2)
    accepted["bmp_short_palette.bmp"] = bmp(w, h, 8, bmp_rows(gray, 8), scene(10, 1, 4)[0].tobytes(), colors=10)
    accepted["bmp_offset_at_palette.bmp"] = bmp(w, h, 8, bmp_rows(gray, 8), scene(256, 1, 4)[0].tobytes(), offset=54)
    rgb = scene(w, h, 3)
    whole["bmp_24.bmp"] = bmp(w, h, 24, bmp_rows(rgb, 8))
    whole["bmp_24_os2.bmp"] = bmp(w, h, 24, bmp_rows(rgb, 8), header=12)
    whole["bmp_24_os22.bmp"] = bmp(w, h, 24, bmp_rows(rgb, 8), header=64)
    whole["bmp_24_top_down.bmp"] = bmp(w, h, 24, bmp_rows(rgb, 8, True), top_down=True)
    accepted["bmp_24_no_offset.bmp"] = bmp(w, h, 24, bmp_rows(rgb, 8), offset=0)
    whole["bmp_24_v5.bmp"] = bmp(w, h, 24, bmp_rows(rgb, 8), header=124)
    accepted["bmp_24_last_padding.bmp"] = bmp(w, h, 24, bmp_rows(rgb, 8))[:-1]
    rgba = scene(w, h, 4)
    whole["bmp_32.bmp"] = bmp(w, h, 32, bmp_rows(rgba, 8))
    f = io.BytesIO()
    Image.fromarray(rgba).save(f, "BMP")
    whole["bmp_pillow_rgba.bmp"] = f.getvalue()
    words = np.random.RandomState(2).randint(0, 65536, (h, w))
    rows16 = b"".join(r.astype("<u2").tobytes() + bytes(2 * w % 4) for r in words)
    whole["bmp_16.bmp"] = bmp(w, h, 16, rows16)
    whole["bmp_16_565.bmp"] = bmp(w, h, 16, rows16, compression=3, masks=(0xF800, 0x7E0, 0x1F))
    whole["bmp_16_555.bmp"] = bmp(w, h, 16, rows16, compression=3, masks=(0x7C00, 0x3E0, 0x1F), header=108)
    for n, m in enumerate((
        (0xFF0000, 0xFF00, 0xFF, 0), (0xFF000000, 0xFF0000, 0xFF00, 0), (0xFF000000, 0xFF00, 0xFF, 0),
        (0xFF000000, 0xFF0000, 0xFF00, 0xFF), (0xFF, 0xFF00, 0xFF0000, 0xFF000000), (0xFF0000, 0xFF00, 0xFF, 0xFF000000),
        (0xFF000000, 0xFF00, 0xFF, 0xFF0000), (0, 0, 0, 0),
    )):
        files = whole if any(m) else accepted
        files[f"bmp_32_fields{n}.bmp"] = bmp(w, h, 32, bmp_rows(rgba, 8), compression=3, masks=m, header=(56, 108, 124)[n % 3])
    whole["bmp_32_fields_v1.bmp"] = bmp(w, h, 32, bmp_rows(rgba, 8), compression=3, masks=(0xFF0000, 0xFF00, 0xFF))
    whole["bmp_32_fields_v2.bmp"] = bmp(w, h, 32, bmp_rows(rgba, 8), compression=3, masks=(0xFF0000, 0xFF00, 0xFF), header=52)
    pal = scene(256, 1, 4, 3)[0].tobytes()
    runs = b"\x05\x07\x03\x09\0\0" + b"\0\x05\1\2\3\4\5\0" + b"\x03\x08\0\0" + b"\0\2\2\1" + b"\x06\x11\0\0" + b"\x08\x33\0\0\x08\x44\0\1"
    beyond = runs.replace(b"\x08\x33", b"\x09\x33")  # a run across the end of its row
    whole["bmp_rle8.bmp"] = bmp(8, 6, 8, runs, pal, compression=1)
    accepted["bmp_rle8_beyond.bmp"] = bmp(8, 6, 8, beyond, pal, compression=1)
    accepted["bmp_rle8_top_down.bmp"] = bmp(8, 6, 8, runs, pal, compression=1, top_down=True)
    whole["bmp_rle8_gray.bmp"] = bmp(8, 6, 8, runs, ramp, compression=1)
    runs4 = b"\x05\x17\x03\x29\0\0" + b"\0\x05\x12\x34\x50\0" + runs[14:]
    whole["bmp_rle4.bmp"] = bmp(8, 6, 4, runs4, pal[:64], compression=2)
    accepted["bmp_rle4_beyond.bmp"] = bmp(8, 6, 4, runs4.replace(b"\x08\x33", b"\x09\x33"), pal[:64], compression=2)

    good = whole["bmp_24.bmp"]
    damaged["bmp_truncated.bmp"] = ("format", good[: len(good) // 2])
    damaged["bmp_truncated_header.bmp"] = ("format", good[:30])
    damaged["bmp_rle_short.bmp"] = ("format", bmp(8, 6, 8, runs[:20] + b"\0\1", pal, compression=1))
    damaged["bmp_zero.bmp"] = ("format", bmp(0, 5, 24, b""))
    damaged["bmp_huge.bmp"] = ("limit", bmp(100000, 100000, 24, bytes(100)))
    damaged["bmp_unsupported_jpeg.bmp"] = ("unsupported", bmp(w, h, 24, b"", compression=4))
    damaged["bmp_unsupported_2bit.bmp"] = ("unsupported", bmp(w, h, 2, bytes(12 * h), bytes(16)))
    damaged["bmp_unsupported_header.bmp"] = ("unsupported", bmp(w, h, 24, bmp_rows(rgb, 8), header=60))
    damaged["bmp_unsupported_fields.bmp"] = ("unsupported", bmp(w, h, 16, rows16, compression=3, masks=(0xF00, 0xF0, 0xF)))
    damaged["bmp_unsupported_gray4.bmp"] = ("unsupported", bmp(w, h, 4, bmp_rows(gray >> 4, 4), ramp[:64]))


# ---- TIFF ----


def packbits(data):
    """PackBits with a run where three bytes are equal."""
    out, i = bytearray(), 0
    while i < len(data):
        run = 1
        while i + run < len(data) and run < 128 and data[i + run] == data[i]:
            run += 1
        if run >= 3:
            out += bytes([257 - run, data[i]])
            i += run
            continue
        start = i
        while i < len(data) and i - start < 128 and not (i + 2 < len(data) and data[i] == data[i + 1] == data[i + 2]):
            i += 1
        out += bytes([i - start - 1]) + data[start:i]
    return bytes(out)


def tiff_lzw(data, old):
    """TIFF's LZW, which clears its table when it is full. The old form, of libtiff before TIFF 6.0, has the least
    significant bit first and makes codes longer one code later."""
    out, acc, have, width = bytearray(), 0, 0, 9
    table, word = {}, b""

    def put(code):
        nonlocal acc, have
        acc = acc | code << have if old else acc << width | code
        have += width
        while have >= 8:
            have -= 8
            out.append(acc & 255 if old else acc >> have & 255)
            acc = acc >> 8 if old else acc & (1 << have) - 1

    put(256)
    for v in data:
        v = bytes([v])
        if word + v in table or word == b"":
            word += v
            continue
        put(table.get(word, word[0]))
        table[word + v] = 258 + len(table)
        word = v
        free = 258 + len(table)
        if free == 4094:
            put(256)
            table, width = {}, 9
        elif free > (1 << width) - (0 if old else 1):
            width += 1
    if word:
        put(table.get(word, word[0]))
        # The decoder adds a string here, too.
        if 258 + len(table) + 1 > (1 << width) - (0 if old else 1):
            width = min(width + 1, 12)
    put(257)
    if have:
        out.append(acc & 255 if old else acc << 8 - have & 255)
    return bytes(out)


def drop_tag(data, tag):
    """Renames a tag of a little-endian TIFF to one that nobody reads."""
    at = data.index(struct.pack("<HH", tag, 4), 8)
    return data[:at] + struct.pack("<H", 65000) + data[at + 2 :]


def flip_bits(data):
    return bytes(int(f"{b:08b}"[::-1], 2) for b in data)


def tiff(samples, bits, photo, order="<", compression=1, extra=(), rows=None, tile=None, planar=1, predictor=1,
         fill=1, orientation=None, palette=None, more=b"", tags=(), spp=None, old_lzw=False, strip_tags=False):
    if samples.ndim == 2:
        samples = samples[:, :, None]
    h, w, n = samples.shape
    samples = samples.astype(np.int64)

    def encode(block):
        v = block.copy()
        if predictor == 2:
            v[:, 1:] = (block[:, 1:] - block[:, :-1]) % (1 << bits)
        if bits in (16, 32):
            b = v.astype(order + {16: "u2", 32: "u4"}[bits]).tobytes()
        else:
            b = b"".join(pack_rows(v, bits))
        if compression == 8:
            b = zlib.compress(b)
        elif compression == 32773:
            b = packbits(b)
        elif compression == 5:
            b = tiff_lzw(b, old_lzw)
        elif compression == 34925:  # the filters of libtiff
            b = lzma.compress(b, lzma.FORMAT_XZ, lzma.CHECK_CRC32, filters=[{"id": lzma.FILTER_DELTA, "dist": bits // 8}, {"id": lzma.FILTER_LZMA2}])
        return flip_bits(b) if fill == 2 else b

    layers = [samples[:, :, i : i + 1] for i in range(n)] if planar == 2 else [samples]
    blocks = []
    for layer in layers:
        if tile:
            tw, th = tile
            for y in range(0, h, th):
                for x in range(0, w, tw):
                    t = np.full((th, tw, layer.shape[2]), 77 % (1 << bits), np.int64)
                    part = layer[y : y + th, x : x + tw]
                    t[: part.shape[0], : part.shape[1]] = part
                    blocks.append(encode(t))
        else:
            step = rows or h
            for y in range(0, h, step):
                blocks.append(encode(layer[y : y + step]))

    entries = {256: (4, [w]), 257: (4, [h]), 258: (3, [bits] * n), 259: (3, [compression]), 262: (3, [photo]), 277: (3, [spp or n])}
    if fill != 1:
        entries[266] = (3, [fill])
    if orientation is not None:
        entries[274] = (3, [orientation])
    if planar != 1:
        entries[284] = (3, [planar])
    if predictor != 1:
        entries[317] = (3, [predictor])
    if palette is not None:
        entries[320] = (3, palette)
    if extra:
        entries[338] = (3, list(extra))
    body = b""
    offsets = []
    for b in blocks:
        offsets.append(8 + len(body))
        body += b + b"\0" * (len(b) % 2)
    if tile:
        entries[322], entries[323] = (3, [tile[0]]), (3, [tile[1]])
        first = 273 if strip_tags else 324
        entries[first], entries[279 if strip_tags else 325] = (4, offsets), (4, [len(b) for b in blocks])
    else:
        entries[273], entries[279] = (4, offsets), (4, [len(b) for b in blocks])
        entries[278] = (4, [rows or h])
    for tag, entry in tags:
        entries[tag] = entry
    ifd = struct.pack(order + "H", len(entries))
    start = 8 + len(body)
    out_of_line = b""
    room = start + 2 + 12 * len(entries) + 4
    for tag in sorted(entries):
        typ, values = entries[tag]
        v = bytes(values) if typ in (1, 7) else b"".join(struct.pack(order + {3: "H", 4: "I", 5: "II"}[typ], *(x if typ == 5 else (x,))) for x in values)
        ifd += struct.pack(order + "HHI", tag, typ, len(values))
        if len(v) <= 4:
            ifd += v + bytes(4 - len(v))
        else:
            ifd += struct.pack(order + "I", room + len(out_of_line))
            out_of_line += v + b"\0" * (len(v) % 2)
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", start)
    nxt = room + len(out_of_line) if more else 0
    return head + body + ifd + struct.pack(order + "I", nxt) + out_of_line + more


def pillow_tiff(pixels, compression, mode=None, **info):
    f = io.BytesIO()
    im = Image.fromarray(pixels)
    if mode:
        im = im.convert(mode)
    im.save(f, "TIFF", compression=compression, tiffinfo={int(k[1:]): v for k, v in info.items()})
    return f.getvalue()


def tiff_ycc(ycc, sub, rows=None, tile=None, tags=(), **more):
    """Packed YCbCr (TIFF 6.0, section 21): the luma samples of sub pixels, row by row, then their Cb and Cr. rows is a multiple of sub[1]."""
    sx, sy = sub
    h, w = ycc.shape[:2]
    full = np.pad(ycc, ((0, -h % sy), (0, -w % sx), (0, 0)), "edge")
    if tile:
        full = np.pad(full, ((0, -full.shape[0] % tile[1]), (0, -full.shape[1] % tile[0]), (0, 0)), "edge")
    gh, gw = full.shape[0] // sy, full.shape[1] // sx
    luma = full[:, :, 0].reshape(gh, sy, gw, sx).transpose(0, 2, 1, 3).reshape(gh, gw, sy * sx)
    packed = np.concatenate([luma, full[::sy, ::sx, 1:]], 2).reshape(gh, -1)
    group = sx * sy + 2
    own = [(256, (4, [w])), (257, (4, [h])), (258, (3, [8, 8, 8])), (277, (3, [3])), (530, (3, list(sub)))]
    if tile:
        own += [(322, (3, [tile[0]])), (323, (3, [tile[1]]))]
        return tiff(packed, 8, 6, tile=(tile[0] // sx * group, tile[1] // sy), tags=own + list(tags), **more)
    step = rows or full.shape[0]
    return tiff(packed, 8, 6, rows=step // sy, tags=own + [(278, (4, [rows or h]))] + list(tags), **more)


def make_tiff_ycc():
    """YCbCr without JPEG, which libtiff converts to RGB, and uncompressed, which Pillow converts; LZMA; planes of 16 bits and of associated alpha."""
    w, h = 37, 23
    ycc = np.random.RandomState(6).randint(0, 256, (h, w, 3))
    reference = (532, (5, [(16, 1), (235, 1), (128, 1), (240, 1), (128, 1), (240, 1)]))
    luma = (529, (5, [(2126, 10000), (7152, 10000), (722, 10000)]))
    for sub in ((1, 1), (2, 1), (2, 2), (1, 2), (4, 1), (4, 2), (4, 4)):
        n = "%d%d" % sub
        accepted[f"tiff_ycc{n}.tif"] = tiff_ycc(ycc, sub, compression=5)
        accepted[f"tiff_ycc{n}_strips.tif"] = tiff_ycc(ycc, sub, rows=8, compression=8, tags=[reference])
        accepted[f"tiff_ycc{n}_tiles.tif"] = tiff_ycc(ycc, sub, tile=(16, 16), compression=8, order=">", tags=[luma])
    accepted["tiff_ycc_wide.tif"] = tiff_ycc(ycc[:, :36], (4, 4), compression=32773)
    accepted["tiff_ycc_odd.tif"] = tiff_ycc(ycc, (2, 2), compression=5, tags=[(532, (5, [(40, 1), (40, 1), (255, 1), (0, 1), (1, 0), (300, 7)]))])
    accepted["tiff_ycc_predictor.tif"] = tiff(ycc, 8, 6, compression=8, predictor=2, tags=[(530, (3, [1, 1]))])
    accepted["tiff_ycc_planes.tif"] = tiff(ycc, 8, 6, compression=8, planar=2, rows=9, tags=[(530, (3, [1, 1]))])
    accepted["tiff_lzma.tif"] = tiff(ycc, 8, 2, compression=34925, rows=9)
    accepted["tiff_lzma16.tif"] = tiff(ycc[:, :, 0] * 257, 16, 1, ">", 34925, predictor=2, tile=(16, 16))
    accepted["tiff_ycc_plain.tif"] = tiff(ycc, 8, 6, rows=9)
    accepted["tiff_ycc_plain_tiles.tif"] = tiff(ycc, 8, 6, tile=(16, 16), tags=[(530, (3, [1, 1]))])
    wide = np.random.RandomState(7).randint(0, 65536, (h, w, 4))
    for order in "<>":
        e = "le" if order == "<" else "be"
        accepted[f"tiff_rgb16_planes_{e}.tif"] = tiff(wide[:, :, :3], 16, 2, order, planar=2, rows=9)
        accepted[f"tiff_cmyk16_planes_{e}.tif"] = tiff(wide, 16, 5, order, planar=2)
        accepted[f"tiff_cmyk16_planes_deflate_{e}.tif"] = tiff(wide, 16, 5, order, 8, planar=2)
        accepted[f"tiff_assoc16_planes_{e}.tif"] = tiff(wide, 16, 2, order, 8, extra=(1,), planar=2, tile=(16, 16))
    accepted["tiff_rgba16_planes.tif"] = tiff(wide, 16, 2, extra=(2,), planar=2)
    accepted["tiff_assoc8_planes.tif"] = tiff(wide >> 8, 8, 2, extra=(1,), planar=2, compression=8, rows=9)


DAMAGED_FAX = (("group3", {}, (1, 10, 11)), ("group3", {"t292": 1}, (1, 10, 11)), ("group4", {}, (1, 10, 11)), ("tiff_ccitt", {}, (1, 10, 11)))


def make_tiff():
    w, h = 37, 23
    for order in "<>":
        e = "le" if order == "<" else "be"
        for bits in (1, 2, 4, 8):
            g = scene(w, h, 1, bits)[:, :, 0].astype(int) * ((1 << bits) - 1) // 255
            whole[f"tiff_gray{bits}_{e}.tif"] = tiff(g, bits, 1, order)
            whole[f"tiff_white{bits}_{e}.tif"] = tiff(g, bits, 0, order, rows=5)
            pal = [int(v) for v in np.random.RandomState(bits).randint(0, 65536, 3 << bits)]
            whole[f"tiff_p{bits}_{e}.tif"] = tiff(g, bits, 3, order, palette=pal, compression=(1, 8)[bits == 4])
            whole[f"tiff_fill{bits}_{e}.tif"] = tiff(g, bits, bits % 3 % 2, order, fill=2, compression=(1, 8, 32773)[bits % 3])
        g16 = scene(w, h, 1)[:, :, 0].astype(int) * 3
        for c in (1, 8, 32773):
            whole[f"tiff_gray16_c{c}_{e}.tif"] = tiff(g16, 16, 1, order, c, rows=7)
        whole[f"tiff_gray16_predictor_{e}.tif"] = tiff(g16, 16, 1, order, 8, predictor=2)
        rgb, rgba = scene(w, h, 3), scene(w, h, 4)
        rgba[:, :, 3] = np.mgrid[0:h, 0:w][1] * 8 % 256
        wide = rgba.astype(int) * 257 - np.random.RandomState(4).randint(0, 200, rgba.shape)
        wide = np.clip(wide, 0, 65535)
        for c in (1, 8, 32773):
            whole[f"tiff_rgb8_c{c}_{e}.tif"] = tiff(rgb, 8, 2, order, c, rows=6)
            whole[f"tiff_rgb8_tiled_c{c}_{e}.tif"] = tiff(rgb, 8, 2, order, c, tile=(16, 16))
            whole[f"tiff_rgb8_planar_c{c}_{e}.tif"] = tiff(rgb, 8, 2, order, c, rows=9, planar=2)
            whole[f"tiff_rgb16_c{c}_{e}.tif"] = tiff(wide[:, :, :3], 16, 2, order, c)
        whole[f"tiff_rgb8_predictor_{e}.tif"] = tiff(rgb, 8, 2, order, 8, rows=6, predictor=2)
        whole[f"tiff_rgb8_tiled_predictor_{e}.tif"] = tiff(rgb, 8, 2, order, 8, tile=(32, 16), predictor=2)
        whole[f"tiff_rgb8_planar_predictor_{e}.tif"] = tiff(rgb, 8, 2, order, 8, planar=2, predictor=2)
        whole[f"tiff_rgb16_predictor_{e}.tif"] = tiff(wide[:, :, :3], 16, 2, order, 8, predictor=2)
        for name, extra in (("x", 0), ("assoc", 1), ("alpha", 2)):
            whole[f"tiff_rgb8_{name}_{e}.tif"] = tiff(rgba, 8, 2, order, extra=(extra,))
            whole[f"tiff_rgb16_{name}_{e}.tif"] = tiff(wide, 16, 2, order, 8, extra=(extra,))
        whole[f"tiff_cmyk_{e}.tif"] = tiff(rgba, 8, 5, order, 8)
    accepted["tiff_rgba_no_extra.tif"] = tiff(rgba, 8, 2)
    accepted["tiff_rgba_corel.tif"] = tiff(rgba, 8, 2, extra=(999,))
    whole["tiff_rgba_planar.tif"] = tiff(rgba, 8, 2, extra=(2,), planar=2)
    whole["tiff_rgba_planar_deflate.tif"] = tiff(rgba, 8, 2, compression=8, extra=(2,), planar=2)
    whole["tiff_rgbx_planar.tif"] = tiff(rgba, 8, 2, compression=8, extra=(0,), planar=2)
    whole["tiff_cmyk_planar.tif"] = tiff(rgba, 8, 5, planar=2)
    whole["tiff_cmyk16.tif"] = tiff(wide, 16, 5)
    five = np.concatenate([rgba, rgba[:, :, :1]], 2)
    whole["tiff_rgbax.tif"] = tiff(five, 8, 2, extra=(2, 0))
    whole["tiff_rgbxx.tif"] = tiff(five, 8, 2, extra=(0, 0), compression=8)
    whole["tiff_rgbax_assoc.tif"] = tiff(five, 8, 2, extra=(1, 0))
    la = rgba[:, :, 2:]
    whole["tiff_la.tif"] = tiff(la, 8, 1, extra=(2,))
    whole["tiff_lx.tif"] = tiff(la, 8, 1, extra=(0,), compression=8)
    whole["tiff_px.tif"] = tiff(la, 8, 3, extra=(0,), palette=list(range(0, 768 * 80, 80)))
    accepted["tiff_one_bits_value.tif"] = tiff(rgb, 8, 2, tags=[(258, (3, [8]))])
    whole["tiff_white16.tif"] = tiff(g16, 16, 0)
    whole["tiff_signed8.tif"] = tiff(rgb[:, :, 0], 8, 1, tags=[(339, (3, [2]))])
    whole["tiff_p_fill.tif"] = tiff(rgb[:, :, 0], 8, 3, fill=2, palette=list(range(0, 768 * 80, 80)))
    accepted["tiff_short_palette.tif"] = tiff(rgb[:, :, 0], 8, 3, palette=list(range(0, 60000, 1000)))
    whole["tiff_rgb_fill.tif"] = tiff(rgb, 8, 2, fill=2)
    whole["tiff_gray_tiled.tif"] = tiff(rgb[:, :, 0], 8, 1, tile=(16, 32))
    whole["tiff_gray1_tiled.tif"] = tiff(rgb[:, :, 0] >> 7, 1, 1, tile=(16, 16), compression=32773)
    whole["tiff_large_tile.tif"] = tiff(rgb, 8, 2, tile=(64, 64), compression=8)
    for o in range(0, 10):
        whole[f"tiff_orientation{o}.tif"] = tiff(scene(19, 11, 3), 8, 2, "<>"[o % 2], (1, 8)[o // 2 % 2], orientation=o)
    whole["tiff_orientation6_gray.tif"] = tiff(scene(19, 11, 1), 8, 1, orientation=6)
    whole["tiff_orientation7_p.tif"] = tiff(scene(19, 11, 1), 8, 3, orientation=7, palette=list(range(0, 768 * 80, 80)))
    whole["tiff_xmp.tif"] = tiff(scene(19, 11, 3), 8, 2, tags=[(700, (1, list(XMP % b'tiff:Orientation="6"')))])
    noise = np.random.RandomState(5).randint(0, 256, (80, 90, 3)).astype(np.uint8)
    flat = np.tile(scene(70, 1, 1), (120, 1, 1))  # strings of hundreds of bytes
    accepted["tiff_old_lzw.tif"] = tiff(rgb, 8, 2, compression=5, rows=5, old_lzw=True)
    accepted["tiff_old_lzw_gray.tif"] = tiff(rgb[:, :, 0], 8, 1, compression=5, old_lzw=True)
    accepted["tiff_old_lzw_flat.tif"] = tiff(flat, 8, 1, compression=5, old_lzw=True)
    accepted["tiff_old_lzw_noise.tif"] = tiff(noise, 8, 2, compression=5, old_lzw=True)
    accepted["tiff_old_lzw_predictor.tif"] = tiff(rgb, 8, 2, compression=5, rows=5, predictor=2, old_lzw=True)
    accepted["tiff_old_lzw_planar.tif"] = tiff(rgb, 8, 2, ">", 5, rows=9, predictor=2, planar=2, old_lzw=True)
    accepted["tiff_old_lzw_rgb16.tif"] = tiff(wide[:, :, :3], 16, 2, ">", 5, predictor=2, old_lzw=True)
    accepted["tiff_old_lzw_tiled.tif"] = tiff(rgb, 8, 2, compression=5, tile=(16, 16), predictor=2, old_lzw=True)
    accepted["tiff_old_lzw_fill.tif"] = tiff(rgb, 8, 2, compression=5, fill=2, old_lzw=True)
    damaged["tiff_old_lzw_truncated.tif"] = ("format", tiff(rgb, 8, 2, compression=5, old_lzw=True, tags=[(279, (4, [300]))]))
    # A file has one order of bits, that of its first strip.
    two = tiff(rgb[:20], 8, 2, compression=5, rows=10)
    at = 8 + len(tiff_lzw(rgb[:10].tobytes(), False)) + 1 & ~1
    old = tiff_lzw(rgb[10:20].tobytes(), True)
    damaged["tiff_old_lzw_mixed.tif"] = ("format", two[:at] + old + two[at + len(old) :])
    damaged["tiff_lzw_bad_code.tif"] = ("format", tiff(rgb, 8, 2, compression=5).replace(tiff_lzw(rgb.tobytes(), False)[40:60], bytes(range(235, 255))))
    for c in (5, 8, 32773):
        accepted[f"tiff_tiles_strip_tags_c{c}.tif"] = tiff(rgb, 8, 2, compression=c, tile=(16, 16), strip_tags=True)
    # Uncompressed ones are strips to Pillow.
    accepted["tiff_tiles_strip_tags_c1.tif"] = tiff(rgb, 8, 2, tile=(64, 16), strip_tags=True, tags=[(278, (4, [23]))])
    one = tiff(rgb, 8, 2, compression=8)
    accepted["tiff_no_counts.tif"] = drop_tag(one, 279)
    accepted["tiff_no_counts_tile.tif"] = drop_tag(tiff(rgb, 8, 2, compression=8, tile=(48, 32)), 325)
    accepted["tiff_no_counts_planar.tif"] = drop_tag(tiff(rgb, 8, 2, compression=8, planar=2), 279) + bytes(6000)
    accepted["tiff_count_0.tif"] = tiff(rgb, 8, 2, compression=8, tags=[(279, (4, [0]))])
    damaged["tiff_no_counts_strips.tif"] = ("format", drop_tag(tiff(rgb, 8, 2, compression=8, rows=9), 279))
    damaged["tiff_count_0_strips.tif"] = ("format", tiff(rgb, 8, 2, compression=8, rows=12, tags=[(279, (4, [0, 0]))]))
    damaged["tiff_count_large.tif"] = ("format", tiff(rgb, 8, 2, compression=8, tags=[(279, (4, [len(one)]))]))
    accepted["tiff_offsets_twice.tif"] = tiff(rgb, 8, 2, rows=12, tags=[(273, (4, [8, 900, 20, 500, 7]))])
    accepted["tiff_planar_0.tif"] = tiff(rgb, 8, 2, tags=[(284, (3, [0]))])
    for c in ("tiff_lzw", "packbits", "tiff_adobe_deflate"):
        whole[f"tiff_pillow_{c}.tif"] = pillow_tiff(rgb, c)
        whole[f"tiff_pillow_{c}_1bit.tif"] = pillow_tiff(rgb[:, :, 0], c, "1")
    whole["tiff_lzw_predictor.tif"] = pillow_tiff(scene(90, 70, 3), "tiff_lzw", t317=2)
    whole["tiff_lzw_noise.tif"] = pillow_tiff(np.random.RandomState(3).randint(0, 256, (80, 90, 3)).astype(np.uint8), "tiff_lzw")
    shapes = (scene(61, 47, 1)[:, :, 0] // 86 * 86).astype(np.uint8)
    for c in ("group3", "group4"):
        whole[f"tiff_{c}.tif"] = pillow_tiff(shapes, c, "1")
        whole[f"tiff_{c}_black.tif"] = pillow_tiff(shapes, c, "1", t262=1)
        whole[f"tiff_{c}_noise.tif"] = pillow_tiff(scene(61, 47, 1)[:, :, 0], c, "1")
    for t4 in (1, 4, 5):  # rows that refer to the one before, and ends of lines that end bytes
        whole[f"tiff_group3_t4_{t4}.tif"] = pillow_tiff(shapes, "group3", "1", t292=t4, t278=20)
        whole[f"tiff_group3_t4_{t4}_noise.tif"] = pillow_tiff(scene(61, 47, 1)[:, :, 0], "group3", "1", t292=t4)
    # libtiff ends a damaged row where the damage begins. These seeds leave no rows undefined, as G4 data does that ends early.
    for c, options, seeds in DAMAGED_FAX:
        good = pillow_tiff(shapes, c, "1", **options)
        for seed in seeds:
            rng = np.random.RandomState(seed)
            b = bytearray(good)
            for _ in range(2):
                b[rng.randint(8, len(b) * 2 // 3)] = rng.randint(256)
            accepted[f"tiff_damaged_{c}{len(options)}_{seed}.tif"] = bytes(b)
    short = pillow_tiff(shapes[:40], "group4", "1")
    for tag in (257, 278):
        at = short.index(struct.pack("<H", tag), 8 + 40)
        short = short[: at + 8] + struct.pack("<H", 47) + short[at + 10 :]
    damaged["tiff_unsupported_short_group4.tif"] = ("unsupported", short)
    whole["tiff_group3_long.tif"] = pillow_tiff(np.repeat(scene(9, 6, 1)[:, :, 0] // 128 * 255, 500, 1), "group3", "1", t292=1)
    whole["tiff_rle.tif"] = pillow_tiff(shapes, "tiff_ccitt", "1")
    whole["tiff_rle_noise.tif"] = pillow_tiff(scene(61, 47, 1)[:, :, 0], "tiff_ccitt", "1")
    # 0 to 2 bits are missing where libtiff wants 13 for the last run but one: it then takes the wrong bits for the last row
    for n in range(3):
        rows = np.array([[1] * 8, [1] * 7 + [0], [1] * (2 + n) + [0] * (6 - n)], np.uint8) * 255
        whole[f"tiff_rle_end{n}.tif"] = pillow_tiff(rows, "tiff_ccitt", "1", t262=0)
    for bits, kind, order in ((32, 1, "<"), (32, 2, "<"), (32, 2, ">"), (16, 2, "<"), (16, 2, ">")):
        v = np.arange(-40, 600).reshape(32, 20) % (1 << bits)
        v[30] = (1 << bits - 1) - 1
        e = "le" if order == "<" else "be"
        for c in (1, 8):
            whole[f"tiff_int{bits}_{kind}_c{c}_{e}.tif"] = tiff(v, bits, 1, order, c, rows=9, predictor=(1, 2)[c // 8], tags=[(339, (3, [kind]))])
    whole["tiff_pa.tif"] = tiff(la, 8, 3, extra=(2,), palette=list(range(0, 768 * 80, 80)))
    whole["tiff_pa_deflate.tif"] = tiff(la, 8, 3, ">", 8, extra=(2,), palette=list(range(0, 768 * 80, 80)))
    for order in "<>":
        whole[f"tiff_rgb16_planar_{'lb'[order == '>']}e.tif"] = tiff(wide[:, :, :3], 16, 2, order, 8, rows=9, planar=2)
    whole["tiff_gray16_fill.tif"] = tiff(g16, 16, 1, fill=2)
    whole["tiff_gray16_fill_deflate.tif"] = tiff(g16, 16, 1, fill=2, compression=8)
    whole["tiff_plane8.tif"] = tiff(rgb[:, :, 0], 8, 0, planar=2)  # white is zero to nobody
    whole["tiff_plane8_deflate.tif"] = tiff(rgb[:, :, 0], 8, 0, planar=2, compression=8)
    whole["tiff_plane1.tif"] = tiff(rgb[:, :, 0] >> 7, 1, 0, planar=2, fill=2)
    f = io.BytesIO()
    Image.fromarray(rgb).save(f, "TIFF", big_tiff=True)
    whole["tiff_big.tif"] = f.getvalue()
    f = io.BytesIO()
    Image.fromarray(rgb).save(f, "TIFF", big_tiff=True, compression="tiff_lzw", tiffinfo={317: 2, 278: 5})
    whole["tiff_big_lzw.tif"] = f.getvalue()
    damaged["tiff_big_truncated.tif"] = ("format", whole["tiff_big.tif"][:12])
    damaged["tiff_unsupported_big_be.tif"] = ("unsupported", b"MM\0+\0\x08\0\0" + bytes(7) + b"\x10" + bytes(16))
    first = tiff(rgb, 8, 2)
    page = ((256, 4, w), (257, 4, h), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (277, 3, 1), (278, 4, h), (279, 4, w * h))
    page = struct.pack("<H", len(page)) + b"".join(struct.pack("<HHII", tag, typ, 1, v) for tag, typ, v in page) + bytes(4)
    whole["tiff_two_pages.tif"] = tiff(rgb, 8, 2, more=page)

    damaged["tiff_truncated.tif"] = ("format", first[: len(first) // 2])
    damaged["tiff_truncated_strip.tif"] = ("format", tiff(rgb, 8, 2, tags=[(273, (4, [len(first) - 100]))]))
    damaged["tiff_truncated_deflate.tif"] = ("format", tiff(rgb, 8, 2, compression=8, tags=[(279, (4, [200]))]))
    damaged["tiff_zero.tif"] = ("format", tiff(rgb, 8, 2, tags=[(256, (4, [0]))]))
    damaged["tiff_no_strips.tif"] = ("format", tiff(rgb, 8, 2, tags=[(273, (3, [8]))]).replace(struct.pack("<HHI", 273, 3, 1), struct.pack("<HHI", 274, 3, 1)))
    damaged["tiff_huge.tif"] = ("limit", tiff(rgb, 8, 2, compression=8, tags=[(256, (4, [100000])), (257, (4, [100000])), (278, (4, [100000]))]))
    damaged["tiff_huge_tile.tif"] = ("limit", tiff(rgb, 8, 2, compression=8, tile=(16, 16), tags=[(322, (4, [1 << 19])), (323, (4, [1 << 19]))]))
    # YCbCr with 4:2:0 in strips of 16 rows, gray, and CMYK.
    whole["tiff_jpeg.tif"] = pillow_tiff(rgb, "jpeg")
    whole["tiff_jpeg_strips.tif"] = pillow_tiff(scene(61, 47, 3), "jpeg", t278=16)
    whole["tiff_jpeg_gray.tif"] = pillow_tiff(rgb[:, :, 0], "jpeg", t278=8)
    whole["tiff_jpeg_cmyk.tif"] = pillow_tiff(rgb, "jpeg", "CMYK")
    whole["tiff_zstd.tif"] = pillow_tiff(rgb, "zstd")
    whole["tiff_zstd_predictor.tif"] = pillow_tiff(rgb, "zstd", t317=2, t278=5)
    gray = np.linspace(-40, 600, 640, dtype=np.float32).reshape(32, 20)
    gray[30, :6] = (np.nan, np.inf, -np.inf, 1e30, -1e30, 0.999)
    deep = np.arange(0, 4096, 7)[: 19 * 30].reshape(30, 19)
    for c in (1, 8):
        whole[f"tiff_gray12_c{c}.tif"] = tiff(deep, 12, 1, compression=c, rows=7)
    whole["tiff_float.tif"] = pillow_tiff(gray, None)
    whole["tiff_float_predictor.tif"] = pillow_tiff(gray, "tiff_adobe_deflate", t317=3, t278=7)
    for c in (1, 8):
        whole[f"tiff_float_c{c}_be.tif"] = tiff(gray.view(np.uint32), 32, c // 8, ">", c, rows=9, tags=[(339, (3, [3]))])
    damaged["tiff_unsupported_lab.tif"] = ("unsupported", tiff(rgb, 8, 8))


# ---- WebP ----


def riff(*chunks):
    body = b"WEBP" + b"".join(n + struct.pack("<I", len(b)) + b + b"\0" * (len(b) % 2) for n, b in chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def unriff(data):
    out, p = [], 12
    while p + 8 <= len(data):
        n = struct.unpack("<I", data[p + 4 : p + 8])[0]
        out.append((data[p : p + 4], data[p + 8 : p + 8 + n]))
        p += 8 + n + n % 2
    return out


def webp(pixels, **options):
    f = io.BytesIO()
    Image.fromarray(pixels).save(f, "WEBP", **options)
    return f.getvalue()


def vp8x(w, h, flags):
    return b"VP8X", bytes([flags, 0, 0, 0]) + struct.pack("<I", w - 1)[:3] + struct.pack("<I", h - 1)[:3]


def make_webp():
    for w, h in ((1, 1), (2, 2), (3, 1), (1, 4), (2, 5), (17, 16), (16, 17), (37, 23), (64, 48)):
        whole[f"webp_lossy_{w}x{h}.webp"] = webp(scene(w, h, 3), quality=60)
    for q in (0, 30, 100):
        whole[f"webp_lossy_q{q}.webp"] = webp(scene(53, 41, 3), quality=q, method=q // 30)
    for n, (w, h) in enumerate(((37, 23), (16, 16), (1, 1), (50, 33))):
        rgba = scene(w, h, 4)
        rgba[:, :, 3] = np.mgrid[0:h, 0:w][1] * 7 % 256
        rgba[: h // 4, :, 3] = 0
        whole[f"webp_lossless_{w}x{h}.webp"] = webp(scene(w, h, 3), lossless=True)
        whole[f"webp_lossless_alpha_{w}x{h}.webp"] = webp(rgba, lossless=True, exact=n % 2 == 0)
        whole[f"webp_alpha_{w}x{h}.webp"] = webp(rgba, quality=70, alpha_quality=(100, 40)[n % 2], exact=n > 1)
    flat = np.repeat(np.repeat(scene(6, 5, 3), 9, 0), 9, 1)
    whole["webp_lossless_palette.webp"] = webp(flat, lossless=True)
    base = scene(21, 13, 3)
    lossy = unriff(webp(base, quality=50))[0]
    exact = unriff(webp(base, lossless=True))[0]
    for o in (1, 3, 5, 6, 8):
        whole[f"webp_exif{o}.webp"] = riff(vp8x(21, 13, 8), (lossy, exact)[o % 2], (b"EXIF", exif(o, "<>"[o % 2], (b"", b"Exif\0\0")[o % 2])))
    whole["webp_xmp.webp"] = riff(vp8x(21, 13, 4), lossy, (b"XMP ", XMP % b'tiff:Orientation="7"'))
    whole["webp_alpha_flag_only.webp"] = riff(vp8x(21, 13, 16), lossy)
    whole["webp_lossless_alpha_flag_only.webp"] = riff(vp8x(21, 13, 16), exact)
    raw = scene(21, 13, 1, 8).reshape(-1).astype(np.uint8)
    for f in range(4):
        whole[f"webp_alph_raw{f}.webp"] = riff(vp8x(21, 13, 16), (b"ALPH", bytes([f << 2]) + raw.tobytes()), lossy)
    whole["webp_trailing.webp"] = riff(lossy) + b"trailing bytes"
    whole["webp_unknown_chunk.webp"] = riff(vp8x(21, 13, 32), (b"ICCP", b"no profile"), (b"????", b"odd"), lossy)
    good = webp(base, quality=50)
    damaged["webp_truncated.webp"] = ("format", good[: len(good) // 2])
    damaged["webp_truncated_header.webp"] = ("format", good[:24])
    damaged["webp_zero.webp"] = ("format", riff((b"VP8 ", lossy[1][:6] + bytes(4) + lossy[1][10:])))
    damaged["webp_huge.webp"] = ("limit", riff((b"VP8L", b"\x2f\xff\xff\xff\x0f" + exact[1][5:])))
    damaged["webp_canvas.webp"] = ("format", riff(vp8x(4000, 4000, 0), lossy))
    damaged["webp_no_image.webp"] = ("format", riff(vp8x(21, 13, 0), (b"EXIF", exif(1))))
    f = io.BytesIO()
    Image.fromarray(base).save(f, "WEBP", save_all=True, append_images=[Image.fromarray(base[::-1].copy())], duration=100)
    whole["webp_animation.webp"] = f.getvalue()

    def anmf(x, y, *chunks):
        head = b"".join(struct.pack("<I", v)[:3] for v in (x // 2, y // 2, 20, 12, 100)) + b"\0"
        return b"ANMF", head + riff(*chunks)[12:]

    anim = b"ANIM", b"\x40\x80\xc0\xff\0\0"
    alph = b"ALPH", b"\0" + raw.tobytes()
    for n, image in enumerate(((lossy,), (exact,), (alph, lossy))):
        for flags in (2, 18):
            whole[f"webp_animation{n}_{flags}.webp"] = riff(vp8x(30, 19, flags | 8), anim, anmf(6, 4, *image), anmf(0, 0, lossy), (b"EXIF", exif(6)))
    damaged["webp_frame_outside.webp"] = ("format", riff(vp8x(21, 13, 2), anim, anmf(2, 0, lossy)))
    damaged["webp_no_frame.webp"] = ("format", riff(vp8x(21, 13, 2), anim))


# ---- goldens ----


# ---- PNM, QOI, TGA, ICO, DIB ----


def make_pnm():
    w, h = 19, 11
    gray = scene(w, h, 1)[:, :, 0]
    rgb = scene(w, h, 3)
    bits = (gray > 127).astype(np.uint8)
    packed = b"".join(np.packbits(row).tobytes() for row in bits)
    text = lambda a: ("\n".join(" ".join(map(str, row)) for row in a.reshape(h, -1).tolist()) + "\n").encode()
    wide = gray.astype(np.uint16) * 257 % 4096
    size = b"%d %d" % (w, h)
    whole["pnm_bits.pbm"] = b"P4\n" + size + b"\n" + packed
    whole["pnm_bits_plain.pbm"] = b"P1\n# a comment\n" + size + b"\n" + text(bits).replace(b" ", b"")
    whole["pnm_gray.pgm"] = b"P5\n" + size + b"\n255\n" + gray.tobytes()
    whole["pnm_gray_15.pgm"] = b"P5 " + size + b" 15 " + (gray >> 4).tobytes()
    whole["pnm_gray_plain.pgm"] = b"P2\n" + size + b"\n255\n" + text(gray)
    whole["pnm_gray_plain_100.pgm"] = b"P2\t" + size + b"\r100#max\n\n" + text(gray % 101)
    whole["pnm_gray_4095.pgm"] = b"P5\n" + size + b"\n4095\n" + wide.astype(">u2").tobytes()
    whole["pnm_gray_65535.pgm"] = b"P5\n" + size + b"\n65535\n" + (gray.astype(int) * 300 % 65536).astype(">u2").tobytes()
    whole["pnm_gray_plain_1000.pgm"] = b"P2\n" + size + b"\n1000\n" + text(gray.astype(int) * 3)
    whole["pnm_rgb.ppm"] = b"P6\n" + size + b"\n255\n" + rgb.tobytes()
    whole["pnm_rgb_31.ppm"] = b"P6\n# one\n" + size + b" # two\n31\n" + (rgb >> 3).tobytes()
    whole["pnm_rgb_1000.ppm"] = b"P6\n" + size + b"\n1000\n" + (rgb.astype(np.uint16) * 3).astype(">u2").tobytes()
    whole["pnm_rgb_65535.ppm"] = b"P6\n" + size + b"\n65535\n" + (rgb.astype(np.uint32) * 255 + 7).astype(">u2").tobytes()
    whole["pnm_rgb_plain.ppm"] = b"P3\n" + size + b"\n200\n" + text(rgb % 201)
    whole["pnm_rgb_plain_65535.ppm"] = b"P3\n" + size + b"\n65535\n" + text(rgb.astype(int) * 257)
    whole["pnm_cmyk.ppm"] = b"P0CMYK\n" + size + b"\n255\n" + scene(w, h, 4).tobytes()
    floats = np.linspace(-20, 300, w * h, dtype=np.float32).reshape(h, w)
    floats[0, :4] = [np.nan, np.inf, -np.inf, 254.999]
    whole["pnm_float.pfm"] = b"Pf\n" + size + b"\n-1.0\n" + floats.astype("<f4").tobytes()
    whole["pnm_float_big.pfm"] = b"Pf\n" + size + b"\n2.5e1\n" + floats.astype(">f4").tobytes()
    whole["pnm_one.pgm"] = b"P5 1 1 255\n\x80"
    # Odd, but read by Pillow.
    accepted["pnm_over.pgm"] = b"P5\n" + size + b"\n100\n" + gray.tobytes()
    accepted["pnm_comment_in_number.pgm"] = b"P5\n1#c\n9 11\n25#c\r5\n" + gray.tobytes()
    accepted["pnm_signs.pgm"] = b"P5\n+1_9 1_1\n+2_5_5\n" + gray.tobytes()
    accepted["pnm_plain_comment_joins.pgm"] = b"P2\n2 2\n255\n12#c\n3 4 5 6\n"
    accepted["pnm_plain_extra.pgm"] = b"P2\n2 2\n255\n1 2 3 4 word word"
    accepted["pnm_plain_no_end.ppm"] = b"P3\n1 1\n255\n1 2 3"
    accepted["pnm_after.ppm"] = whole["pnm_rgb.ppm"] + b"more"
    damaged["pnm_truncated.ppm"] = ("format", whole["pnm_rgb.ppm"][:-1])
    damaged["pnm_truncated.pbm"] = ("format", whole["pnm_bits.pbm"][:-2])
    damaged["pnm_truncated.pfm"] = ("format", whole["pnm_float.pfm"][:-2])
    damaged["pnm_truncated_wide.pgm"] = ("format", whole["pnm_gray_4095.pgm"][:-1])
    damaged["pnm_header.pgm"] = ("format", b"P5\n19 ")
    damaged["pnm_zero.pgm"] = ("format", b"P5 0 1 255 \0")
    damaged["pnm_negative.pgm"] = ("format", b"P5 -1 1 255 \0")
    damaged["pnm_max_zero.pgm"] = ("format", b"P5 1 1 0 \0")
    damaged["pnm_max_high.pgm"] = ("format", b"P5 1 1 65536 \0\0")
    damaged["pnm_huge.pgm"] = ("limit", b"P5 100000 100000 255 \0")
    damaged["pnm_no_number.pgm"] = ("format", b"P5 1 x 255 \0")
    damaged["pnm_long_number.pgm"] = ("format", b"P5 00000000001 1 255 \0")
    damaged["pnm_plain_short.pgm"] = ("format", b"P2\n2 2\n255\n1 2 3")
    damaged["pnm_plain_over.pgm"] = ("format", b"P2\n2 1\n99\n1 100\n")
    damaged["pnm_plain_negative.pgm"] = ("format", b"P2\n2 1\n99\n1 -1\n")
    damaged["pnm_plain_word.pgm"] = ("format", b"P2\n2 1\n99\n1 x\n")
    damaged["pnm_plain_long.pgm"] = ("format", b"P2\n2 1\n99\n1 00000000002\n")
    damaged["pnm_plain_long_extra.pgm"] = ("format", b"P2\n2 1\n99\n1 2 elevenbytes")
    damaged["pnm_bits_plain_word.pbm"] = ("format", b"P1\n2 1\n1 2\n")
    damaged["pnm_bits_plain_extra.pbm"] = ("format", b"P1\n2 1\n1 1 a\n")
    damaged["pnm_float_zero.pfm"] = ("format", b"Pf 1 1 0.0 \0\0\0\0")
    damaged["pnm_float_inf.pfm"] = ("format", b"Pf 1 1 inf \0\0\0\0")


def qoi(pixels, channels=None, space=0):
    """Encodes with every kind of chunk."""
    h, w, n = pixels.shape
    out = b"qoif" + struct.pack(">IIBB", w, h, channels or n, space)
    seen, last, run = {}, (0, 0, 0, 255), 0
    flat = [tuple(map(int, p)) if n == 4 else (*map(int, p), 255) for p in pixels.reshape(-1, n)]
    for p in flat:
        if p == last:
            run += 1
            if run == 62:
                out, run = out + bytes([0xC0 | 61]), 0
            continue
        if run:
            out, run = out + bytes([0xC0 | run - 1]), 0
        i = (p[0] * 3 + p[1] * 5 + p[2] * 7 + p[3] * 11) % 64
        d = [(p[k] - last[k] + 128) % 256 - 128 for k in range(3)]
        if seen.get(i) == p:
            out += bytes([i])
        elif p[3] != last[3]:
            out += b"\xff" + bytes(p)
        elif all(-2 <= v <= 1 for v in d):
            out += bytes([0x40 | d[0] + 2 << 4 | d[1] + 2 << 2 | d[2] + 2])
        elif -32 <= d[1] <= 31 and all(-8 <= d[k] - d[1] <= 7 for k in (0, 2)):
            out += bytes([0x80 | d[1] + 32, d[0] - d[1] + 8 << 4 | d[2] - d[1] + 8])
        else:
            out += b"\xfe" + bytes(p[:3])
        seen[i] = last = p
    if run:
        out += bytes([0xC0 | run - 1])
    return out + bytes(7) + b"\1"


def make_qoi():
    w, h = 23, 17
    rgb = scene(w, h, 3)
    rgb[3:9] = rgb[3, 0]
    rgb[9:12] = np.cumsum(np.tile([1, 255, 0, 7, 249], (3, 5))[:, :w, None] + [0, 1, 2], 1) % 256
    rgba = np.dstack([rgb, scene(w, h, 4)[:, :, 3] // 100 * 100])
    whole["qoi_rgb.qoi"] = qoi(rgb)
    whole["qoi_rgba.qoi"] = qoi(rgba)
    whole["qoi_linear.qoi"] = qoi(rgb, space=1)
    whole["qoi_one.qoi"] = qoi(rgb[:1, :1])
    whole["qoi_black.qoi"] = qoi(np.zeros((40, 40, 3), np.uint8))
    accepted["qoi_channels_7.qoi"] = qoi(rgba, channels=7)
    accepted["qoi_rgb_of_rgba.qoi"] = qoi(rgba, channels=3)
    accepted["qoi_unseen.qoi"] = b"qoif" + struct.pack(">IIBB", 4, 1, 4, 0) + bytes([5, 0x6A, 0, 0xC9])
    accepted["qoi_no_end.qoi"] = qoi(rgb)[:-8]
    damaged["qoi_truncated.qoi"] = ("format", qoi(rgb)[:-40])
    damaged["qoi_truncated_pixel.qoi"] = ("format", b"qoif" + struct.pack(">IIBB", 2, 1, 4, 0) + b"\xff\1\2\3")
    damaged["qoi_truncated_header.qoi"] = ("format", qoi(rgb)[:11])
    damaged["qoi_zero.qoi"] = ("format", b"qoif" + struct.pack(">IIBB", 0, 1, 4, 0) + bytes(9))
    damaged["qoi_huge.qoi"] = ("limit", b"qoif" + struct.pack(">IIBB", 100000, 100000, 4, 0) + bytes(9))


def tga(w, h, kind, depth, data, palette=b"", first=0, entries=0, bits=0, flags=0, ident=b"", footer=b""):
    head = struct.pack("<BBBHHBHHHHBB", len(ident), bits > 0, kind, first, entries, bits, 0, 0, w, h, depth, flags)
    return head + ident + palette + data + footer


def tga_runs(data, pixel, cross=False):
    """Packs runs and lists; with cross, lists go on in the next row."""
    units = [data[i : i + pixel] for i in range(0, len(data), pixel)]
    out, i = b"", 0
    while i < len(units):
        n = 1
        while not cross and i + n < len(units) and n < 128 and units[i + n] == units[i]:
            n += 1
        if n > 1:
            out, i = out + bytes([127 + n]) + units[i], i + n
            continue
        n = min(7 if not cross else 100, len(units) - i)
        out, i = out + bytes([n - 1]) + b"".join(units[i : i + n]), i + n
    return out


def make_tga():
    w, h = 21, 13
    gray = scene(w, h, 1)[:, :, 0]
    rgb, rgba = scene(w, h, 3), scene(w, h, 4)
    flat = rgb // 64 * 64
    idx = gray // 16
    pal = scene(256, 1, 4)[0]
    v16 = np.random.RandomState(5).randint(0, 65536, (h, w)).astype("<u2")
    bits = np.packbits(gray > 127, axis=1)
    rows = lambda a, n: b"".join(tga_runs(r.tobytes(), n) for r in a)
    ext = bytes(494) + b"\0"
    footer = lambda at: struct.pack("<II", at, 0) + b"TRUEVISION-XFILE.\0"
    whole["tga_gray.tga"] = tga(w, h, 3, 8, gray.tobytes())
    whole["tga_gray_top_down.tga"] = tga(w, h, 3, 8, gray.tobytes(), flags=0x20)
    whole["tga_gray_mirror.tga"] = tga(w, h, 3, 8, gray.tobytes(), flags=0x10)
    whole["tga_gray_turned.tga"] = tga(w, h, 3, 8, gray.tobytes(), flags=0x30, ident=b"name")
    whole["tga_gray_alpha.tga"] = tga(w, h, 3, 16, scene(w, h, 2).tobytes())
    whole["tga_bits.tga"] = tga(w, h, 3, 1, bits.tobytes())
    whole["tga_rgb.tga"] = tga(w, h, 2, 24, rgb.tobytes())
    whole["tga_rgb_mirror.tga"] = tga(w, h, 2, 24, rgb.tobytes(), flags=0x30)
    whole["tga_rgba.tga"] = tga(w, h, 2, 32, rgba.tobytes(), flags=0x28)
    whole["tga_16.tga"] = tga(w, h, 2, 16, v16.tobytes(), footer=bytes(26))
    plain = tga(w, h, 2, 32, rgba.tobytes())
    whole["tga_rgba_opaque.tga"] = plain + ext + footer(len(plain))
    whole["tga_rgba_footer.tga"] = plain + footer(0)
    whole["tga_palette.tga"] = tga(w, h, 1, 8, idx.tobytes(), pal[:16, :3].tobytes(), entries=16, bits=24)
    whole["tga_palette_32.tga"] = tga(w, h, 1, 8, idx.tobytes(), pal[:16].tobytes(), entries=16, bits=32)
    whole["tga_palette_16.tga"] = tga(w, h, 1, 8, idx.tobytes(), v16.tobytes()[:32], entries=16, bits=16)
    whole["tga_palette_first.tga"] = tga(w, h, 1, 8, idx.tobytes(), pal[:12].tobytes(), first=4, entries=12, bits=32)
    whole["tga_runs_gray.tga"] = tga(w, h, 11, 8, rows(idx * 16, 1))
    whole["tga_runs_rgb.tga"] = tga(w, h, 10, 24, rows(flat, 3), flags=0x20)
    whole["tga_runs_rgba.tga"] = tga(w, h, 10, 32, rows(rgba // 128 * 128, 4))
    whole["tga_runs_16.tga"] = tga(w, h, 10, 16, rows(v16, 2))
    whole["tga_runs_palette.tga"] = tga(w, h, 9, 8, rows(idx, 1), pal[:16, :3].tobytes(), entries=16, bits=24)
    f = io.BytesIO()
    Image.fromarray(flat).save(f, "TGA", compression="tga_rle")
    whole["tga_pillow.tga"] = f.getvalue()
    accepted["tga_runs_cross.tga"] = tga(w, h, 10, 24, tga_runs(rgb.tobytes(), 3, cross=True))
    accepted["tga_palette_short.tga"] = tga(w, h, 1, 8, idx.tobytes(), pal[:9, :3].tobytes(), entries=9, bits=24)
    accepted["tga_palette_last.tga"] = tga(w, h, 1, 8, gray.tobytes(), pal[:2].tobytes(), first=254, entries=2, bits=32)
    damaged["tga_truncated.tga"] = ("format", whole["tga_rgb.tga"][:-1])
    damaged["tga_truncated_runs.tga"] = ("format", whole["tga_runs_rgb.tga"][:-1])
    damaged["tga_truncated_header.tga"] = ("format", whole["tga_rgb.tga"][:17])
    damaged["tga_truncated_palette.tga"] = ("format", whole["tga_palette.tga"][:40])
    damaged["tga_runs_beyond.tga"] = ("format", tga(w, h, 11, 8, b"\xff\7" * 3))
    damaged["tga_palette_long.tga"] = ("format", tga(w, h, 1, 8, idx.tobytes(), bytes(3 * 10), first=250, entries=10, bits=24))
    damaged["tga_palette_15.tga"] = ("unsupported", tga(w, h, 1, 8, idx.tobytes(), bytes(20), entries=10, bits=15))
    damaged["tga_zero.tga"] = ("format", tga(0, h, 3, 8, b""))
    accepted["tga_tiny_rgba.tga"] = tga(1, 1, 2, 32, b"\1\2\3\4")
    damaged["tga_huge.tga"] = ("limit", tga(65535, 65535, 2, 32, bytes(100)))


def dib(*args, **options):
    return bmp(*args, offset=0, **options)[14:]


def ico(*images):
    """images: (width, height, colours, bits, data)."""
    out, at = struct.pack("<HHH", 0, 1, len(images)), 6 + 16 * len(images)
    for w, h, colors, bits, data in images:
        out += struct.pack("<BBBBHHII", w % 256, h % 256, colors, 0, 1, bits, len(data), at)
        at += len(data)
    return out + b"".join(i[4] for i in images)


def make_ico_dib():
    w, h = 21, 13
    gray, rgb, rgba = scene(w, h, 1)[:, :, 0], scene(w, h, 3), scene(w, h, 4)
    pal = scene(256, 1, 4)[0].tobytes()
    idx = gray // 16
    whole["dib_24.dib"] = dib(w, h, 24, bmp_rows(rgb, 8))
    whole["dib_32.dib"] = dib(w, h, 32, bmp_rows(rgba, 8), header=124)
    whole["dib_8.dib"] = dib(w, h, 8, bmp_rows(gray[:, :, None], 8), pal)
    whole["dib_4_top_down.dib"] = dib(w, h, 4, bmp_rows(idx[:, :, None], 4, True), pal[:64], top_down=True)
    whole["dib_24_os2.dib"] = dib(w, h, 24, bmp_rows(rgb, 8), header=12)
    whole["dib_fields.dib"] = dib(w, h, 16, np.random.RandomState(6).bytes(44 * h), compression=3, masks=(0xF800, 0x7E0, 0x1F))
    damaged["dib_truncated.dib"] = ("format", whole["dib_24.dib"][:-3])
    damaged["dib_truncated_header.dib"] = ("format", whole["dib_24.dib"][:30])
    damaged["dib_unsupported_2bit.dib"] = ("unsupported", dib(w, h, 2, bytes(12 * h), bytes(16)))
    damaged["dib_huge.dib"] = ("limit", dib(100000, 100000, 24, bytes(100)))

    def twice(data):
        return data[:8] + struct.pack("<i", 2 * struct.unpack("<i", data[8:12])[0]) + data[12:]

    mask = b"".join(np.packbits(np.pad(r, (0, 11))).tobytes() for r in (gray > 90)[::-1])
    png = io.BytesIO()
    Image.fromarray(rgba).save(png, "png")
    small = io.BytesIO()
    Image.fromarray(rgb[:8, :8]).save(small, "png")
    p = Image.fromarray(idx, "P")
    p.putpalette(pal[:48])
    keyed = io.BytesIO()
    p.save(keyed, "png", transparency=bytes([0, 90, 255, 7]))
    rgb_key = io.BytesIO()
    Image.fromarray(rgb).save(rgb_key, "png", transparency=tuple(int(v) for v in rgb[2, 3]))
    p24 = twice(whole["dib_24.dib"]) + mask
    whole["ico_24.ico"] = ico((w, h, 0, 24, p24))
    whole["ico_32.ico"] = ico((w, h, 0, 32, twice(dib(w, h, 32, bmp_rows(rgba, 8))) + mask))
    whole["ico_8.ico"] = ico((w, h, 0, 8, twice(whole["dib_8.dib"]) + mask))
    whole["ico_4.ico"] = ico((w, h, 16, 0, twice(dib(w, h, 4, bmp_rows(idx[:, :, None], 4), pal[:64])) + mask))
    whole["ico_1.ico"] = ico((w, h, 2, 0, twice(dib(w, h, 1, bmp_rows((gray > 127)[:, :, None].astype(np.uint8), 1), pal[:8])) + mask))
    whole["ico_png.ico"] = ico((w, h, 0, 32, png.getvalue()))
    whole["ico_png_palette.ico"] = ico((w, h, 0, 8, keyed.getvalue()))
    whole["ico_png_key.ico"] = ico((w, h, 0, 24, rgb_key.getvalue()))
    whole["ico_largest.ico"] = ico((8, 8, 0, 24, small.getvalue()), (w, h, 0, 32, png.getvalue()), (w, h, 0, 24, p24))
    f = io.BytesIO()
    Image.fromarray(scene(64, 64, 4)).save(f, "ICO", sizes=[(16, 16), (64, 64)])
    whole["ico_pillow.ico"] = f.getvalue()
    f = io.BytesIO()
    Image.fromarray(scene(32, 32, 3)).save(f, "ICO", bitmap_format="bmp", sizes=[(16, 16), (32, 32)])
    whole["ico_pillow_bmp.ico"] = f.getvalue()
    accepted["ico_other_size.ico"] = ico((99, 98, 0, 24, p24))
    accepted["ico_32_of_24.ico"] = ico((w, h, 0, 32, p24 + bytes(300)))
    accepted["ico_24_of_32.ico"] = ico((w, h, 0, 24, twice(dib(w, h, 32, bmp_rows(rgba, 8))) + mask))
    damaged["ico_empty.ico"] = ("format", ico())
    damaged["ico_truncated_directory.ico"] = ("format", whole["ico_24.ico"][:20])
    damaged["ico_truncated.ico"] = ("format", whole["ico_24.ico"][:-6])
    damaged["ico_truncated_png.ico"] = ("format", whole["ico_png.ico"][:200])
    damaged["ico_short_mask.ico"] = ("format", ico((w, h, 0, 24, p24[:40])))
    damaged["ico_one_row.ico"] = ("format", ico((w, 1, 0, 24, dib(w, 1, 24, bytes(64)) + bytes(4))))
    damaged["ico_huge.ico"] = ("limit", ico((0, 0, 0, 24, dib(60000, 100000, 24, bytes(100)))))


def make_tiff_refused():
    """Directories that Pillow reads and libtiff refuses: without compression the pixels are Pillow's own work."""
    packed, plain = whole["tiff_pillow_packbits_1bit.tif"], whole["tiff_gray8_le.tif"]

    def entry(data, tag, at, value):
        p = struct.unpack("<I", data[4:8])[0] + 2
        while struct.unpack("<H", data[p : p + 2])[0] != tag:
            p += 12
        return data[: p + at] + value + data[p + at + len(value) :]

    damaged["tiff_cut_directory.tif"] = ("format", packed[: struct.unpack("<I", packed[4:8])[0] + 2 + 12 * 8 + 5])
    damaged["tiff_type_rows.tif"] = ("format", entry(packed, 278, 2, b"\x44\x64"))
    damaged["tiff_count_planar.tif"] = ("format", entry(packed, 284, 4, b"\x02"))
    accepted["tiff_plain_type_rows.tif"] = entry(plain, 278, 2, b"\x44\x64")


def digest(im, mode=None):
    if mode:
        im = im.convert(mode)
    return hashlib.sha256(im.tobytes()).hexdigest()


def write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def golden(data):
    def load():
        return Image.open(io.BytesIO(data))

    im = load()
    im.load()
    g = {
        "width": im.width,
        "height": im.height,
        "mode": im.mode,
        "rgb": digest(im, "RGB"),
        "gray": digest(load(), "L"),
        "rgba": digest(load(), "RGBA"),
        "white": digest(convert_to_rgb(load())),
        "keyWhite": digest(convert_to_rgb(load().convert("RGB"))),
    }
    up = ImageOps.exif_transpose(load())
    g["uprightWidth"], g["uprightHeight"] = up.size
    g["upright"] = digest(up, "RGB")
    return g


def main():
    make_png()
    make_png_order()
    make_gif()
    make_bmp()
    make_tiff()
    make_tiff_ycc()
    make_webp()
    make_pnm()
    make_qoi()
    make_tga()
    make_ico_dib()
    make_tiff_refused()
    for folder in (IMAGES, DAMAGED):
        os.makedirs(folder, exist_ok=True)
        for f in FORMATS:
            for path in glob.glob(os.path.join(folder, f + "_*")):
                os.remove(path)
    out = {"images": {}, "damaged": {}}
    for name, data in sorted(whole.items()):
        out["images"][name] = golden(data)
        write(IMAGES, name, data)
    for name, data in sorted(accepted.items()):
        out["damaged"][name] = golden(data)
        write(DAMAGED, name, data)
    for name, (kind, data) in sorted(damaged.items()):
        pillow = True
        try:
            Image.open(io.BytesIO(data)).load()
        except Exception:
            pillow = False
        out["damaged"][name] = {"kind": kind, "pillowReads": pillow}
        write(DAMAGED, name, data)
    os.makedirs(os.path.join(ROOT, "golden"), exist_ok=True)
    with open(os.path.join(ROOT, "golden", "codecs.json"), "w") as f:
        json.dump(out, f, indent=1)
        f.write("\n")
    print(len(whole), "images,", len(accepted), "damaged and read,", len(damaged), "damaged and refused")


if __name__ == "__main__":
    main()
