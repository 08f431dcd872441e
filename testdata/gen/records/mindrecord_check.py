"""Reads the MindRecord files of a folder by MindSpore's FileReader and MindDataset.

usage: mindrecord_check.py FOLDER [EXPECTED]

Prints a line of JSON for each row of each set: its set, its number, and for each field type, shape and the first 8 bytes of its SHA-256. EXPECTED is a file of
such lines: then prints how many of them MindSpore reads, in order, and fails if it is not all, or if it reads others.
"""

import json
import os
import sys
import tempfile

import mindrecord_common as common


def main():
    folder = os.path.abspath(sys.argv[1])
    expected = None
    if len(sys.argv) > 2:
        with open(sys.argv[2]) as f:
            expected = [json.loads(line) for line in f]
    os.chdir(tempfile.mkdtemp())  # MindSpore leaves files in the current one
    lines = []
    for name in common.sets(folder):
        for i, row in enumerate(common.rows(os.path.join(folder, name))):
            lines.append({"set": name, "row": i, "fields": row})
    if expected is None:
        for line in lines:
            print(json.dumps(line, sort_keys=True))
        return
    same = sum(a == b for a, b in zip(lines, expected))
    print("mindrecord: %d of %d rows of %d sets are equal; MindSpore reads %d" % (same, len(expected), len({e["set"] for e in expected}), len(lines)))
    if same != len(expected) or len(lines) != len(expected):
        for a, b in zip(lines, expected):
            if a != b:
                print("got ", json.dumps(a, sort_keys=True)[:2000])
                print("want", json.dumps(b, sort_keys=True)[:2000])
                break
        sys.exit(1)


if __name__ == "__main__":
    main()
