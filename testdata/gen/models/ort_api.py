"""Writes device/ort/testdata/api.txt: ONNX Runtime's function table, one line for a
function, its place and its name, as its header has them.

The header is the copy of onnxruntime_c_api.h in a Go module that follows ONNX Runtime's
releases, pinned, and checked by Go's checksum database. Needs go. Every run gives the
same bytes. What is written are names and numbers alone.
"""

import json
import os
import re
import subprocess
import tempfile

MODULE = "github.com/yalue/onnxruntime_go@v1.31.0"
OUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "..", "..", "device", "ort", "testdata", "api.txt")


def header():
    with tempfile.TemporaryDirectory() as d:
        out = subprocess.run(["go", "mod", "download", "-json", MODULE], cwd=d, check=True, stdout=subprocess.PIPE).stdout
    with open(os.path.join(json.loads(out)["Dir"], "onnxruntime_c_api.h")) as f:
        return f.read()


def table(text):
    """The members of struct OrtApi, in order: pointers to functions, declared in one of
    four ways. One that is declared in a fifth would shift all that follow."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    text = re.sub(r"(?m)^#.*$", "", text)
    start = text.index("struct OrtApi {") + len("struct OrtApi {")
    ways = r"ORT_API2_STATUS\(\s*(\w+)|ORT_CLASS_RELEASE\(\s*(\w+)|ORT_API_T\([^,]*,\s*(\w+)|\(\s*ORT_API_CALL\s*\*\s*(\w+)"
    names = []
    for member in text[start:text.index("\n};", start)].split(";"):
        if not member.strip():
            continue
        found = re.findall(ways, member)
        if len(found) != 1:
            raise SystemExit(f"what is this: {member}")
        status, release, typed, other = found[0]
        names.append(status or release and "Release" + release or typed or other)
    return names


def main():
    text = header()
    version = re.search(r"#define ORT_API_VERSION (\d+)", text)[1]
    with open(OUT, "w") as f:
        f.write(f"ORT_API_VERSION {version}\n")
        for i, name in enumerate(table(text)):
            f.write(f"{i} {name}\n")


main()
