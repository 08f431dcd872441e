"""Writes the goldens of the ops of MindSpore's transforms on any data: pad_end, fill, mask, concatenate, slice and unique; and those of
tokenize, whose reference is MindSpore's text.

Run with mindspore 2.10.0 (requirements-mindspore.txt). Where MindSpore refuses what NumPy defines, NumPy 2.4.6 is the reference; the
names of these cases begin with numpy. Every run gives the same bytes.
"""

import mindspore.dataset.text as text
import mindspore.dataset.transforms as transforms
import numpy as np
from mindspore.dataset.transforms import Relational

from golden import Golden

# The dtypes that both have, with an input of each.
SHAPES = {"uint8": (5,), "int8": (3, 4), "uint16": (2, 3, 2), "int16": (7,), "int32": (4, 3), "int64": (3, 1, 2), "float16": (6,),
          "float32": (2, 5), "float64": (2, 2, 3), "bool": (4,)}


def array(dtype, shape):
    """A few small numbers, so that many are equal."""
    rng = np.random.default_rng([len(dtype), *map(ord, dtype), *shape])
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    a = rng.integers(0 if dtype[0] == "u" else -4, 5, shape)
    if "float" not in dtype:
        return a.astype(dtype)
    a = (a / 2).astype(dtype)
    a.flat[1] = -0.0
    a.flat[0] = a.flat[a.size // 2] = np.nan
    a.flat[-1] = np.inf
    return a


def holds(dtype, v):
    if "float" in dtype:
        return True
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return v == int(v) and low <= v <= high


def pad_end():
    g = Golden("pad_end", "MindSpore 2.10.0 transforms.PadEnd")
    fills = (0, 1, 200, -3, 0.1, 16777217, -2.5, 60000)
    for dtype, shape in SHAPES.items():
        x = array(dtype, shape)
        deltas = ((0, 0, 0), (1, 2, 3), (-1, 0, 2), (5, -1, 0), (0, 3, -1), (-2, -2, -2), (0, 0, 4), (2, 0, 0))
        for i, delta in enumerate(deltas):
            # As many of the deltas as there are axes; 0 keeps the size.
            params = [0 if d == 0 else max(n + d, 1) for n, d in zip(shape, delta)]
            fill = next(f for f in (*fills[i:], 1) if holds(dtype, f) and (dtype != "float16" or f < 65504))
            want = transforms.PadEnd([p or n for p, n in zip(params, shape)], fill)(x)
            g.case(f"{dtype}_{i}", {"shape": params, "fill": fill}, x, want, "none")
    x = array("int32", (3, 4, 2))
    g.case("hwc", {"shape": [4, 5, 3], "fill": 7}, x, transforms.PadEnd([4, 5, 3], 7)(x), "HWC")
    x = np.array(3, np.int64)
    g.case("scalar", {"shape": [], "fill": 1}, x, transforms.PadEnd([], 1)(x), "none")
    g.write()


def fill():
    g = Golden("fill", "MindSpore 2.10.0 transforms.Fill")
    for dtype, shape in SHAPES.items():
        if dtype == "float16":  # MindSpore refuses it
            continue
        x = array(dtype, shape)
        for v in (0, 1, -1, 100, 200, -32768, 60000, 16777217, 2**53, 0.1, -2.5, 1e-30):
            if holds(dtype, v):
                # MindSpore makes an int of an int, which it casts.
                g.case(f"{dtype}_{v}", {"value": v}, x, transforms.Fill(v)(x), "none")
    x = array("uint8", (3, 4, 2))
    g.case("hwc", {"value": 9}, x, transforms.Fill(9)(x), "HWC")
    x = np.array(3, np.int64)
    g.case("scalar", {"value": 1}, x, transforms.Fill(1)(x), "none")
    g.write()


def mask():
    g = Golden("mask", "MindSpore 2.10.0 transforms.Mask")
    relations = {"eq": Relational.EQ, "ne": Relational.NE, "lt": Relational.LT, "le": Relational.LE, "gt": Relational.GT, "ge": Relational.GE}

    def case(name, x, operator, constant, layout="none"):
        g.case(name, {"operator": operator, "constant": constant}, x, transforms.Mask(relations[operator], constant)(x), layout)

    for dtype, shape in SHAPES.items():
        x = array(dtype, shape)
        for r in relations:
            for v in (0, 1, 0.5, -2):
                if holds(dtype, v):
                    case(f"{dtype}_{r}_{v}", x, r, v)
    # Constants that are rounded to the dtype, and integers that float64 does not have.
    for dtype in ("float16", "float32", "float64"):
        for i, v in enumerate((0.1, 1 + 2**-11 + 2**-40, 1 + 2**-24 + 2**-50)):
            x = np.array([v, np.nextafter(np.array(v, dtype), np.array(2, dtype)), 1, 2], dtype)
            for r in ("eq", "le"):
                case(f"{dtype}_round{i}_{r}", x, r, v)
    x = np.array([2**53 - 1, 2**53, 2**53 + 1, -(2**62)], np.int64)
    for r in relations:
        case(f"int64_large_{r}", x, r, 2**53)
    case("hwc", array("uint8", (3, 4, 2)), "gt", 2, "HWC")
    case("scalar", np.array(3, np.int64), "ge", 3)
    case("long", np.arange(1300).astype(np.int16), "lt", 700)
    g.write()


def concatenate():
    g = Golden("concatenate", "MindSpore 2.10.0 transforms.Concatenate, NumPy 2.4.6 concatenate")
    lists = (([], []), ([1], []), ([], [0]), ([0, 1], [1]), ([2, -3], [4]), ([200], [100, 90, 80]), ([0.1], [0.3]), ([-2.5], [1e-30]), ([1] * 20, [0] * 9))
    for dtype, shape in SHAPES.items():
        x = array(dtype, shape)
        for i, (before, after) in enumerate(lists):
            if not all(holds(dtype, v) for v in (*before, *after)):
                continue
            for axis in range(-1, x.ndim, max(x.ndim - 1, 1)):
                params = {"axis": axis, "prepend": before, "append": after}
                if x.ndim == 1:
                    made = [np.array(v, dtype) if v else None for v in (before, after)]
                    g.case(f"{dtype}_{i}_{axis}", params, x, transforms.Concatenate(axis, *made)(x), "none")
                    continue
                rows = [np.full([1 if a == axis % x.ndim else n for a, n in enumerate(shape)], v, dtype) for v in (*before, *after)]
                want = np.concatenate((*rows[:len(before)], x, *rows[len(before):]), axis)
                g.case(f"numpy_{dtype}_{i}_{axis}", params, x, want, "none")
    g.write()


def python_slice(s):
    if ":" in s:
        return slice(*(int(n) if n else None for n in s.split(":")))
    return [int(n) for n in s.split(",")]


def slices():
    g = Golden("slice", "MindSpore 2.10.0 transforms.Slice, NumPy 2.4.6 indexing")
    one = ("1:3", "0:100:2", "2", "-1", "0,1,0,-1", ":", "0:0", "3:1", "3:0:-1", "-100:2", ":2", "100:0:-2", "-2:100", "4:-100:-1", "2:-1",
           "1:", "::2", "::-1", "-2:", "::-3", "5:", ":-1:2", "-1::-1", "::2147483647")
    two = (("1:3", "0:2"), ("0,-1", "1"), (":", "-1,0"), ("::-1", "::-1"), ("1", ":"), ("0:2", "3:0:-1"))
    three = ((":", "0:1", "-1"), ("0", "0", "0"), ("0:2", ":", "::-1"), ("1,0",))

    def case(name, x, l, layout="none"):
        options = [python_slice(s) for s in l]
        # MindSpore has Ellipsis for all of an axis. Otherwise it wants a stop, and a start if there is a step. A range backwards must
        # start within the axis, and never has the first element.
        theirs = [Ellipsis if o == slice(None) else o for o in options]
        other = False
        want = x
        for axis, o in enumerate(options):
            n = x.shape[axis]
            if isinstance(theirs[axis], slice):
                other |= o.stop is None or o.start is None and o.step is not None or (o.step or 1) < 0 and ((o.start or 0) >= n or o.stop < -n)
            want = want[(slice(None),) * axis + (o,)]
        if other:
            name = "numpy_" + name
        else:
            got = transforms.Slice(*theirs)(x)
            assert np.array_equal(got, want, equal_nan=x.dtype.kind == "f"), (l, got, want)
            want = got
        g.case(name, {"slices": list(l)}, x, want, layout)

    for dtype, shape in SHAPES.items():
        x = array(dtype, shape)
        lists = [(s,) for s in one] if x.ndim == 1 else two if x.ndim == 2 else three
        for i, l in enumerate(lists):
            case(f"{dtype}_{i}", x, l)
    x = array("uint8", (5, 6, 3))
    for i, l in enumerate(((), ("1:3", "2:5"), ("0:5:2", "0:6:2", "2"), (":", ":", "2,1,0"), (":", "5:0:-1"), ("::-1", "::-1"))):
        case(f"hwc_{i}", x, l, "HWC")
        case(f"chw_{i}", np.ascontiguousarray(x.transpose(2, 0, 1)), l[2:] + l[:2], "CHW")
    g.write()


def unique():
    g = Golden("unique", "MindSpore 2.10.0 transforms.Unique")

    def case(name, x, layout="none"):
        # MindSpore wants a batch; the vectors are those of any shape.
        values, index, counts = transforms.Unique()(x.reshape(1, -1))
        g.case(name, {}, x, values, layout, "none", more=(index, counts))

    for dtype, shape in SHAPES.items():
        if dtype == "bool":  # MindSpore refuses it
            continue
        case(dtype, array(dtype, shape))
        case(f"{dtype}_many", array(dtype, (10, 10)))
        case(f"{dtype}_one", np.full((3, 2), 3, dtype))
        if "float" not in dtype:
            i = np.iinfo(dtype)
            case(f"{dtype}_all", np.random.default_rng(1).integers(i.min, i.max, 150, dtype, endpoint=True))
            case(f"{dtype}_range", np.array([i.min, i.max, 0, i.max, i.min], dtype))
            continue
        case(f"{dtype}_zeros", np.array([0.0, -0.0, 1, -1, 0.0, -0.0, -1], dtype))
        case(f"{dtype}_minus", np.array([-0.0, 0.0, 5, np.nan, -np.nan, np.inf, -np.inf, np.inf], dtype))
        case(f"{dtype}_all", np.random.default_rng(1).standard_normal(100).astype(dtype))
    case("hwc", array("uint8", (3, 4, 2)), "HWC")
    g.write()


# Each has white space of Unicode, and what is taken for it elsewhere.
TEXTS = ("Welcome  to 北京!", "", "   ", " \t\n", "a\tb\nc\r\nd\x0be\x0cf", "e\u0301x\U0001f600z \U0010ffff", "unwanted running want", "北北 北",
         "".join(chr(c) + "a" for c in (0x1C, 0x1D, 0x1E, 0x1F, 0x20, 0x85, 0xA0, 0x180E, 0x1680, *range(0x2000, 0x2010), 0x2028, 0x2029, 0x202F,
                                       0x205F, 0x2060, 0x3000, 0xFEFF)),
         "a" * 40 + " " + "want" * 25 + " " + "want" * 25 + "a", "##want want ## #")
VOCABULARIES = (["[UNK]", "un", "##want", "##ed", "runn", "##ing", "want", "##北", "北", "a", "##a", "##", "b"],
                ["", " ", "a", "b", "北", "\U0001f600", "[UNK]", "Welcome", "to", "unwanted", "\u0301"],
                ["want", "##want", "wantw", "##a", "##aa", "a", "aa", "北北"])


def tokenize():
    g = Golden("tokenize", "MindSpore 2.10.0 text.UnicodeCharTokenizer, WhitespaceTokenizer, WordpieceTokenizer and Lookup", "tokenize_mindspore")
    for v, words in enumerate(VOCABULARIES):
        vocabulary = text.Vocab.from_list(words)
        for unknown in (0, 6):
            lookup = text.Lookup(vocabulary, words[unknown])
            rules = [("characters", 100, [text.UnicodeCharTokenizer()]), ("words", 100, [text.WhitespaceTokenizer()])] if unknown else []
            for n in (8, 100) if unknown else (400,):
                rules.append(("pieces", n, [text.WhitespaceTokenizer(), text.WordpieceTokenizer(vocabulary, "##", n, words[unknown])]))
            for rule, n, ops in rules:
                for i, s in enumerate(TEXTS):
                    try:
                        want = np.array(s)
                        for op in (*ops, lookup):
                            want = op(want)
                    except RuntimeError as e:  # a word whose beginning alone is in the vocabulary
                        assert rule == "pieces" and "Out of range" in str(e), (rule, s, e)
                        continue
                    g.encoded_case(f"{v}_{unknown}_{rule}_{n}_{i}", {"rule": rule, "vocabulary": words, "unknown": unknown, "max_bytes": n}, s.encode(), want)
                    g.cases[-1]["out"][0]["layout"] = "none"
    g.write()


if __name__ == "__main__":
    pad_end()
    fill()
    mask()
    concatenate()
    slices()
    unique()
    tokenize()
