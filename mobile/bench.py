"""Reads the times of bench.sh, adds OpenCV's, and prints a table and the goals."""
import re, sys, time
import cv2, numpy as np

ms = {}
for line in sys.stdin:
    f = re.sub("\x1b\\[[0-9;]*m", "", line).split()  # Maven resets its colours
    if len(f) >= 4 and f[0].startswith("Benchmark"):
        name = "go " + f[0].removeprefix("Benchmark").split("-")[0]
        ms[name] = min(ms.get(name, 1e9), float(f[2]) / 1e6)
    elif len(f) == 3 and f[0] == "bench":
        ms[f[1]] = float(f[2])

cv2.setNumThreads(1)
nv21 = np.random.default_rng(1).integers(0, 256, (720, 640), np.uint8)


def opencv():
    return cv2.resize(cv2.cvtColor(nv21, cv2.COLOR_YUV2RGB_NV21), (224, 224), interpolation=cv2.INTER_AREA)


best = 1e9
for _ in range(5):
    times = []
    for _ in range(200):
        start = time.perf_counter()
        opencv()
        times.append(time.perf_counter() - start)
    best = min(best, sorted(times)[len(times) // 2] * 1e3)
ms["OpenCV cvtColor + resize (area), no crop, uint8"] = best

pixels = 640 * 480
for name, t in ms.items():
    note = f"{t * 1e6 / pixels:8.2f} ns a pixel" if "yuv" in name.lower() or "OpenCV" in name else ""
    print(f"{name:50} {t:8.3f} ms {note}")
overhead = ms["jpeg-direct"] - ms["go JPEG"]
goals = [
    ("the bridge adds less than 0.3 ms to a 224 tensor of a JPEG file", overhead, 0.3),
    ("a camera frame of 640 x 480 becomes a 224 tensor in less than 3 ms", ms["yuv-0"], 3),
    ("the same with a turn by 90 degrees", ms["yuv-90"], 3),
]
for text, got, limit in goals:
    print(f"goal: {text}: {got:.3f} ms: {'met' if got < limit else 'missed'}")
