import hashlib
import io
import json
import wave

import conftest
import numpy as np
import pytest

from infer_prep import Graph, InferPrepError

SPEECH = conftest.ROOT / "testdata" / "speech"
EXPECTED = json.loads((SPEECH / "expected.json").read_text())


def read(name):
    """The samples of a WAV file of 16 bits."""
    with wave.open(str(SPEECH / "sounds" / name)) as w:
        return np.frombuffer(w.readframes(w.getnframes()), "<i2")


def ramp(n, channels=None):
    x = np.arange(n * (channels or 1), dtype=np.int64) * 7919 % 60001 - 30000
    return (x if channels is None else x.reshape(channels, n)).astype(np.int16)


@pytest.mark.parametrize("model", EXPECTED)
def test_models(model):
    """The tensors are those of transformers, from files and from samples."""
    bundle = Graph.from_bundle(conftest.ROOT / "testdata" / "bundle" / f"{model}.bundle")
    imported = Graph.from_hf(SPEECH / model)
    for name, want in EXPECTED[model]["sounds"].items():
        a = bundle.run((SPEECH / "sounds" / name).read_bytes(), as_dict=True)[EXPECTED[model]["input"]]
        assert hashlib.sha256(a.tobytes()).hexdigest() == want["tensor"]["sha256"] and list(a.shape) == want["tensor"]["shape"]
        if not name.endswith(".wav"):
            continue
        ints = read(name)
        floats = ints.astype(np.float32) / np.float32(32768)
        for samples in ints, ints[None], floats, floats[None], np.repeat(floats, 2)[::2], floats.astype(">f4"), ints.astype(">i2"):
            for g in bundle, imported:
                assert np.array_equal(g.run(samples, sampling_rate=16000), a)
    batch = [(SPEECH / "sounds" / n).read_bytes() for n in EXPECTED[model]["sounds"]]
    if model == "whisper":  # pads all sounds to one length
        assert np.array_equal(bundle.run_batch(batch), [bundle.run(f) for f in batch])


def test_channels():
    """Channels become the mean, as of a file of the same samples."""
    g = Graph.from_ops(("decode_sound", {"sampling_rate": 8000}))
    assert g.columns[0].name == "sound"
    x = ramp(100, 3)
    f = io.BytesIO()
    with wave.open(f, "wb") as w:
        w.setnchannels(3), w.setsampwidth(2), w.setframerate(8000)
        w.writeframes(x.T.astype("<i2").tobytes())
    want = x.astype(np.float32) / np.float32(32768)
    assert np.array_equal(g.run(f.getvalue()), want)
    for samples in x, want, np.asfortranarray(x), x.T.copy().T:
        assert np.array_equal(g.run(samples, sampling_rate=8000), want)
    odd = np.array([[np.inf, -0.0, 1e-42, 3.5]], np.float32)  # floating point is not clipped
    assert g.run(odd, sampling_rate=np.int64(8000)).tobytes() == odd.tobytes()
    assert g.run(np.zeros(0, np.float32), sampling_rate=8000).shape == (1, 0)
    out = np.empty((1, 4), np.float32)
    g.run_into(odd, out, sampling_rate=8000)
    assert out.tobytes() == odd.tobytes()


def test_batch():
    g = Graph.from_ops(("decode_sound", {"sampling_rate": 8000}), "mix_mono")
    x = [ramp(50), ramp(60)[10:]]
    got = g.run_batch(x, sampling_rate=8000)
    assert np.array_equal(got, [g.run(v, sampling_rate=8000) for v in x])
    with pytest.raises(InferPrepError, match="infer_prep: batch: sound 1|infer_prep: batch: image 1"):
        Graph.from_hf(SPEECH / "wav2vec2").run_batch([(SPEECH / "sounds" / "sweep.wav").read_bytes(), b"RIFF"])
    with pytest.raises(TypeError, match="run_batch: got ndarray with sampling_rate, want a list of sounds"):
        g.run_batch(np.zeros((2, 5), np.float32), sampling_rate=8000)


def test_errors():
    g = Graph.from_hf(SPEECH / "wav2vec2")
    x = np.zeros(100, np.float32)
    with pytest.raises(InferPrepError, match="the sampling rate is 8000 Hz, the op decode_sound wants 16000 Hz; to resample") as e:
        g.run(x, sampling_rate=8000)
    assert e.value.code == "unsupported"
    for bad, rate, kind, text in [
        (x, None, TypeError, r"got an array of float32 \(100,\); .* or samples of a sound with sampling_rate"),
        (x, 0, ValueError, "sampling_rate 0: want 1 to 2147483647 Hz"),
        (x, 16000.0, TypeError, "float"),
        (x.astype(np.float64), 16000, TypeError, "got samples of float64; want an array or a CPU tensor of float32, or of int16"),
        (x.astype(np.int32), 16000, TypeError, "got samples of int32"),
        (b"RIFF", 16000, TypeError, "want no sampling_rate, because a file states its own"),
        (x.astype(np.uint8), 16000, TypeError, "want no sampling_rate, because a file states its own"),
        ([0.0, 1.0], 16000, TypeError, "got list with sampling_rate"),
        (np.zeros((1, 2, 3), np.float32), 16000, ValueError, r"got samples of the shape \(1, 2, 3\)"),
        (np.zeros((1025, 2), np.float32), 16000, ValueError, r"\(1025, 2\): want \(channels, samples\) with 1 to 1024 channels, such as array.T"),
        (np.zeros((0, 2), np.float32), 16000, ValueError, "1 to 1024 channels"),
    ]:
        with pytest.raises(kind, match=text):
            g.run(bad, sampling_rate=rate)
    with pytest.raises(InferPrepError, match="a WAV sound: want one of the linked formats"):
        Graph.from_preset("imagenet").run(x, sampling_rate=16000)  # a graph of images


def test_torch():
    torch = pytest.importorskip("torch")
    g = Graph.from_hf(SPEECH / "wav2vec2")
    x = read("speech.wav")
    assert np.array_equal(g.run(torch.from_numpy(x.copy()), sampling_rate=16000), g.run(x, sampling_rate=16000))
