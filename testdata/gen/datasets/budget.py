"""Makes testdata/datasets/budget.json: the batches that fairseq's batch_by_size makes of sentences, by max_tokens and
max_sentences. fairseq 0.6.2 (requirements-budget.txt, requirements-budget-no-deps.txt).

"batches" has the numbers of the sentences in each batch; it is null where fairseq refuses a sentence as too long.
"""

import importlib.util
import json
import os
import random

OUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "..", "datasets", "budget.json")

# The module alone: importing the package needs torch.
folder = importlib.util.find_spec("fairseq").submodule_search_locations[0]
spec = importlib.util.spec_from_file_location("data_utils", os.path.join(folder, "data", "data_utils.py"))
data_utils = importlib.util.module_from_spec(spec)
spec.loader.exec_module(data_utils)

rng = random.Random(5)
cases = []
for n, longest, tokens, sentences in (
    (15, 12, 24, None), (15, 12, 12, None), (40, 9, 30, None), (40, 9, 30, 4), (40, 9, 1000, 7), (40, 9, 1000, None),
    (30, 1, 8, None), (30, 20, 25, 1), (1, 5, 5, None), (0, 5, 5, None), (20, 12, 9, None), (60, 30, 64, 3),
):
    lengths = [rng.randint(1, longest) for _ in range(n)]
    for order in (lengths, sorted(lengths), sorted(lengths, reverse=True)):
        try:
            batches = list(data_utils.batch_by_size(range(n), lambda i: order[i], tokens, sentences))
        except AssertionError:
            batches = None
        cases.append({"lengths": order, "tokens": tokens, "sentences": sentences or 0, "batches": batches})
with open(OUT, "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
