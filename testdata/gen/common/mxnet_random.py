"""The random numbers of MXNet's iterators in C++, for mxnet_aug.py and mxnet_image_iters.py."""

import numpy as np

F = np.float32


class Generator:
    """std::mt19937, and libstdc++'s distributions of floats."""

    def __init__(self, seed):
        self.mt = [seed]
        for i in range(1, 624):
            self.mt.append((1812433253 * (self.mt[-1] ^ self.mt[-1] >> 30) + i) & 0xFFFFFFFF)
        self.at, self.saved = 624, None

    def bits(self):
        if self.at == 624:
            mt = self.mt
            for i in range(624):
                y = mt[i] & 0x80000000 | mt[(i + 1) % 624] & 0x7FFFFFFF
                mt[i] = mt[(i + 397) % 624] ^ y >> 1 ^ (0x9908B0DF if y & 1 else 0)
            self.at = 0
        y = self.mt[self.at]
        self.at += 1
        y ^= y >> 11
        y ^= y << 7 & 0x9D2C5680
        y ^= y << 15 & 0xEFC60000
        return y ^ y >> 18

    def unit(self):
        return min(F(self.bits()) / F(2**32), np.nextafter(F(1), F(0)))

    def uniform(self, a, b):
        return self.unit() * (F(b) - F(a)) + F(a)

    def below(self, n):
        """A whole number below n: std::uniform_int_distribution as GCC had it before 11."""
        scale = 0xFFFFFFFF // n
        while True:
            v = self.bits()
            if v < n * scale:
                return v // scale

    def normal(self, sd):
        if self.saved is not None:
            v, self.saved = self.saved, None
            return v * F(sd)
        while True:
            x, y = F(2) * self.unit() - F(1), F(2) * self.unit() - F(1)
            r = x * x + y * y
            if 0 < r <= 1:
                break
        m = np.sqrt(F(-2) * F(np.log(np.float64(r))) / r)
        self.saved = x * m
        return y * m * F(sd)
