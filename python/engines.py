"""Compares what inference engines make of images with and without infer_prep.transformers.register(replace=True).

usage: engines.py                      vLLM and SGLang, on the CPU; exit status 1 unless all results are equal
       engines.py ENGINE FOLDER OUT    (for itself) writes the results of one engine without infer_prep
       engines.py ENGINE FOLDER OUT register

The models are made here: configurations and processors as transformers saves them, with tokenizers of a few words. No
weights are needed, since the engines' own input processors run alone.
"""

import io
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import warnings

os.environ.update(HF_HUB_OFFLINE="1", VLLM_TARGET_DEVICE="cpu", VLLM_LOGGING_LEVEL="ERROR")

ENGINES = os.environ.get("ENGINES", "vllm sglang").split()
WORDS = ["<unk>", "<pad>", "<s>", "</s>", "what", "is", "this", "user", ":", "\n", "\n\n", "\n\n\n", "\n\n\n\n"]
FIRST = len(WORDS)  # the number of the first special token
TINY = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
SIZES = (480, 640), (300, 200), (224, 224), (1000, 333), (56, 1100)
# The images of a request, by their numbers.
REQUESTS = [0], [1], [2], [3], [4], [0, 1]


def tokenizer(special, **names):
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    t = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS + special)}, unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    t.add_special_tokens(special)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=t, unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>",
                                                additional_special_tokens=special, extra_special_tokens=names)


