"""Prints the images a second of NVIDIA DALI's pipeline of ImageNet training.

usage: dali.py FOLDER SECONDS DEVICE, with the number of a GPU, or cpu.
The first epoch, which allocates and warms up, is not measured.
"""
import os
import sys
import time

from nvidia.dali import fn, pipeline_def, types

BATCH = 64
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@pipeline_def
def graph(folder, decoder):
    x, label = fn.readers.file(file_root=folder, random_shuffle=True, name="files")
    x = fn.decoders.image_random_crop(x, device=decoder, output_type=types.RGB, adjust_orientation=False,
                                      random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3])
    x = fn.resize(x, resize_x=224, resize_y=224, interp_type=types.INTERP_LINEAR)
    x = fn.crop_mirror_normalize(
        x, dtype=types.FLOAT, output_layout="CHW", mean=[255 * m for m in MEAN], std=[255 * s for s in STD],
        mirror=fn.random.coin_flip(probability=0.5))
    return x, label


def main():
    folder, seconds, device = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    gpu = device != "cpu"
    p = graph(folder, "mixed" if gpu else "cpu", batch_size=BATCH, num_threads=len(os.sched_getaffinity(0)),
              device_id=int(device) if gpu else None)
    p.build()
    for _ in range(max(1, p.epoch_size("files") // BATCH)):
        p.run()
    images, begin = 0, time.monotonic()
    while time.monotonic() - begin < seconds:
        p.run()  # it returns when the batch is complete
        images += BATCH
    print(f"{images / (time.monotonic() - begin):.1f}")


if __name__ == "__main__":
    main()
