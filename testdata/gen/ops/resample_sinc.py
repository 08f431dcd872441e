"""Writes the goldens of resample_sinc: torchaudio's Resample.

Run with torch 2.15.0 and torchaudio 2.11.0 (requirements-torchaudio.txt) on x86-64 with AVX2, one thread. Every run gives
the same bytes. torchaudio's wheel is built for another CUDA than torch's, which its import refuses; no code of CUDA runs here.
"""

import numpy as np
import torch

torch.version.cuda = None
import torchaudio  # noqa: E402

from golden import Golden, wave  # noqa: E402

torch.set_num_threads(1)
LONG = 20481  # samples with padding from which on torch adds as a chain


def resample_sinc():
    g = Golden("resample_sinc", "torchaudio 2.11.0 Resample, torch 2.15.0")
    rates = [(44100, 16000), (48000, 16000), (8000, 16000), (16000, 16000), (22050, 16000), (11025, 16000), (16000, 44100), (44100, 48000), (32000, 16000), (16000, 24000), (7, 5)]

    def case(x, a, b, width=6, rolloff=0.99):
        r = torchaudio.transforms.Resample(a, b, lowpass_filter_width=width, rolloff=rolloff)
        y = r(torch.from_numpy(x)).numpy()
        g.columns_case(f"{a}_{b}_{x.shape}_{width}_{rolloff}", {"from_rate": a, "to_rate": b, "width": width, "rolloff": rolloff}, [x], [y])
        if x.shape[-1] < LONG and a != b:
            g.cases[-1] |= {"tolerance": 2.4e-7, "reason": "torch's sums of short sounds depend on the processor"}

    for a, b in rates:
        case(wave(21000, None, 1), a, b)
        case(wave(400, 2, 1), a, b)
    case(wave(25001, 2, 2), 44100, 16000)
    for width, rolloff in ((16, 0.99), (64, 0.9475937167399596), (1, 0.5), (6, 1.0)):
        case(wave(21000, None, 1), 44100, 16000, width, rolloff)
        case(wave(21000, None, 1), 16000, 24000, width, rolloff)
    for n in (1, 5, 160):
        case(wave(n, None, 3), 44100, 16000)
    g.write()


if __name__ == "__main__":
    resample_sinc()
