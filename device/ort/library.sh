#!/usr/bin/env bash
# Installs the pinned ONNX Runtime from PyPI in a virtual environment, outside the
# checkout, and prints the folder of its library, for INFER_PREP_ORT.
set -euo pipefail
cd "$(dirname "$0")"
py=$(../../parity/venv.sh requirements.txt)
"$py" -c 'import importlib.util, os; print(os.path.join(os.path.dirname(importlib.util.find_spec("onnxruntime").origin), "capi"))'
