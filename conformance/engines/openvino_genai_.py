"""OpenVINO GenAI's image preprocessing, which its pipelines alone run: EmbeddingPipeline with a model that returns what it gets.

The model's folder has the configuration as transformers saves it, which is what optimum-cli writes. Its networks hand on
the patches or pixels, so that the embedding of an image is the preprocessed image. Text has NaN as its embedding.
With VISION_PREPROCESS=CPP, which GenAI documents for comparisons of accuracy, Qwen2-VL's images are resized by C++
code in place of OpenVINO's operators.
"""

import json
import os
import pathlib
import tempfile

import common
import numpy as np
import openvino as ov
import openvino_genai as genai
from common import want
from openvino import opset15 as op
from openvino_tokenizers import convert_tokenizer
from PIL import Image
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

SPECIAL = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>", "<image>", "<start_of_image>", "<image_soft_token>", "<end_of_image>"]
# GenAI's type of a model by the class of transformers' image processor.
TYPES = {"Qwen2VLImageProcessor": "qwen2_vl", "CLIPImageProcessor": "llava", "Gemma3ImageProcessor": "gemma3"}


def ints(*n):
    return op.constant(np.array(n, np.int64))


def parameter(name, shape, dtype=np.float32):
    p = op.parameter(shape, dtype, name=name)
    p.output(0).get_tensor().set_names({name})
    return p


def save(folder, name, inputs, output, output_name):
    output.output(0).get_tensor().set_names({output_name})
    ov.save_model(ov.Model([op.result(output.output(0))], inputs), folder / f"openvino_{name}_model.xml", compress_to_fp16=False)


