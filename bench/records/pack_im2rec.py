"""MXNet's im2rec, packing a folder of images: resized, as JPEG files, with a list that is made before.

usage: pack_im2rec.py FOLDER THREADS RESIZE QUALITY. It speaks as common.py does: prints "ready VERSION", and for each
line "go" packs and prints the number of images, and the seconds of wall and processor time, those of its processes too.
Needs mxnet 1.9.1 and opencv-python-headless.
"""
import os
import runpy
import sys
import tempfile
import time

import cv2
import mxnet

TOOL = os.path.join(os.path.dirname(mxnet.__file__), "tools", "im2rec.py")


def im2rec(*args):
    sys.argv = [TOOL, *args]
    runpy.run_path(TOOL, run_name="__main__")


def cpu():
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


def main(folder, threads, resize, quality):
    out = os.fdopen(os.dup(1), "w", buffering=1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # what it prints is no answer
    cv2.setNumThreads(1)  # its processes are what --num-thread says
    with tempfile.TemporaryDirectory() as d:
        prefix = os.path.join(d, "x")
        im2rec("--list", "--recursive", prefix, folder)
        with open(prefix + ".lst") as f:
            n = len(f.readlines())
        print("ready", mxnet.__version__, file=out)
        for line in sys.stdin:
            if line.strip() == "quit":
                return
            c, start = cpu(), time.perf_counter()
            im2rec("--num-thread", threads, "--resize", resize, "--quality", quality, prefix, folder)
            wall = time.perf_counter() - start
            print(n, f"{wall:.9f} {cpu() - c:.9f}", file=out)


main(*sys.argv[1:])
