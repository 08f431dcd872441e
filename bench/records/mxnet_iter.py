"""MXNet's ImageRecordIter.

usage: mxnet_iter.py CONTEXT FILE THREADS. The context gpu, MXNet's default, works ahead, in at most half as many
threads as there are cores; cpu works within next(), in as many as OMP_NUM_THREADS says.
"""
import sys

import mxnet

import common


def epoch(it, use=None):
    n = 0
    for b in it:
        n += it.batch_size - b.pad
        data, label = b.data[0], b.label[0]
        data.wait_to_read()
        label.wait_to_read()
        if use:
            use(label.asnumpy().tobytes())
            use(data.asnumpy().tobytes())
    return n


def main(context, name, threads):
    def iterator(random):  # as in ours/images.go
        return mxnet.io.ImageRecordIter(
            path_imgrec=name, data_shape=(3, 224, 224), batch_size=32, resize=256, rand_crop=random, rand_mirror=random,
            mean_r=123.68, mean_g=116.779, mean_b=103.939, std_r=58.393, std_g=57.12, std_b=57.375,
            preprocess_threads=int(threads), ctx=context, verbose=False)

    def go():
        it.reset()  # here, because it begins to read ahead
        return epoch(it)

    out = common.answers()
    it = iterator(True)
    epoch(it)
    common.serve(out, mxnet.__version__, go, lambda use: epoch(iterator(False), use))


main(*sys.argv[1:])
