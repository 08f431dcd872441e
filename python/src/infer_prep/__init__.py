"""Encoded images to the exact tensors of the Python references, and training
pipelines. The work is done by a shared library written in Go; docs/python.md of
the project has the rules about memory, fork, ranks and resuming.
"""

from ._dataset import Dataset
from ._errors import ForkError, InferPrepError
from ._functions import Call, Callback, Progress
from ._graph import Graph, Written
from ._pipeline import Batch, Pipeline
from ._processor import ImageProcessor
from ._version import VERSION as __version__
from ._video import VideoProcessor

__all__ = ["Batch", "Call", "Callback", "Dataset", "ForkError", "Graph", "ImageProcessor", "InferPrepError", "Pipeline", "Progress", "VideoProcessor", "Written", "__version__"]
