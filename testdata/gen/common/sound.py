"""Sounds of whole numbers, which Go's internal/golden makes alike (sound.go)."""

import numpy as np


def _tone(k, period):
    """A wave of parabolas, -32767 to 32767."""
    half = period // 2
    p = k % period
    q = p % half
    v = 4 * 32767 * q * (half - q) // (half * half)
    return np.where(p < half, v, -v)


def _noise(k):
    mask = 0xFFFFFFFF
    h = (k * 2654435761 + 12345) & mask
    h ^= h >> 15
    h = (h * 2246822519) & mask
    h ^= h >> 13
    return (h >> 16) - 32768


def integers(kind, n):
    """n samples of 16 bits: speech, noise, silence, clip (too loud a speech) or sweep."""
    k = np.arange(n, dtype=np.int64)
    if kind == "silence":
        return 0 * k
    if kind == "noise":
        return _noise(k)
    if kind == "sweep":
        return _tone(k * (1 + k // 64), 4096)
    period = 100 + k // 4000 * 37 % 60 // 2 * 2
    r = k % 5000
    envelope = np.minimum(np.minimum(r, 5000 - r) * 2, 4096)
    v = _tone(k, period) + (_tone(3 * k, period) >> 1) + (_tone(7 * k, period) >> 2) + (_noise(k) >> 4)
    v = (v * envelope) >> 13
    if kind == "clip":
        v = v * 8
    return np.clip(v, -32768, 32767)


def sound(kind, n):
    """The samples as float32, -1 to 1."""
    return (integers(kind, n) / 32768).astype(np.float32)
