"""infer_prep's Graph.run."""
import infer_prep

import common

common.single(infer_prep.__version__, infer_prep.Graph.from_preset("imagenet").run)
