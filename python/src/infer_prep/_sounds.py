"""The samples of sounds that graphs take, as WAV files in memory."""

from __future__ import annotations

import operator
import struct
from typing import Any

import numpy as np

from . import _images
from ._native import Array

WANT = "want an array or a CPU tensor of float32, or of int16, (samples) or (channels, samples)"

# The limits of sound files: package sound, and the field of a WAV file.
MAX_CHANNELS, MAX_RATE = 1024, (1 << 31) - 1


def wav(sound: Any, rate: Any) -> Array:
    """A WAV file of samples: float32 as they are, int16 as those of a file of 16 bits."""
    hz = operator.index(rate)
    if not 1 <= hz <= MAX_RATE:
        raise ValueError(f"infer_prep: sampling_rate {hz}: want 1 to {MAX_RATE} Hz")
    if isinstance(sound, (bytes, bytearray, memoryview)) or getattr(sound, "dtype", None) == np.uint8:
        raise TypeError("infer_prep: got an encoded sound and sampling_rate: want no sampling_rate, because a file states its own")
    if not isinstance(sound, np.ndarray):
        if not hasattr(sound, "__dlpack_device__"):
            raise TypeError(f"infer_prep: got {type(sound).__name__} with sampling_rate; {WANT}")
        sound = _images.from_dlpack(sound)
    if sound.dtype.newbyteorder("=") not in (np.float32, np.int16):
        raise TypeError(f"infer_prep: got samples of {sound.dtype}; {WANT}")
    if sound.ndim not in (1, 2):
        raise ValueError(f"infer_prep: got samples of the shape {sound.shape}; {WANT}")
    channels = sound.shape[0] if sound.ndim == 2 else 1
    if not 1 <= channels <= MAX_CHANNELS:
        turned = ", such as array.T" if sound.ndim == 2 and 1 <= sound.shape[1] <= MAX_CHANNELS else ""
        raise ValueError(f"infer_prep: got samples of the shape {sound.shape}: want (channels, samples) with 1 to {MAX_CHANNELS} channels{turned}")
    tag, size = (3, 4) if sound.dtype.kind == "f" else (1, 2)
    n = size * sound.size
    if n > 0xFFFFFFFF - 36:
        raise ValueError(f"infer_prep: got samples of {n} bytes: want less than 4 GiB")
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", n + 36, b"WAVE", b"fmt ", 16, tag, channels, hz, min(hz * size * channels, 0xFFFFFFFF),
                       size * channels, 8 * size, b"data", n)
    out = np.empty(len(head) + n, np.uint8)
    out[: len(head)] = np.frombuffer(head, np.uint8)
    out[len(head) :].view(f"<{'fi'[tag == 1]}{size}").reshape(-1, channels)[:] = sound.reshape(channels, -1).T
    return out