def families():
    """Yields each family's name, its architecture, configuration, processor, and the text of an image."""
    import transformers as hf

    text = TINY | {"num_key_value_heads": 2, "pad_token_id": 1, "bos_token_id": 2, "eos_token_id": 3, "max_position_embeddings": 16384}
    clip = hf.CLIPVisionConfig(**TINY, image_size=336, patch_size=14)

    def siglip(size):
        return hf.SiglipVisionConfig(**TINY, image_size=size, patch_size=14)

    t = tokenizer(["<image>"])
    llama = hf.LlamaConfig(**text, vocab_size=len(t))
    yield ("llava", "LlavaForConditionalGeneration", hf.LlavaConfig(vision_config=clip, image_token_index=FIRST, text_config=llama),
           hf.LlavaProcessor(hf.CLIPImageProcessor(size={"shortest_edge": 336}, crop_size=336), t, patch_size=14, vision_feature_select_strategy="default",
                             num_additional_image_tokens=1), "<image>")
    pins = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
    yield ("llava_next", "LlavaNextForConditionalGeneration",
           hf.LlavaNextConfig(vision_config=clip, image_token_index=FIRST, image_grid_pinpoints=pins, text_config=llama),
           hf.LlavaNextProcessor(hf.LlavaNextImageProcessor(size={"shortest_edge": 336}, crop_size=336, image_grid_pinpoints=pins), t, patch_size=14,
                                 vision_feature_select_strategy="default", num_additional_image_tokens=1), "<image>")
    t = tokenizer(["<image>", "<video>"])
    pins = [[384, 384], [384, 768], [768, 384], [768, 768]]
    yield ("llava_onevision", "LlavaOnevisionForConditionalGeneration",
           hf.LlavaOnevisionConfig(vision_config=siglip(384), image_token_index=FIRST, video_token_index=FIRST + 1, image_grid_pinpoints=pins,
                                   text_config=hf.Qwen2Config(**text, vocab_size=len(t))),
           hf.LlavaOnevisionProcessor(hf.LlavaOnevisionImageProcessor(size={"height": 384, "width": 384}, image_grid_pinpoints=pins), t,
                                      hf.LlavaOnevisionVideoProcessor(), num_image_tokens=729, vision_feature_select_strategy="full"), "<image>")
    t = tokenizer(["[IMG]", "[IMG_BREAK]", "[IMG_END]"])
    yield ("pixtral", "LlavaForConditionalGeneration",
           hf.LlavaConfig(vision_config=hf.PixtralVisionConfig(**TINY, image_size=1024, patch_size=16), image_token_index=FIRST, vision_feature_layer=-1,
                          vision_feature_select_strategy="full", text_config=hf.MistralConfig(**text, vocab_size=len(t))),
           hf.PixtralProcessor(hf.PixtralImageProcessor(size={"longest_edge": 1024}, patch_size={"height": 16, "width": 16}), t, patch_size=16), "[IMG]")
    t = tokenizer(["<start_of_image>", "<image_soft_token>", "<end_of_image>"], boi_token="<start_of_image>", image_token="<image_soft_token>",
                  eoi_token="<end_of_image>")
    yield ("gemma3", "Gemma3ForConditionalGeneration",
           hf.Gemma3Config(vision_config=siglip(896), text_config=hf.Gemma3TextConfig(**text, head_dim=32, vocab_size=len(t)), mm_tokens_per_image=256,
                           boi_token_index=FIRST, image_token_index=FIRST + 1, eoi_token_index=FIRST + 2),
           hf.Gemma3Processor(hf.Gemma3ImageProcessor(size={"height": 896, "width": 896}), t, image_seq_length=256), "<start_of_image>")
    special = ["<fake_token_around_image>", "<image>", "<global-img>", "<end_of_utterance>"]
    t = tokenizer(special + [f"<row_{i}_col_{j}>" for i in range(1, 8) for j in range(1, 8)], fake_image_token=special[0], image_token=special[1],
                  global_image_token=special[2], end_of_utterance_token=special[3])
    yield ("idefics3", "Idefics3ForConditionalGeneration",
           hf.Idefics3Config(vision_config=TINY | {"image_size": 364, "patch_size": 14}, text_config=hf.LlamaConfig(**text, vocab_size=len(t)),
                             image_token_id=FIRST + 1, scale_factor=2),
           hf.Idefics3Processor(hf.Idefics3ImageProcessor(), t, image_seq_len=169), "<image>")
    special = ["<|vision_start|>", "<|image_pad|>", "<|video_pad|>", "<|vision_end|>"]
    t = tokenizer(special, vision_start_token=special[0], image_token=special[1], video_token=special[2], vision_end_token=special[3])
    ids = {"vision_start_token_id": FIRST, "image_token_id": FIRST + 1, "video_token_id": FIRST + 2, "vision_end_token_id": FIRST + 3}
    text |= {"vocab_size": len(t), "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 6, 6]}}
    vision = {"depth": 2, "hidden_size": 64, "num_heads": 2}
    wide = vision | {"out_hidden_size": 64, "intermediate_size": 64}
    for name, config, processor, images, videos in [
        ("Qwen2VL", hf.Qwen2VLConfig(**ids, text_config=text, vision_config=vision | {"embed_dim": 64}), hf.Qwen2VLProcessor, hf.Qwen2VLImageProcessor(),
         hf.Qwen2VLVideoProcessor()),
        ("Qwen2_5_VL", hf.Qwen2_5_VLConfig(**ids, text_config=text, vision_config=wide), hf.Qwen2_5_VLProcessor, hf.Qwen2VLImageProcessor(),
         hf.Qwen2VLVideoProcessor()),
        ("Qwen3VL", hf.Qwen3VLConfig(**ids, text_config=text | {"head_dim": 32}, vision_config=wide | {"deepstack_visual_indexes": [0]}), hf.Qwen3VLProcessor,
         hf.Qwen2VLImageProcessor(patch_size=16, image_mean=[0.5] * 3, image_std=[0.5] * 3), hf.Qwen3VLVideoProcessor()),
    ]:
        yield (name, name + "ForConditionalGeneration", config, processor(images, t, videos), "<|vision_start|> <|image_pad|> <|vision_end|>")


def save(root):
    """Writes a folder for each family, and families.json: {name: text of an image}."""
    texts = {}
    for name, architecture, config, processor, image in families():
        config.architectures = [architecture]
        config.save_pretrained(root / name)
        processor.save_pretrained(root / name)
        texts[name] = f"user : {image} what is this "
    (root / "families.json").write_text(json.dumps(texts))


def plain(x):
    """A value that can be compared after pickling."""
    import torch

    if isinstance(x, torch.Tensor):
        return str(x.dtype), tuple(x.shape), x.contiguous().view(-1).view(torch.uint8).numpy().tobytes()
    if hasattr(x, "tobytes"):
        return str(x.dtype), x.shape, x.tobytes()
    if isinstance(x, (list, tuple)):
        return [plain(y) for y in x]
    return x


def vllm(folder):
    """vLLM's processor of a model: from text and images to token numbers and tensors, and the image processor within."""
    from vllm.config import ModelConfig
    from vllm.multimodal import MULTIMODAL_REGISTRY

    config = ModelConfig(model=folder, tokenizer=folder, seed=0, dtype="float32", max_model_len=16384, limit_mm_per_prompt={"image": 2})
    p = MULTIMODAL_REGISTRY.create_processor(config)

    def run(text, images):
        out = p(text, mm_items=p.info.parse_mm_data({"image": images}), hf_processor_mm_kwargs={})
        return out["prompt_token_ids"], sorted((k, plain(v)) for k, v in out["mm_kwargs"].get_data().items())

    return run, p.info.get_hf_processor().image_processor


def sglang(folder):
    """The same for SGLang, or None if it has no processor of the model."""
    import logging

    import transformers
    from sglang.srt.managers import multimodal_processor
    from sglang.srt.runtime_context import publish
    from sglang.srt.server_args import ServerArgs
    from sglang.srt.utils.hf_transformers_utils import get_processor

    if not multimodal_processor.PROCESSOR_MAPPING:
        logging.disable(logging.WARNING)
        multimodal_processor.import_processors("sglang.srt.multimodal.processors")
    config = transformers.AutoConfig.from_pretrained(folder)
    found = [p for m, p in multimodal_processor.PROCESSOR_MAPPING.items() if m.__name__ == config.architectures[0]]
    if not found:
        return None
    args = ServerArgs(model_path=folder, device="cpu")
    publish(args, role="tokenizer")
    p = get_processor(folder)
    processor = found[0](config, args, p, "default")
    processor = getattr(processor, "inner", processor)

    def llava(text, images):  # its own code around the image processor
        out, pins = [], str(getattr(config, "image_grid_pinpoints", [[336, 672]]))
        for image in images:
            file = io.BytesIO()
            image.save(file, "PNG")
            for ratio in None, "pad", "anyres":
                made = processor._preprocess_image_task(file.getvalue(), 0, ratio, pins, p)
                if made is None or made[0] is None:
                    raise ValueError(f"SGLang made nothing of an image for image_aspect_ratio {ratio}")
                out.append(plain(made))
        return out

    def run(text, images):
        return sorted((k, plain(v)) for k, v in processor.process_mm_data(text, images=images).items())

    return llava if hasattr(processor, "_preprocess_image_task") else run, p.image_processor


def results(engine, root):
    """{family: (module of the image processor's class, results)}, or {family: (reason, None)}."""
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(0)
    images = [Image.fromarray(rng.integers(0, 256, (h, w, 3), np.uint8)) for h, w in SIZES]
    found = {}
    for name, text in json.loads((root / "families.json").read_text()).items():
        try:
            made = {"vllm": vllm, "sglang": sglang}[engine](str(root / name))
        except Exception as e:  # noqa: BLE001: an engine has errors of many types
            found[name] = f"{type(e).__name__}: {str(e)[:200]}", None
            continue
        if made is None:
            found[name] = "has no processor of this model", None
            continue
        run, processor = made
        found[name] = type(processor).__module__, [run(text * len(r), [images[i] for i in r]) for r in REQUESTS]
    return found


def main():
    if len(sys.argv) > 1:
        engine, root, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
        if len(sys.argv) > 4:
            import infer_prep.transformers

            warnings.simplefilter("error", infer_prep.transformers.FallbackWarning)
            infer_prep.transformers.register(replace=True)
        out.write_bytes(pickle.dumps(results(engine, root)))
        return 0
    bad = 0
    with tempfile.TemporaryDirectory() as d:
        root = pathlib.Path(d)
        save(root)
        for engine in ENGINES:
            both = []
            for more in [], ["register"]:
                p = subprocess.run([sys.executable, __file__, engine, d, str(root / "out"), *more], capture_output=True, text=True)
                if p.returncode:
                    print(f"{engine}: exit status {p.returncode}\n{p.stderr[-2000:]}")
                    return 1
                both.append(pickle.loads((root / "out").read_bytes()))
            for name, (where, want) in both[0].items():
                module, got = both[1][name]
                if want is None:
                    absent = where == "has no processor of this model"
                    bad += not absent
                    print(f"{engine} {name}: {where}")
                    continue
                equal = got == want and module == "infer_prep.transformers" and where != module
                bad += not equal
                print(f"{engine} {name}: {len(want)} requests of {module}: {'equal' if equal else 'DIFFERENT'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
