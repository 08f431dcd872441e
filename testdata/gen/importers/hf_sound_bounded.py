"""Makes importer/testdata/sounds_bounded.json: what feature extractors return whose bits depend on the processor.

Run with testdata/gen/run.sh --torchaudio: Python 3.11, NumPy 2.4.6, transformers 5.23.0, torch 2.15.0 and torchaudio 2.11.0;
common/bounded.py says on which processor, and how the bounds are measured.
"""

import importlib
import inspect
import pathlib
import warnings

import numpy as np
import torch

torch.version.cuda = None  # torchaudio's wheel is built for another CUDA, which its import refuses
import torchaudio  # noqa: E402, F401

from bounded import main  # noqa: E402

warnings.simplefilter("ignore")
OUT = pathlib.Path(__file__).resolve().parents[3] / "importer" / "testdata" / "sounds_bounded.json"
SOUNDS = [("speech", 24000), ("noise", 16000), ("silence", 8000), ("clip", 20001), ("sweep", 9999), ("speech", 1000)]
MORE = {"granite_speech5": [("speech", 1600 + n) for n in (159, 160, 161, 320)] + [("speech", 200)],
        "fun_asr_nano": [("speech", 400 + 160 * n) for n in range(8)] + [("speech", 399)], "neucodec": [("speech", 399)], "xcodec2": [("speech", 99)]}
LONG = [("speech", 480000)]
CONFIGS = {
    "whisper": [{}],
    "parakeet": [{}, {"feature_size": 128, "preemphasis": None}],
    "nemotron_asr_streaming": [{}],
    "voxtral_realtime": [{}, {"global_log_mel_max": None, "feature_size": 80}],
    "qwen3_asr": [{}, {"chunk_length": 1, "n_window": 7, "min_length": 0}],
    "dots3_note": [{}, {"chunk_seconds": 2}],
    "moss_transcribe_diarize": [{}, {"chunk_length": 2, "feature_size": 128}],
    "inkling": [{}, {"n_fft": 2048, "feature_size": 64}],
    "granite_speech": [{}, {"n_mels": 64, "projector_window_size": 8, "projector_downsample_rate": 2}],
    "phi4_multimodal": [{}, {"audio_compression_rate": 3, "audio_downsample_rate": 2}],
    "cohere_asr": [{"dither": 0.0}, {"dither": 0.0, "feature_size": 64, "preemphasis": None, "max_audio_clip_s": 1, "overlap_chunk_second": 0}],
    "granite_speech5": [{}, {"num_mel_bins": 64, "delta_win_length": 6, "logmel_floor_db": 5}],
    "fun_asr_nano": [{}, {"feature_size": 40, "num_frames_lfr": 4, "stride_lfr": 5, "window": "blackman"}, {"num_frames_lfr": 1, "stride_lfr": 1, "window": "rectangular"},
                     {"num_frames_lfr": 8, "stride_lfr": 3, "window": "hanning", "return_attention_mask": False}],
    "neucodec": [{}, {"sampling_rate": 24000, "hop_length": 480, "padding_value": 0.0}],
    "xcodec2": [{}, {"hop_length": 641}],
    "audio_spectrogram_transformer": [{}, {"num_mel_bins": 64, "max_length": 100, "mean": 0.5, "std": 2.0}],
    "speech_to_text": [{}, {"num_mel_bins": 40, "do_ceptral_normalize": False}],
}
NAMES = {"whisper": "WhisperFeatureExtractor", "parakeet": "ParakeetFeatureExtractor", "nemotron_asr_streaming": "NemotronAsrStreamingFeatureExtractor",
         "voxtral_realtime": "VoxtralRealtimeFeatureExtractor", "qwen3_asr": "Qwen3ASRFeatureExtractor", "dots3_note": "Dots3NoteFeatureExtractor",
         "moss_transcribe_diarize": "MossTranscribeDiarizeFeatureExtractor", "inkling": "InklingFeatureExtractor", "granite_speech": "GraniteSpeechFeatureExtractor",
         "phi4_multimodal": "Phi4MultimodalFeatureExtractor", "cohere_asr": "CohereAsrFeatureExtractor", "granite_speech5": "GraniteSpeech5FeatureExtractor",
         "fun_asr_nano": "FunAsrNanoFeatureExtractor", "neucodec": "NeuCodecFeatureExtractor", "xcodec2": "Xcodec2FeatureExtractor",
         "audio_spectrogram_transformer": "ASTFeatureExtractor", "speech_to_text": "Speech2TextFeatureExtractor"}
MODULES = {n: m for m, n in NAMES.items()}
MADE = {}


def outputs(config, x):
    name = config["feature_extractor_type"]
    key = repr(config)
    if key not in MADE:
        module = importlib.import_module(f"transformers.models.{MODULES[name]}.feature_extraction_{MODULES[name]}")
        MADE[key] = getattr(module, name)(**{k: v for k, v in config.items() if k != "feature_extractor_type"})
    e = MADE[key]
    accepted = inspect.signature(e.__call__).parameters
    how = {k: v for k, v in {"sampling_rate": e.sampling_rate, "return_tensors": "pt"}.items() if k in accepted}
    named = {}
    for k, v in e(x, **how).items():
        if k == "audio_chunk_index":  # no tensor: the number of the sound, and of its chunk
            if len(v) != 1:
                raise ValueError("several chunks")
            continue
        a = np.asarray(v)
        if a.shape[0] != 1:
            raise ValueError("several chunks")
        named[k] = a[0]
    return named


if __name__ == "__main__":
    cases = []
    for model, configs in CONFIGS.items():
        for i, config in enumerate(configs):
            results = [{"sound": k, "samples": n} for k, n in SOUNDS + (LONG + MORE.get(model, []) if i == 0 else [])]
            cases.append({"group": NAMES[model], "config": {"feature_extractor_type": NAMES[model], **config}, "results": results})
    main(OUT, "transformers 5.23.0, torch 2.15.0", cases, outputs, "./importer", "bounded: transformers")
