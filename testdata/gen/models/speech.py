"""Makes testdata/speech: two small models of sound with their feature extractors, sounds, and what transformers and
ONNX's reference evaluator return for them. The bundles of testdata/bundle are made of them.

Run with NumPy 2.4.6, transformers 5.23.0 and onnx 1.23.2. Whisper runs its path without torch. Every run gives the same
bytes.
"""

import io
import json
import pathlib
import struct
import wave

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from transformers import Wav2Vec2FeatureExtractor, WhisperFeatureExtractor
from transformers.models.whisper import feature_extraction_whisper

from golden import digest
from sound import integers

OUT = pathlib.Path(__file__).resolve().parents[2] / "speech"
RATE = 16000
feature_extraction_whisper.is_torch_available = lambda: False


def wav(x):
    """A WAV file of 16 bits."""
    f = io.BytesIO()
    with wave.open(f, "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(RATE)
        w.writeframes(x.astype("<i2").tobytes())
    return f.getvalue()


def crc(data, bits, polynomial):
    c, top, mask = 0, 1 << (bits - 1), (1 << bits) - 1
    for b in data:
        c ^= b << (bits - 8)
        for _ in range(8):
            c = (c << 1 ^ polynomial if c & top else c << 1) & mask
    return c


def flac(x):
    """A FLAC file of one frame of 16 bits, whose subframe is verbatim."""
    n = len(x)
    info = struct.pack(">HH", n, n) + bytes(6) + (RATE << 44 | 0 << 41 | 15 << 36 | n).to_bytes(8, "big") + bytes(16)
    # A block size of 16 bits at the end of the header, the rate of STREAMINFO, one channel of 16 bits, frame 0.
    head = b"\xff\xf8" + bytes([0x70, 0x08, 0]) + struct.pack(">H", n - 1)
    head += bytes([crc(head, 8, 0x07)])
    frame = head + b"\x02" + x.astype(">i2").tobytes()
    return b"fLaC" + b"\x80" + len(info).to_bytes(3, "big") + info + frame + struct.pack(">H", crc(frame, 16, 0x8005))


# As libsndfile reads them: divided by 32768.
SOUNDS = {"speech.wav": (wav, integers("speech", 4000)), "noise.flac": (flac, integers("noise", 3000)), "sweep.wav": (wav, integers("sweep", 2000))}


def weights(shape, seed, scale):
    """Numbers that are exact in float32."""
    n = int(np.prod(shape))
    return (((np.arange(n, dtype=np.int64) * 7919 + seed) * 104729 % 257 - 128) / 128 * scale).astype(np.float32).reshape(shape)


def model(name, inputs, nodes, initializers):
    g = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info(inputs[0], TensorProto.FLOAT, inputs[1])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 3])], [numpy_helper.from_array(v, k) for k, v in initializers.items()])
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", 18)], producer_name="speech", ir_version=8)


def wav2vec2():
    """Convolutions over the samples, a mean over time, a product."""
    nodes = [
        helper.make_node("Unsqueeze", ["input_values", "axis"], ["channel"]),
        helper.make_node("Conv", ["channel", "w1"], ["c1"], strides=[5]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], strides=[2]),
        helper.make_node("Relu", ["c2"], ["r2"]),
        helper.make_node("GlobalAveragePool", ["r2"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("MatMul", ["flat", "v"], ["logits"]),
    ]
    return model("wav2vec2", ("input_values", ["batch", "samples"]), nodes, {
        "axis": np.array([1], np.int64), "w1": weights((4, 1, 10), 1, 0.5), "w2": weights((4, 4, 3), 2, 0.5), "v": weights((4, 3), 3, 2)})


def whisper():
    """A convolution over the frames of log-mel, a mean over time, a product."""
    nodes = [
        helper.make_node("Conv", ["input_features", "w"], ["c"], strides=[2]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("MatMul", ["flat", "v"], ["logits"]),
    ]
    return model("whisper", ("input_features", ["batch", 80, 100]), nodes, {"w": weights((4, 80, 3), 4, 0.125), "v": weights((4, 3), 5, 2)})


MODELS = {
    "wav2vec2": (Wav2Vec2FeatureExtractor, {"feature_extractor_type": "Wav2Vec2FeatureExtractor", "sampling_rate": RATE, "do_normalize": True}, wav2vec2),
    "whisper": (WhisperFeatureExtractor, {"feature_extractor_type": "WhisperFeatureExtractor", "sampling_rate": RATE, "chunk_length": 1}, whisper),
}


def main():
    expected = {}
    for name, (kind, x) in SOUNDS.items():
        (OUT / "sounds").mkdir(parents=True, exist_ok=True)
        (OUT / "sounds" / name).write_bytes(kind(x))
    for name, (extractor, config, make) in MODELS.items():
        folder = OUT / name
        folder.mkdir(exist_ok=True)
        (folder / "preprocessor_config.json").write_text(json.dumps(config, indent=1) + "\n")
        m = make()
        (folder / "model.onnx").write_bytes(m.SerializeToString(deterministic=True))
        run = ReferenceEvaluator(m)
        extract = extractor(**{k: v for k, v in config.items() if k != "feature_extractor_type"})
        column = m.graph.input[0].name
        results = {}
        for sound, (_, x) in SOUNDS.items():
            t = extract((x / 32768).astype(np.float32), sampling_rate=RATE, return_tensors="np")[column]
            logits = run.run(None, {column: t})[0][0]
            results[sound] = {"tensor": digest(t[0]), "logits": [round(float(v), 4) for v in logits]}
        expected[name] = {"input": column, "sounds": results}
    (OUT / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
