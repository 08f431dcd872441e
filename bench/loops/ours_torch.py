"""infer_prep's Loader: batches are torch tensors."""
import infer_prep
import infer_prep.torch

import common


def build(folder, workers):
    g = infer_prep.Graph.from_importer("torchvision", common.COMPOSE, backend="tensor")
    loader = infer_prep.torch.Loader(infer_prep.Dataset("image_folder", dir=folder).map(g).then("batch", size=common.BATCH), workers=workers)
    return lambda: ((b["image"], b["label"]) for b in loader)


common.loop(infer_prep.__version__, build)
