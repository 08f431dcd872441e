"""The forms of images that graphs take: files, arrays, tensors, Pillow's images."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _native, _sounds
from ._native import Array

# Pillow's modes whose arrays a graph treats as files of the same pixels.
PIL_MODES = ("L", "LA", "RGB", "RGBA")

WANT = ("want an encoded image as bytes or another buffer of bytes, or decoded pixels as an array or a CPU tensor of uint8, (H, W, C) or (C, H, W), "
        "or an image of Pillow")

FIRST, LAST = "channels_first", "channels_last"


def is_pillow(image: Any) -> bool:
    """Whether image is one of Pillow, which need not be installed."""
    return hasattr(image, "getbands") and hasattr(image, "getpalette")


def fill(to: _native.Image, image: Any, data_format: Any = None, rate: Any = None) -> Any:
    """Describes an encoded or decoded image in to, or a sound. Returns what to keep until its use is over.

    Neither file nor pixels are copied, but for images of Pillow: asarray copies their pixels. Samples are copied.
    """
    if rate is not None:
        return encoded(to, _sounds.wav(image, rate))
    if type(image) is bytes:
        return encoded(to, np.frombuffer(image, np.uint8))
    if isinstance(image, np.ndarray):
        return array(to, image, data_format)
    if is_pillow(image):
        palette = image.getpalette() is not None  # some GIF files have one in mode L
        if palette or image.mode not in PIL_MODES:
            kind = f"Pillow's mode {image.mode}" + " with a palette" * palette
            raise TypeError(f"infer_prep: got an image of {kind}: want one of {', '.join(PIL_MODES)}, such as image.convert('RGB')")
        return pixels(to, np.asarray(image), LAST)
    if hasattr(image, "__dlpack_device__"):  # a tensor
        return array(to, from_dlpack(image), data_format)
    try:
        view = memoryview(image)
    except (TypeError, ValueError, BufferError):
        raise TypeError(f"infer_prep: got {type(image).__name__}; {WANT}") from None
    if view.format not in ("B", "b", "c"):
        raise TypeError(f"infer_prep: got a buffer of elements of {view.itemsize} bytes {view.shape}; {WANT}")
    if view.ndim > 1:
        if view.format != "B":
            raise TypeError(f"infer_prep: got a buffer of int8 {view.shape}; {WANT}")
        return pixels(to, np.asarray(view), data_format)
    if not view.c_contiguous:
        raise ValueError("infer_prep: the buffer of the image is not contiguous: want a copy of it")
    return encoded(to, np.frombuffer(view, np.uint8))


def from_dlpack(tensor: Any) -> Array:
    """The array of a CPU tensor of torch or another library, without a copy."""
    try:
        device = int(tensor.__dlpack_device__()[0])
    except (BufferError, RuntimeError, TypeError, ValueError):  # such as torch's meta
        device = 0
    if device != 1:
        raise TypeError(f"infer_prep: got a tensor on the device {getattr(tensor, 'device', device)}: want one on the CPU, such as tensor.cpu()")
    try:
        return np.from_dlpack(tensor)
    except (BufferError, RuntimeError, TypeError, ValueError) as e:  # such as bfloat16
        raise TypeError(f"infer_prep: got a tensor of {getattr(tensor, 'dtype', type(tensor).__name__)}: {e}; {WANT}") from None


def array(to: _native.Image, a: Array, data_format: Any) -> Any:
    """Describes an array: a file with one axis, else pixels."""
    if a.ndim == 1 and a.dtype in (np.uint8, np.int8):
        if not a.flags.c_contiguous:
            raise ValueError("infer_prep: the buffer of the image is not contiguous: want a copy of it")
        return encoded(to, a)
    if a.dtype != np.uint8:
        sound = ", or samples of a sound with sampling_rate" if a.dtype in (np.float32, np.int16) and a.ndim in (1, 2) else ""
        raise TypeError(f"infer_prep: got an array of {a.dtype} {a.shape}; {WANT}{sound}")
    return pixels(to, a, data_format)


def encoded(to: _native.Image, a: Array) -> Array:
    to.data, to.bytes, to.height = a.ctypes.data, a.nbytes, 0
    return a


def pixels(to: _native.Image, a: Array, data_format: Any = None) -> Array:
    """Describes pixels, which stay where they are."""
    if a.ndim == 2:
        (height, width), (row, pixel), channels, sample = a.shape, a.strides, 1, 1
    elif a.ndim == 3:
        first = channels_first(a.shape, data_format)
        (channels, height, width), (sample, row, pixel) = (a.shape, a.strides) if first else (a.shape[2:] + a.shape[:2], a.strides[2:] + a.strides[:2])
    else:
        height, width, channels = 0, 0, 0
    if not 1 <= channels <= 4 or not 0 < height < 1 << 32 or not 0 < width < 1 << 32:
        raise ValueError(f"infer_prep: got an array of uint8 {a.shape}; want pixels (H, W), (H, W, C) or (C, H, W) of 1 to 4 channels, at least one pixel")
    to.data, to.height, to.width, to.channels, to.row, to.pixel, to.sample = a.ctypes.data, height, width, channels, row, pixel, sample
    return a


def channels_first(shape: tuple[int, ...], data_format: Any = None) -> bool:
    """Whether the channels are the first of three axes.

    Without a data_format the rule is that of transformers 5.23.0, infer_channel_dimension_format with 1, 3 or 4
    channels: the first axis if it has such a size, else the last. If both have, a warning says so. Another
    last axis is accepted, too: gray and alpha.
    """
    if data_format is not None:
        name = getattr(data_format, "value", data_format)  # an enumeration of transformers
        if name not in (FIRST, LAST):
            raise ValueError(f"infer_prep: input_data_format {name!r}: want {FIRST!r} or {LAST!r}")
        return bool(name == FIRST)
    first = shape[0] in (1, 3, 4)
    if first and shape[2] in (1, 3, 4):
        warnings.warn(f"infer_prep: an image of the shape {shape} may have its channels first or last: they are taken to be the first; "
                      f"input_data_format says which", stacklevel=4)
    return first


def images(batch: Any, data_format: Any = None, rate: Any = None) -> tuple[Any, int, Any]:
    """Describes a list of images, or an array of four axes. Returns the descriptions, their number, and what to keep."""
    if rate is not None and not isinstance(batch, (list, tuple)):
        raise TypeError(f"infer_prep: run_batch: got {type(batch).__name__} with sampling_rate, want a list of sounds")
    if not isinstance(batch, (list, tuple)):
        a = batch if isinstance(batch, np.ndarray) else from_dlpack(batch) if hasattr(batch, "__dlpack_device__") else None
        if a is None or a.ndim != 4:
            raise TypeError(f"infer_prep: run_batch: got {type(batch).__name__}, want a list of images, or an array or a tensor of four axes")
        batch = list(a)
    out = (_native.Image * len(batch))()
    return out, len(batch), [fill(to, image, data_format, rate) for to, image in zip(out, batch)]


def rgb(image: Any, data_format: Any, convert: bool, torchvision: bool) -> tuple[Any, Any]:
    """Pixels as an image processor of transformers 5.23.0 makes them of an image, and where their channels are.

    convert is its do_convert_rgb: transparent images are put on white, by Pillow's rule, or for arrays by that of the
    backend. Without it, images of other than three channels are errors. Encoded images stay as they are.
    """
    if is_pillow(image):
        if image.mode == "RGB" and image.info.get("transparency") is None:
            return np.asarray(image), LAST
        if not convert:
            raise TypeError(f"infer_prep: got an image of Pillow's mode {image.mode}, and do_convert_rgb is off: want mode RGB without a transparent colour")
        if "A" in image.getbands() or image.info.get("transparency") is not None:
            from PIL import Image  # type: ignore[import-not-found, unused-ignore]

            image = image.convert("RGBA")
            image = Image.alpha_composite(Image.new("RGBA", image.size, (255, 255, 255, 255)), image)
        return np.asarray(image.convert("RGB")), LAST
    if hasattr(image, "__dlpack_device__") and not isinstance(image, np.ndarray):
        image = from_dlpack(image)
    if not isinstance(image, np.ndarray) or image.ndim < 2:
        return image, data_format
    if image.dtype != np.uint8:
        raise TypeError(f"infer_prep: got an array of {image.dtype} {image.shape}: want uint8, for which the graphs are exact")
    if image.ndim == 2:
        image, data_format = image[None], FIRST
    if image.ndim != 3:
        raise ValueError(f"infer_prep: got an array of uint8 {image.shape}: want one image with two or three axes")
    first = channels_first(image.shape, data_format)
    channels = image.shape[0 if first else 2]
    if channels != 3 and not convert:
        raise TypeError(f"infer_prep: got an array of {channels} channels {image.shape}, and do_convert_rgb is off: want 3")
    if channels == 4:
        return on_white(image if first else image.transpose(2, 0, 1), torchvision), FIRST
    if channels not in (1, 3):
        raise ValueError(f"infer_prep: got an array of {channels} channels {image.shape}: want 1, 3 or 4")
    return image, FIRST if first else LAST


def on_white(a: Array, torchvision: bool) -> Array:
    """Pixels of RGBA (4, H, W) on white, as TorchvisionBackend.convert_to_rgb or image_transforms.convert_to_rgb computes them."""
    if torchvision:
        one, f = np.float32(1), a.astype(np.float32) * np.float32(1 / 255)
        white: Array = ((f[:3] * f[3:] + (one - f[3:])) * np.float32(255 + 1.0 - 1e-3)).astype(np.uint8)
    else:
        alpha = a[3:] / 255
        white = np.round(alpha * a[:3] + (1 - alpha) * 255).astype(np.uint8)
    return white
