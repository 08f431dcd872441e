"""Writes the goldens of uniform_temporal_subsample and of tokenize: torchvision's class, Python's ord and split, and tokenizers' WordPiece.
Run with torchvision 0.29.2 and tokenizers 0.23.3, on a CPU with fused multiply-add. Every run gives the same bytes.
"""

import itertools

import numpy as np
import torch
from tokenizers.models import WordPiece
from torchvision.transforms import v2

from golden import Golden

DTYPES = ("uint8", "float32", "int16", "float64", "int64", "bool", "float16", "int32")


def frames(dtype, shape):
    """Frames whose number is in every element."""
    t = np.arange(shape[-4]).reshape(-1, 1, 1, 1)
    return np.broadcast_to(t % 2 if dtype == "bool" else t, shape).astype(dtype)


def uniform_temporal_subsample():
    g = Golden("uniform_temporal_subsample", "torchvision 0.29.2 v2.UniformTemporalSubsample, torch 2.15.0")

    def case(name, x, n):
        want = v2.UniformTemporalSubsample(n)(torch.from_numpy(x.copy())).numpy()
        g.case(name, {"samples": n}, x, want, "none")

    shapes = ((7, 3, 2, 2), (1, 3, 1, 2), (16, 1, 2, 1), (30, 2, 1, 1), (2, 5, 1, 2, 3), (2, 1, 10, 1, 1, 1), (3, 2, 2, 3), (100, 1, 1, 1))
    for (dtype, shape), n in itertools.product(zip(DTYPES, shapes), (1, 2, 3, 5, 8, 16, 33, 100)):
        case(f"{dtype}_{'x'.join(map(str, shape))}_{n}", frames(dtype, shape), n)
    # Sizes where the product of linspace, rounded before the sum, leads to another frame.
    for t, n in ((3, 15), (3, 27), (5, 31), (5, 53), (9, 113), (17, 127), (300, 299), (257, 129)):
        case(f"fused_{t}_{n}", frames("int16", (t, 1, 1, 1)), n)
    rng = np.random.default_rng(1)
    case("noise", rng.integers(0, 256, (9, 2, 3, 4), np.uint8), 4)
    g.write()


TEXTS = ("", "abc", "Welcome  to 北京!", "e\u0301\U0001f600\U0010ffff", "\x00\x7f\x80\u07ff\u0800\uffff\ud7ff\ue000", " \t\r\n", "ж" * 30)
WORDS = (["[UNK]", "un", "##want", "##ed", "runn", "##ing", "want", "##北", "北", "a", "##a", "##", "b"],
         ["want", "##want", "wantw", "##a", "##aa", "a", "aa", "北北", "[UNK]"],
         ["[UNK]", "##b", "a", "##c", "##bc", "abcd", "##d"])
PIECES = ("unwanted running", "unwantedX a", "ab ba aab", "want ## # ##want", "北北北 北x", "aaaaaa wantwant wantwa", "abc abcd abcdd abx x", "a" * 99 + " " + "a" * 101)

LETTERS = ["<unk>", "a", "b", "今", "天", "e\u0301"[1], "\U0001f600"]
LABELS = ("a b", "今 天\u3000天气", " \t\n\x0b\x0c\ra\x85\xa0b\u1680\u2000\u200a\u2028\u2029\u202f\u205f", "ab\u200bba", "e\u0301 \U0001f600", "c")


def tokenize():
    g = Golden("tokenize", "Python 3.11 ord, split; tokenizers 0.23.3 WordPiece")

    def case(name, params, s, ids):
        g.encoded_case(name, params, s.encode(), np.array(ids, np.int32))
        g.cases[-1]["out"][0]["layout"] = "none"

    for i, s in enumerate(TEXTS):
        case(f"code_points_{i}", {"rule": "code_points", "vocabulary": [], "unknown": -1, "max_bytes": 100}, s, [ord(c) for c in s])
    for v, words in enumerate(WORDS):
        model = WordPiece({w: i for i, w in enumerate(words)}, unk_token="[UNK]", max_input_chars_per_word=100)
        for i, s in enumerate(PIECES):
            params = {"rule": "pieces", "vocabulary": words, "unknown": words.index("[UNK]"), "max_bytes": 100}
            case(f"pieces_{v}_{i}", params, s, [t.id for w in s.split(" ") for t in model.tokenize(w)])
    for i, s in enumerate(LABELS):
        letters = "".join(s.split())
        params = {"rule": "letters", "vocabulary": LETTERS, "unknown": 0, "max_bytes": 100}
        case(f"letters_{i}", params, s, [LETTERS.index(c) if c in LETTERS else 0 for c in letters])
    g.write()


if __name__ == "__main__":
    uniform_temporal_subsample()
    tokenize()
