"""Writes the goldens of deltas, cmvn, mask_span and dither, and the draws of random_mask_span and random_dither.

Run with torch 2.15.0 and torchaudio 2.11.0 (requirements-fbank.txt) on x86-64. Every run gives the same bytes. Kaldi has
no package: cmvn restates transform/cmvn.cc of Kaldi 5.5 (commit 10e9002c) in NumPy.
"""

import numpy as np
import torch

torch.version.cuda = None  # torchaudio's wheel is built for another one, which its import refuses
import torchaudio  # noqa: E402
from erase_adjust import normal  # noqa: E402
from golden import Draws, Golden  # noqa: E402

torch.set_num_threads(1)
TORCHAUDIO = "torchaudio 2.11.0, torch 2.15.0"


def features(frames, bands, seed=0):
    return (np.random.default_rng([frames, bands, seed]).standard_normal((frames, bands)) * 4 - 3).astype(np.float32)


def deltas():
    """compute_deltas has one order, with the time last. Kaldi's next order has the differences of frames beyond the ends, too."""
    g = Golden("deltas", TORCHAUDIO)
    for frames, bands in ((20, 5), (1, 3), (4, 13), (300, 2)):
        x = features(frames, bands)
        for window in (1, 2, 9):
            for order in (1, 2, 3):
                if window == 9 and order > 1:
                    continue
                parts = [x]
                for i in range(1, order + 1):
                    ends = window * i
                    y = torch.from_numpy(np.ascontiguousarray(np.pad(x, ((ends, ends), (0, 0)), mode="edge").T))
                    for _ in range(i):
                        y = torchaudio.functional.compute_deltas(y, 2 * window + 1)
                    parts.append(y.numpy().T[ends:-ends])
                bound = 1e-6 * float(np.abs(x).max())
                reason = "torch's sums in float32 depend on the processor"
                p = dict(window=window, order=order, append=True, frames_first=True)
                for p, want in ((p, np.concatenate(parts, axis=1)), (p | dict(append=False), parts[-1])):
                    g.columns_case(f"{frames}x{bands} {window} {order} {p['append']}", p, [x], [np.ascontiguousarray(want)])
                    g.cases[-1] |= {"tolerance": bound, "reason": reason}
                    g.columns_case(f"{frames}x{bands} {window} {order} {p['append']} frames last", p | dict(frames_first=False), [np.ascontiguousarray(x.T)], [np.ascontiguousarray(want.T)])
                    g.cases[-1] |= {"tolerance": bound, "reason": reason}
    g.write()


def cmvn():
    g = Golden("cmvn", "Kaldi 5.5 transform/cmvn.cc, restated in NumPy 2.4.6")
    f = np.float32
    for frames, bands in ((20, 5), (1, 3), (300, 2), (7, 80), (2, 1), (50, 13)):
        x = features(frames, bands)
        x[:, 0] = 2.5  # a variance of 0
        other = features(50, bands, 1)
        for own in (True, False):
            y = x if own else other
            sums, squares = np.zeros(bands), np.zeros(bands)
            for row in y:  # AccCmvnStats
                sums += row.astype(float)
                squares += (row * row).astype(float)
            for var in (False, True):  # ApplyCmvn
                mean = sums / len(y)
                scale = 1 / np.sqrt(np.maximum(squares / len(y) - mean * mean, 1e-20)) if var else np.ones(bands)
                want = f(-(mean * scale)) + x * f(scale)
                p = dict(var=var, frames=0, sums=[], squares=[]) if own else dict(var=var, frames=len(y), sums=sums.tolist(), squares=squares.tolist())
                g.columns_case(f"{frames}x{bands} {own} {var}", p, [x], [want])
    g.write()


def mask_span():
    g = Golden("mask_span", TORCHAUDIO)
    rand = torch.rand
    for frames, bands in ((20, 5), (3, 80), (2, 2), (7, 13), (40, 3), (9, 9)):
        x = features(frames, bands)
        for axis in (0, 1):
            n = x.shape[axis]
            for start, length in ((0, 0), (0, n), (1, min(2, n - 1)), (n - 1, 1)):
                for value in (0.0, -15.942385):
                    # The two numbers that give the span.
                    numbers = [(length + 0.1) / n, (start + 0.5) / max(n - length - 0.1, 1)]
                    torch.rand = lambda *a, **_: torch.tensor([numbers.pop(0)])
                    want = torchaudio.functional.mask_along_axis(torch.from_numpy(x)[None], n, value, axis + 1)[0].numpy() if length < n else np.full_like(x, value)
                    p = dict(axis=axis, start=start, length=length, value=value)
                    rows = np.zeros(n, bool)
                    rows[start:start + length] = True
                    assert ((want == np.float32(value)).all(axis=1 - axis) == rows).all(), p
                    g.columns_case(f"{frames}x{bands} {axis} {start} {length} {value}", p, [x], [want])
    torch.rand = rand
    g.write()


def random_mask_span():
    d = Draws("random_mask_span", TORCHAUDIO)
    torch.manual_seed(1)
    for size, axis, longest, fraction in (((50, 20), 0, 30, 1.0), ((50, 20), 1, 8, 1.0), ((50, 20), 0, 30, 0.2), ((50, 20), 0, 3, 0.2), ((9, 2), 0, 9, 0.1)):
        x = torch.ones(1, *size)
        drawn = []
        for _ in range(5000):
            y = torchaudio.functional.mask_along_axis(x, longest, 0.0, axis + 1, fraction)[0]
            line = y[:, 0] if axis == 0 else y[0]
            at = torch.nonzero(line == 0).flatten()
            drawn.append([("mask_span", {"start": int(at[0]), "length": len(at)})] if len(at) else [])
        d.case(f"{size} {axis} {longest} {fraction}", dict(axis=axis, longest=longest, fraction=fraction, value=0.0), size, drawn)
    d.write()


def dither():
    g = Golden("dither", "NumPy 2.4.6, x + n*amplitude, with the normal numbers of erase_noise")
    f = np.float32
    for shape, amplitude, key in (((37,), 1 / 32768, 0), ((2, 9), 0.5, 2**64 - 1), ((5,), 0.0, 3), ((1,), 1.0, 4), ((3, 4), 1 / 3, 5), ((11,), 1e6, 6),
                                  ((64,), 0.25, 7), ((5, 5), 2.0, 8), ((2, 2), 1e-9, 0x0123456789ABCDEF)):
        x = (np.random.default_rng(3).standard_normal(shape) / 3).astype(f)
        noise = np.array([normal(key, n) for n in range(x.size)], f).reshape(shape)
        g.columns_case(f"{shape} {amplitude}", dict(amplitude=amplitude, key=key), [x], [x + noise * f(amplitude)])
    g.write()
    d = Draws("random_dither", "Kaldi 5.5 dither")
    for amplitude in (1 / 32768, 1.0):
        d.case(str(amplitude), dict(amplitude=amplitude), (9, 7), [[("dither", {"amplitude": amplitude})]] * 1000)
    d.write()


if __name__ == "__main__":
    deltas()
    cmvn()
    mask_span()
    random_mask_span()
    dither()
