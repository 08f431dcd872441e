"""A process that imports torch and loads nothing: what a loop needs without its data."""
import torch

import common

common.serve(common.answers(), torch.__version__, lambda: 0)
