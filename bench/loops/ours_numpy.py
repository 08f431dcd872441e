"""infer_prep's Pipeline: batches are NumPy arrays, and torch is not imported."""
import infer_prep

import common


def build(folder, workers):
    g = infer_prep.Graph.from_importer("torchvision", common.COMPOSE, backend="tensor")
    pipeline = infer_prep.Pipeline(infer_prep.Dataset("image_folder", dir=folder).map(g).then("batch", size=common.BATCH), workers=workers)
    return lambda: (tuple(b.values()) for b in pipeline)


common.loop(infer_prep.__version__, build)
