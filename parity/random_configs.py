"""Changes the transformers configurations of testdata/configs/hf at random and compares infer-prep with transformers
5.23.0's default backend: every output of every image is equal, or both refuse it, or infer-prep refuses the
configuration with an error that names the key.

    random_configs.py PROGRAM FOLDER [COUNT]

FOLDER has photographs, of which 10 are used. COUNT is 200 by default. It prints a line for every configuration that is
not equal and the counts, and exits with status 1 if an output differs, if one side alone refuses an image, or if
more than one configuration of fifty is refused by name alone.
"""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np

import importers

warnings.simplefilter("ignore")


def change(config, r):
    """Returns the configuration with two to five of its values changed."""
    c = dict(config)

    def side():
        return r.choice((1, 7, 31, 96, 224, 255, 384)) + r.randint(0, 40)

    def hw():
        return {"height": side(), "width": side()}

    low = side()
    makers = {
        "size": lambda: r.choice((side(), hw(), {"shortest_edge": low}, {"shortest_edge": low, "longest_edge": low + side()}, {"max_height": side(), "max_width": side()})),
        "resample": lambda: r.choice((0, 1, 2, 3, 3, 4)),
        "crop_size": lambda: r.choice((side(), hw())),
        "do_center_crop": lambda: r.random() < 0.5,
        "do_resize": lambda: r.random() < 0.8,
        "do_rescale": lambda: r.random() < 0.7,
        "do_normalize": lambda: r.random() < 0.7,
        "rescale_factor": lambda: r.choice((1 / 255, 1 / 127.5, 0.01, 1)),
        "do_pad": lambda: r.random() < 0.5,
        "pad_size": lambda: {"height": 900 + side(), "width": 900 + side()},
        "image_mean": lambda: r.choice(([0.5] * 3, [0.485, 0.456, 0.406], [r.random() for _ in range(3)])),
        "image_std": lambda: [0.1 + r.random() for _ in range(3)],
        "do_convert_rgb": lambda: r.random() < 0.5,
    }
    for key in r.sample(sorted(makers), r.randint(2, 5)):
        c[key] = makers[key]()
    # Keys that only some classes have: half of those in the file.
    own = {
        "size_divisor": lambda: r.choice((1, 2, 7, 16, 32, 50)),
        "min_size": lambda: r.choice((1, 14, 100)),
        "resize_short": side,
        "image_size": side,
        "max_size": lambda: side() + 300,
        "keep_aspect_ratio": lambda: r.random() < 0.5,
        "ensure_multiple_of": lambda: r.choice((1, 7, 14, 32)),
        "do_flip_channel_order": lambda: r.random() < 0.5,
        "constant_values": lambda: r.choice((0, 0.5, 3)),
        "offset": lambda: r.random() < 0.5,
        "crop_pct": lambda: r.choice((0.7, 0.9, 0.95, 1.0)),
    }
    for key in sorted(own.keys() & config.keys()):
        if r.random() < 0.5:
            c[key] = own[key]()
    return c


def compare(program, config, photos, tmp):
    """Returns the numbers of equal outputs and of images that both refuse, and what differs."""
    file, out = tmp / "preprocessor_config.json", tmp / "out"
    file.write_text(json.dumps(config))
    r = subprocess.run([program, "run", "--hf", str(file), "--outputs", "all", "--format", "safetensors", "--quiet", "-o", str(out), *map(str, photos)],
                       capture_output=True, text=True)
    if r.returncode not in (0, 1, 2):
        return 0, 0, [f"exit status {r.returncode}: {r.stderr[:300]}"]
    try:
        run, why = importers.hf(config), ""
    except Exception as e:
        run, why = None, str(e)
    key = re.search(r"importer: hf: invalid value ([\w.]+: .*)", r.stderr)
    equal, refused, notes = 0, 0, []
    for p in photos:
        want = None
        if run:
            try:
                want = run(p)
            except Exception as e:
                why = (str(e).splitlines() or [type(e).__name__])[0]
        f = out / (p.name + ".safetensors")
        if want is None:
            # torch has a bug with 3 channels to 1 x 1.
            if f.exists() and "INTERNAL ASSERT" not in why:
                notes.append(f"{p.name}: transformers refuses: {why[:150]}")
            else:
                refused += 1
            continue
        if not f.exists():
            if r.returncode == 2 and key:  # the configuration, not this image
                return equal, refused, [f"refused by name: {key[1]}"]
            notes.append(f"{p.name}: infer-prep refuses: {r.stderr[:300]}")
            continue
        have = importers.read(f)
        for k, a in want.items():
            g = have.get(k)
            if g is not None and g.dtype == a.dtype and g.shape == a.shape and g.tobytes() == np.ascontiguousarray(a).tobytes():
                equal += 1
            else:
                notes.append(f"{p.name} {k}: {'missing' if g is None else 'other values or shape'}")
    return equal, refused, notes


def main(program, folder, count="200"):
    photos = [p for p in sorted(pathlib.Path(folder).iterdir()) if p.suffix.lower() in (".jpg", ".jpeg", ".png")]
    photos = photos[:: max(1, len(photos) // 10)][:10]
    configs = sorted((importers.CONFIGS / "hf").glob("*.json"))
    r = random.Random(15)
    equal = refused = bad = named = 0
    for n in range(int(count)):
        name = configs[n % len(configs)]
        config = change(json.loads(name.read_text()), r)
        with tempfile.TemporaryDirectory() as tmp:
            e, d, notes = compare(program, config, photos, pathlib.Path(tmp))
        equal, refused = equal + e, refused + d
        by_name = bool(notes) and notes[0].startswith("refused by name")
        named, bad = named + by_name, bad + (bool(notes) and not by_name)
        if notes:
            print(f"{name.stem}: {json.dumps(config)}")
            for line in notes[:3]:
                print(f"    {line}")
    print(f"{count} configurations of {importers.who(configs[0])}, {len(photos)} images: {equal} outputs equal, {refused} images refused by both, "
          f"{named} configurations refused by name, {bad} differ")
    return bad > 0 or named > int(count) / 50


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
