"""Makes importer/hf/tokens/testdata/videos/SmolVLM.json, as hf_video_tokens.py does, and words.json: numbers in words.

SmolVLM's processor needs num2words, which is not among the packages of goldens.py: requirements-video-words.txt has it.
"""

import json
import random

import hf_tokens as images
import hf_video_tokens as videos
import num2words

words = num2words.num2words
images.smolvlm.num2words = words


def smolvlm(r, name):
    c = {}
    if r.random() < 0.5:
        c["size"] = r.choice([{"longest_edge": r.randint(20, 120)}, images.hw(r.randint(20, 120), r.randint(20, 120))])
    if r.random() < 0.5:
        c["max_image_size"] = {"longest_edge": r.randint(20, 120)}
    for key in ("do_resize", "do_pad"):
        if r.random() < 0.2:
            c[key] = False
    return c, {"image_seq_len": r.choice([169, 64, 3])}


videos.CLASSES["SmolVLM"] = (smolvlm, {}, "<image>")
videos.main(["SmolVLM"])
r = random.Random(27)
numbers = [*range(1, 131), *(10**i * k for i in range(2, 6) for k in (1, 2, 9)), *(int(10 ** r.uniform(2, 6.02)) for _ in range(300)), 1000005, 1048576]
(videos.OUT / "words.json").write_text("{\n" + ",\n".join(f"{json.dumps(str(n))}: {json.dumps(words(n))}" for n in sorted(set(numbers))) + "\n}\n")
