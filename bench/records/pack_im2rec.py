"""MXNet's im2rec, packing a folder of images by a list that is made before.

usage: pack_im2rec.py FOLDER THREADS FLAG… , the flags being im2rec's.
Needs what testdata/gen/requirements-mxnet-im2rec.txt says.
"""
import os
import runpy
import struct
import sys
import tempfile

import cv2
import mxnet

import common

TOOL = os.path.join(os.path.dirname(mxnet.__file__), "tools", "im2rec.py")


def im2rec(*args):
    sys.argv = [TOOL, *args]
    names = runpy.run_path(TOOL, run_name="__main__")
    if "record" in names:  # with one thread; im2rec leaves the closing to the end of the process
        names["record"].close()


def main(folder, threads, *flags):
    out = common.answers()
    cv2.setNumThreads(1)  # its processes are what --num-thread says
    d = tempfile.mkdtemp(prefix="pack-", dir=os.path.dirname(os.path.abspath(folder)))
    prefix = os.path.join(d, "x")
    im2rec("--list", "--recursive", prefix, folder)
    with open(prefix + ".lst") as f:
        n = len(f.readlines())

    def pack():
        im2rec("--num-thread", threads, *flags, prefix, folder)
        return n

    def check(use):
        r = mxnet.recordio.MXRecordIO(prefix + ".rec", "r")
        while b := r.read():
            head, image = mxnet.recordio.unpack(b)
            use(struct.pack("<fQ", head.label, head.id))
            use(image)

    pack()
    common.serve(out, mxnet.__version__, pack, check)


main(*sys.argv[1:])
