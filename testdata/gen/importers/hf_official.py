"""Makes importer/testdata/goldens_official.json: configurations with keys that older versions of transformers saved and 5.23.0 does not read,
as files of the Hub have them, with both backends.

Needs the packages of goldens.py. Takes no arguments; running it again gives the same bytes.
"""

import json

import hf_torchvision as torchvision

CLIP_MEAN, CLIP_STD, HALF, MEAN, STD, hw, short = (
    getattr(torchvision.patches, n) for n in ("CLIP_MEAN", "CLIP_STD", "HALF", "MEAN", "STD", "hw", "short"))

FLAGS = dict(do_resize=True, do_rescale=True, rescale_factor=1 / 255, do_normalize=True)


def official():
    """Gives the class and the configuration. Some sizes are smaller than on the Hub."""
    yield "FuyuImageProcessor", dict(padding_mode="constant", padding_value=1.0, processor_class="FuyuProcessor", target_height=1080, target_width=1920)
    yield "FuyuImageProcessor", dict(size=hw(54, 96), padding_mode="constant", padding_value=1.0, target_height=54, target_width=96)
    vivit = dict(crop_size=hw(224), do_center_crop=True, do_normalize=False, do_rescale=True, do_resize=True, rescale_factor=1 / 127.5, resample=2, size=short(256))
    yield "VivitImageProcessor", vivit | dict(do_zero_centering=True)
    yield "VivitImageProcessor", vivit | dict(do_zero_centering=False, offset=False)
    pool = dict(crop_pct=0.9, do_normalize=True, image_mean=MEAN, image_std=STD, resample=3, size=224)
    yield "PoolFormerFeatureExtractor", pool | dict(do_resize_and_center_crop=True)
    yield "PoolFormerFeatureExtractor", pool | dict(do_resize_and_center_crop=False, do_resize=False, do_center_crop=False)
    yield "LlavaNextImageProcessor", FLAGS | dict(
        aspect_ratio_setting="anyres", crop_size=hw(30), do_center_crop=True, do_convert_rgb=True, do_pad=True, image_mean=CLIP_MEAN, image_std=CLIP_STD,
        image_grid_pinpoints=[[30, 60], [60, 30], [60, 60], [90, 30], [30, 90]], resample=3, size=short(30))
    yield "LayoutLMv3ImageProcessor", dict(apply_ocr=False, size=hw(60), rescale_value=1 / 255)
    yield "SegformerFeatureExtractor", dict(
        do_normalize=True, do_resize=True, image_mean=MEAN, image_std=STD, reduce_labels=True, resample=2, size=64,
        do_random_crop=True, padding_value=0, segmentation_padding_value=255, reduce_zero_label=True)
    seg = FLAGS | dict(_max_size=1333, ignore_index=255, image_mean=MEAN, image_std=STD, resample=2, size=dict(shortest_edge=40, longest_edge=66))
    yield "Mask2FormerImageProcessor", seg | dict(num_labels=150, reduce_labels=True, size_divisor=32)
    yield "OneFormerImageProcessor", seg | dict(num_text=0)
    yield "Phi4MultimodalImageProcessor", dict(
        dynamic_hd=1, audio_compression_rate=8, audio_downsample_rate=1, audio_feat_stride=1, feature_size=80, hop_length=160, mel_max_frequency=7690,
        mel_min_frequency=0, n_fft=512, padding_side="right", padding_value=0.0, preemphasis=0.97, sampling_rate=16000, win_length=400)


def cases():
    for i, (kind, config) in enumerate(official()):
        key = "feature_extractor_type" if "FeatureExtractor" in kind else "image_processor_type"
        name = kind.replace("FeatureExtractor", "ImageProcessor")
        one = name.startswith(("Vivit", "Phi4"))
        for backend in ("hf",) if one else ("hf", "hf-pil"):
            yield backend, f"official {i} {name}", json.dumps({key: kind} | config)


if __name__ == "__main__":
    torchvision.write("goldens_official.json", cases())
