"""Makes importer/testdata/goldens_torchvision.json: the cases of importers.py and importers_patches.py for hf, with
transformers' torchvision backend.

Needs the packages of importers.py. Takes no arguments; running it again gives the same bytes.
"""

import json
import warnings

import importers_patches as patches

pil = patches._gen

warnings.simplefilter("ignore")


def cases():
    seen = set()
    for make in (pil.hf_cases, pil.detection_cases, patches.common, patches.donut, patches.qwen2vl, patches.siglip2):
        for ecosystem, name, config in make():
            text = json.dumps(config)
            if ecosystem == "hf" and text not in seen:
                seen.add(text)
                yield name.removeprefix("refused: "), text


def main():
    done, refused = [], []
    for n, (name, text) in enumerate(cases()):
        case = {"importer": "hf", "name": name, "config": json.loads(text)}
        results, bug = [], False
        some = list(("rgb.png", "tall.png", "gray.png", "key.png")[n % 4 :][:2])
        for image in some:
            try:
                arrays = pil.importers.hf(json.loads(text))(pil.OUT / image)
            except Exception as e:
                reason = (str(e).splitlines() or [type(e).__name__])[0]
                if "INTERNAL ASSERT" in reason:  # torch cannot scale 3 channels to 1 x 1
                    bug = True
                    continue
                results.append({"image": image, "refused": True})
                if image == some[-1] and image != "key.png" and all("refused" in r for r in results):
                    some.append("key.png")  # a square: does the size matter?
                continue
            outputs = {
                k: {"dtype": str(a.dtype), "shape": list(a.shape), "sha256": pil.importers.digest(a), "values": pil.sample(a)}
                for k, a in arrays.items()
            }
            results.append({"image": image, "outputs": outputs})
        if all("refused" in r for r in results):
            if bug:
                continue
            print(f"{name}: {reason[:150]}")
            refused.append(case)
        else:
            done.append(case | {"results": results})
    lines = [",\n".join(json.dumps(c, separators=(",", ":")) for c in l) for l in (done, refused)]
    (pil.OUT / "goldens_torchvision.json").write_text('{"cases":[\n' + lines[0] + '\n],"refused":[\n' + lines[1] + "\n]}\n")


if __name__ == "__main__":
    main()
