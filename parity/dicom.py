"""Compares the DICOM files that pydicom brings along with what pydicom reads of them, and prints a table.

usage: dicom.py DICOMFRAMES

DICOMFRAMES is the program of tools/dicomframes. All files of pydicom.data that lie in the package are read; files that pydicom would download are not.
pixel_array reads JPEG Baseline and JPEG 2000 by the plugin pillow, and lossless JPEG by pylibjpeg. Each frame is compared, and the first one after
apply_modality_lut and apply_voi_lut if it is gray. Exits with 1 if values differ, if a file that pydicom reads is refused for another reason than its
transfer syntax, its type or its layout, or if one that pydicom does not read is read.
"""

import collections
import hashlib
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pydicom
from pydicom.data import get_testdata_files
from pydicom.pixels import apply_modality_lut, apply_voi_lut, pixel_array

warnings.simplefilter("ignore")
PLUGIN = {"1.2.840.10008.1.2.4.50": "pillow", "1.2.840.10008.1.2.4.51": "pillow", "1.2.840.10008.1.2.4.57": "pylibjpeg", "1.2.840.10008.1.2.4.70": "pylibjpeg",
          "1.2.840.10008.1.2.4.90": "pillow", "1.2.840.10008.1.2.4.91": "pillow", "1.2.840.10008.1.2.5": "pydicom"}
# Refusals by name of what pydicom reads.
REFUSED = ("transfer syntax ", "which tensors do not have")


def answer(program, what, frame, path):
    program.stdin.write(f"{what} {frame} {path}\n")
    program.stdin.flush()
    return program.stdout.readline().rstrip("\n")


def said(a):
    a = np.ascontiguousarray(a.astype(a.dtype.newbyteorder("=")))
    return f"{a.dtype.name} {hashlib.sha256(a.tobytes()).hexdigest()}"


def main():
    program = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    table, bad, values = collections.Counter(), 0, 0
    here = str(pathlib.Path(pydicom.__file__).parent)
    for path in sorted(set(get_testdata_files())):
        if not path.startswith(here) or not pathlib.Path(path).is_file():
            continue
        name = path[len(here) + 1 :].removeprefix("data/test_files/")
        try:
            ds = pydicom.dcmread(path)
            plugin = PLUGIN.get(str(ds.file_meta.TransferSyntaxUID), "")
            n = int(ds.get("NumberOfFrames", 1) or 1)
            frames = [pixel_array(ds, index=i, decoding_plugin=plugin) for i in range(n)]
        except Exception as e:
            frames, why = [], f"{type(e).__name__}: {e}"
        first = answer(program, "stored", 0, path)
        if "unknown format, first bytes" in first or first.startswith("error: codec:"):
            table["not DICOM by its first bytes"] += 1
            continue
        if not frames:
            if first.startswith("error"):
                table["neither reads it"] += 1
                if "transfer syntax" not in first and "no Pixel Data" not in first and "no Transfer Syntax" not in first:
                    print(f"  {name}: {first[7:150]}; pydicom: {why.splitlines()[-1][:120]}")
            else:
                bad, table["only we read it"] = bad + 1, table["only we read it"] + 1
                print(f"ONLY {name}: pydicom: {why[:300]}")
            continue
        if first.startswith("error"):
            known = any(r in first for r in REFUSED)
            bad += not known
            table["refused by name" if known else "REFUSED"] += 1
            print(f"{'' if known else 'REFUSED '}{name}: {first[7:190]}")
            continue
        got = [first] + [answer(program, "stored", i, path) for i in range(1, n)]
        wrong = sum(g != said(f) for g, f in zip(got, frames))
        values += len(frames)
        if wrong:
            print(f"DIFFERS {name}: {wrong} of {n} frames: {got[0][:100]}, want {said(frames[0])}")
        if frames[0].ndim == 2:
            modality = apply_modality_lut(frames[0], ds)
            shown = modality
            if modality is not frames[0] and (a := answer(program, "modality", 0, path)) != said(modality.astype(np.float64)):
                wrong += 1
                print(f"DIFFERS {name}: modality: {a[:150]}")
            values += modality is not frames[0]
            if ds.get("WindowCenter") or ds.get("VOILUTSequence"):
                try:
                    shown = apply_voi_lut(modality, ds)
                except Exception as e:
                    shown = None
                a = answer(program, "voi", 0, path)
                values += 1
                if a.startswith("error") != (shown is None) or shown is not None and a != said(shown.astype(np.float64)):
                    wrong += 1
                    print(f"DIFFERS {name}: voi: {a[:150]}")
        bad += wrong > 0
        table["DIFFERS" if wrong else "equal"] += 1
    program.stdin.close()
    for k, v in sorted(table.items()):
        print(f"{v:4} files: {k}")
    print(f"{values} frames and results of LUTs compared with pydicom {pydicom.__version__}")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