def words(folder):
    """A tokenizer of bytes and of GenAI's special tokens."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    t = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(letters)}, merges=[]))
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    there, back = convert_tokenizer(PreTrainedTokenizerFast(tokenizer_object=t, additional_special_tokens=SPECIAL, eos_token=SPECIAL[1]), with_detokenizer=True)
    ov.save_model(there, folder / "openvino_tokenizer.xml")
    ov.save_model(back, folder / "openvino_detokenizer.xml")


def language(folder, hidden, positions):
    """Text has NaN as its embedding. The language model returns all that it gets, and the number of tokens at the end."""
    tokens = parameter("input", [-1, -1], np.int64)
    nothing = op.broadcast(op.constant(np.float32(np.nan)), op.concat([op.shape_of(tokens), ints(hidden)], 0))
    save(folder, "text_embeddings", [tokens], nothing, "inputs_embeds")
    x, mask = parameter("inputs_embeds", [-1, -1, hidden]), parameter("attention_mask", [-1, -1], np.int64)
    inputs, parts = [x, mask], [x]
    if positions:
        inputs.append(parameter("position_ids", [-1, -1, -1], np.int64))
        parts.append(op.convert(inputs[-1], np.float32))
    parts.append(op.convert(op.gather(op.shape_of(mask), ints(1), ints(0)), np.float32))
    save(folder, "language", inputs, op.concat([op.reshape(p, ints(1, 1, -1), False) for p in parts], 2), "logits")


class Model:
    def __init__(self, config):
        self.kind = TYPES.get(config.get("image_processor_type", ""))
        want(self.kind, f"no type of models for {config.get('image_processor_type')}")
        self.config = config
        with tempfile.TemporaryDirectory() as tmp:
            folder = pathlib.Path(tmp)
            words(folder)
            (folder / "preprocessor_config.json").write_text(json.dumps(config))
            hidden = self.qwen(folder) if self.kind == "qwen2_vl" else self.fixed(folder)
            (folder / "config.json").write_text(json.dumps({"model_type": self.kind, "hidden_size": hidden}))
            self.hidden = hidden
            language(folder, hidden, self.kind == "qwen2_vl")
            # Without the hint the CPU may compute in bfloat16.
            self.pipeline = genai.EmbeddingPipeline(folder, "CPU", pooling_type=genai.TextEmbeddingPipeline.PoolingType.CLS, normalize=False, INFERENCE_PRECISION_HINT="f32")

    def qwen(self, folder):
        c = self.config
        self.width, self.merge = 3 * c["temporal_patch_size"] * c["patch_size"] ** 2, c["merge_size"]
        x = parameter("hidden_states", [-1, self.width])
        save(folder, "vision_embeddings", [x], op.reshape(x, ints(-1, self.width), False), "last_hidden_state")
        x, mask, angles = parameter("hidden_states", [-1, self.width]), parameter("attention_mask", [-1, -1, -1]), parameter("rotary_pos_emb", [-1, 40])
        hidden = self.width * self.merge**2
        unused = op.multiply(op.add(op.reduce_sum(mask, ints(0, 1, 2), False), op.reduce_sum(angles, ints(0, 1), False)), op.constant(np.float32(0)))
        save(folder, "vision_embeddings_merger", [x, mask, angles], op.add(op.reshape(x, ints(-1, hidden), False), unused), "last_hidden_state")
        return hidden

    def fixed(self, folder):
        size = self.config.get("crop_size" if self.kind == "llava" else "size") or {}
        want(not self.config.get("do_pan_and_scan"), "no pan and scan")
        want("height" in size, "the sizes of this configuration")
        want(self.kind == "gemma3" or "shortest_edge" in (self.config.get("size") or {}), "the sizes of this configuration")
        self.shape = size["height"], size["width"]
        x = parameter("pixel_values", [-1, 3, *self.shape])
        hidden = self.shape[0] * self.shape[1]
        save(folder, "vision_embeddings", [x], op.reshape(x, ints(-1, 3, hidden), False), "last_hidden_state")
        return hidden

    def __call__(self, image):
        got = np.array(self.pipeline.embed("", images=[ov.Tensor(image[None])]).embeddings.data[0])
        n = int(got[-1])
        rows = got[: n * self.hidden].reshape(n, self.hidden)
        patches = ~np.isnan(rows[:, 0])
        if self.kind == "llava":
            return {"pixel_values": rows[patches].reshape(3, *self.shape)}
        if self.kind == "gemma3":  # it has no crops
            return {"pixel_values": rows[patches].reshape(1, 3, *self.shape), "num_crops": np.int64(0)}
        _, y, x = got[n * self.hidden : -1].reshape(3, n)[:, patches]
        grid = [1, *(int(a.max() - a.min() + 1) * self.merge for a in (y, x))]
        return {"pixel_values": rows[patches].reshape(-1, self.width), "image_grid_thw": np.array(grid, np.int64)}


last = [None, None]  # one model at a time: each takes memory


def model(config):
    key = json.dumps(config, sort_keys=True)
    if last[0] != key:
        last[:] = None, None
        last[:] = key, Model(config)
    return last[1]


def processor(task, files):
    return model(task["saved"])(np.asarray(Image.open(files[0]).convert("RGB")))


def sizes(task, _):
    return np.array([model(task["saved"])(np.zeros((h, w, 3), np.uint8))["pixel_values"].shape for h, w in task["sizes"]], np.int64)


def tokens(task, _):
    config = task["processor"].get("image_processor") or {}
    want(task["processor"].get("processor_class") in ("Qwen2VLProcessor", "Qwen2_5_VLProcessor") and not task["call"], f"no tokens of {task['processor'].get('processor_class')}")
    want("merge_size" in config and "patch_size" in config, "no saved configuration")
    return np.array([len(model(config)(np.zeros((h, w, 3), np.uint8))["pixel_values"]) // config["merge_size"] ** 2 for h, w in task["sizes"]], np.int64)


HOW = "VISION_PREPROCESS=CPP; " if os.environ.get("VISION_PREPROCESS") == "CPP" else ""
common.serve("OpenVINO GenAI" + (" in C++" if HOW else ""), genai.__version__.split("-")[0], HOW + "EmbeddingPipeline of the types qwen2_vl, llava (CLIPImageProcessor) and gemma3 with the saved preprocessor_config.json, "
             "and networks that hand on what they get; CPU, f32", {"processor": processor, "sizes": sizes, "tokens": tokens})
