"""infer_prep's Loader with a function of Python on every sample."""
import infer_prep
import infer_prep.torch

import common


def build(folder, workers):
    g = infer_prep.Graph.from_importer("torchvision", common.COMPOSE, backend="tensor")
    dataset = infer_prep.Dataset("image_folder", dir=folder).map(g)
    name = g.columns[0].name
    dataset = dataset.map(common.function, inputs=[name], outputs={name: ("float32", (3, 224, 224))}).batch(common.BATCH)
    loader = infer_prep.torch.Loader(dataset, workers=workers)
    return lambda: ((b[name], b["label"]) for b in loader)


common.loop(infer_prep.__version__, build)
