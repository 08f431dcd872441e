"""Compares infer-prep serve with infer-prep run, through Triton's own client.

usage: serve.py INFER_PREP [PHOTOS]...

Every file of testdata/images, and of the folders PHOTOS, goes through the server
in each form of request and response: binary and JSON, alone and in batches,
compressed. Without PHOTOS, one image of eight has JSON responses. The tensors
must be those that run writes, bit for bit. The script then checks the metadata
and the errors as the client sees them, and runs the Python of docs/serve.md.
It sends four times the load that the server takes, and ends the server by
SIGTERM under load. It prints one line for each check. The exit status is 1 if
one fails.
"""

import base64
import collections
import http.client
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import tritonclient.http as triton
from prometheus_client.parser import text_string_to_metric_families
from tritonclient.utils import InferenceServerException

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = sys.argv[1]
MODEL = "imagenet"
failed = False


def check(what, ok, more=""):
    global failed
    failed |= not ok
    print("ok    " if ok else "FAILED", what, more, flush=True)


class Server:
    """A process that serves. Ending it by SIGTERM must have status 0."""

    def __init__(self, *flags):
        self.process = subprocess.Popen([BINARY, "serve", "--preset", MODEL, "--listen", "127.0.0.1:0", *flags], stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        m = re.search(r" on http://(.*)$", line)
        if not m:
            sys.exit("serve.py: the server says: " + line + self.process.stderr.read())
        self.address = m[1]

    def client(self, concurrency=1):
        return triton.InferenceServerClient(self.address, concurrency=concurrency, network_timeout=120, connection_timeout=120)

    def resident(self):
        """The resident memory in MiB, or 0 where /proc is missing."""
        try:
            with open(f"/proc/{self.process.pid}/status") as f:
                return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1]) / 1024
        except OSError:
            return 0

    def end(self):
        """Returns the exit status and the number of requests that were answered."""
        self.process.send_signal(signal.SIGTERM)
        rest = self.process.stderr.read()
        m = re.search(r"stopped: (\d+) requests? answered", rest)
        return self.process.wait(), int(m[1]) if m else rest


def request(images, binary=True, nested=False):
    """An input of images; JSON holds them in base64."""
    shape = [len(images), 1] if nested else [len(images)]
    x = triton.InferInput("image", shape, "BYTES")
    elements = images if binary else [base64.b64encode(i) for i in images]
    x.set_data_from_numpy(np.array(elements, dtype=np.object_).reshape(shape), binary_data=binary)
    return [x]


def wanted(binary):
    return [triton.InferRequestedOutput("image", binary_data=binary)]


def expected(paths):
    """The tensors that run writes, by path."""
    tensors = {}
    with tempfile.TemporaryDirectory() as out:
        for folder in sorted({p.parent for p in paths}):
            dest = os.path.join(out, str(len(tensors)))
            subprocess.run([BINARY, "run", "-q", "--preset", MODEL, "-o", dest, folder], check=True)
            for p in paths:
                if p.parent == folder:
                    tensors[p] = np.load(os.path.join(dest, p.name + ".npy"))
    return tensors


def compare(server, paths, every):
    """JSON responses are for one image of so many, because the client reads them slowly."""
    want = expected(paths)
    client = server.client()
    read = {p: p.read_bytes() for p in paths}
    counts = collections.Counter()
    same = collections.Counter()

    def compare_one(what, response, batch):
        got = response.as_numpy("image")
        counts[what] += 1
        same[what] += got.dtype == np.float32 and got.tobytes() == batch.tobytes() and got.shape == batch.shape

    for i, p in enumerate(paths):
        batch = want[p][np.newaxis]
        for binary in (True, False):
            for out in (True, False) if i % every == 0 else (True,):
                what = f"request {'binary' if binary else 'JSON'}, response {'binary' if out else 'JSON'}"
                compare_one(what, client.infer(MODEL, request([read[p]], binary), outputs=wanted(out)), batch)
    for i in range(0, len(paths), 16):
        part = paths[i : i + 16]
        batch = np.stack([want[p] for p in part])
        images = [read[p] for p in part]
        compare_one("batches of 16, shape [N]", client.infer(MODEL, request(images), model_version="1"), batch)
        compare_one("batches of 16, shape [N, 1], JSON", client.infer(MODEL, request(images, False, True), outputs=wanted(i > 0)), batch)
        for algorithm in ("gzip", "deflate"):
            response = client.infer(MODEL, request(images), request_compression_algorithm=algorithm, response_compression_algorithm=algorithm)
            compare_one("batches of 16, " + algorithm, response, batch)
    for what in counts:
        check(what, same[what] == counts[what], f"{same[what]} of {counts[what]} equal")
    parallel = server.client(concurrency=8)
    running = [(p, parallel.async_infer(MODEL, request([read[p]]))) for p in paths[:32]]
    check("async_infer", all(r.get_result().as_numpy("image").tobytes() == want[p].tobytes() for p, r in running))
    parallel.close()
    client.close()


def metadata(server):
    client = server.client()
    check("liveness and readiness", client.is_server_live() and client.is_server_ready() and client.is_model_ready(MODEL) and client.is_model_ready(MODEL, "1"))
    check("another model is not ready", not client.is_model_ready("other") and not client.is_model_ready(MODEL, "2"))
    check("server metadata", client.get_server_metadata()["extensions"] == ["binary_tensor_data"])
    m = client.get_model_metadata(MODEL)
    check("model metadata", m["inputs"] == [{"name": "image", "datatype": "BYTES", "shape": [-1]}]
          and m["outputs"] == [{"name": "image", "datatype": "FP32", "shape": [-1, 3, 224, 224]}])  # fmt: skip
    image = (ROOT / "testdata/images/jpeg_large.jpg").read_bytes()
    response = client.infer(MODEL, request([image]), request_id="a\"7")
    check("request id", response.get_response()["id"] == 'a"7')

    def status(model=MODEL, images=(image,), **kw):
        try:
            client.infer(model, request(list(images)), **kw)
            return "200"
        except InferenceServerException as e:
            return e.status()

    for what, want, got in (
        ("damaged image", "400", status(images=[image[:200]])),
        ("text", "415", status(images=[b"hello, this is no image"])),
        ("one damaged image in a batch", "400", status(images=[image, image[:200]])),
        ("unknown model", "404", status("other")),
        ("unknown output", "400", status(outputs=[triton.InferRequestedOutput("x")])),
        ("classification", "400", status(outputs=[triton.InferRequestedOutput("image", class_count=3)])),
        ("timeout of 1 microsecond", "504", status(timeout=1)),
        ("many images", "413", status(images=[image] * 257)),
        ("priority and sequences are ignored", "200", status(priority=1, sequence_id=5, sequence_start=True)),
    ):
        check(f"{what}: {want}", got == want, got)
    client.close()
    connection = http.client.HTTPConnection(server.address)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    families = {f.name: f for f in text_string_to_metric_families(text)}
    samples = {s.labels["code"]: s.value for s in families["infer_prep_requests"].samples}
    seconds = {s.name: s.value for s in families["infer_prep_request_duration_seconds"].samples if not s.labels}
    check("metrics", samples["504"] == 1 and samples["415"] == 1 and sum(samples.values()) == seconds["infer_prep_request_duration_seconds_count"]
          and families["infer_prep_held_bytes"].samples[0].value == 0)  # fmt: skip
    connection.close()


def documentation(server):
    """Runs the Python of docs/serve.md against the server, with its address in place of theirs. Go's tests run the rest."""
    text = (ROOT / "docs/serve.md").read_text().replace("localhost:8000", server.address)
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    check("docs/serve.md has Python", len(blocks) == 1)
    for block in blocks:
        p = subprocess.run([sys.executable, "-c", block], cwd=ROOT, capture_output=True, text=True)
        check("Python of docs/serve.md", p.stdout == "float32 (2, 3, 224, 224)\n", p.stderr)


class Load:
    """Threads that send an image again and again."""

    def __init__(self, server, threads):
        self.server, self.ending = server, False
        self.statuses, self.errors = collections.Counter(), 0
        self.lock = threading.Lock()
        self.image = (ROOT / "testdata/images/jpeg_large.jpg").read_bytes()
        self.threads = [threading.Thread(target=self.send) for _ in range(threads)]
        for t in self.threads:
            t.start()

    def send(self):
        connection = http.client.HTTPConnection(self.server.address, timeout=120)
        while not self.ending:
            try:
                connection.request("POST", f"/v2/models/{MODEL}/infer", self.image, {"Inference-Header-Content-Length": "0"})
                response = connection.getresponse()
                response.read()
                status = response.status
            except (OSError, http.client.HTTPException):
                with self.lock:
                    self.errors += 1
                return  # the server has ended
            with self.lock:
                self.statuses[status] += 1

    def end(self):
        self.ending = True
        for t in self.threads:
            t.join()


def overload(seconds):
    """Four times the requests that the server takes at once: the rest gets 429."""
    server = Server("--jobs", "2", "--queue", "2")
    load = Load(server, 4)
    time.sleep(seconds)
    load.end()
    alone = server.resident()
    check("load within the capacity", set(load.statuses) == {200} and not load.errors, dict(load.statuses))
    load = Load(server, 16)
    time.sleep(2 * seconds)
    load.end()
    four = server.resident()
    check("four times the capacity", set(load.statuses) == {200, 429} and not load.errors, dict(load.statuses))
    check("memory at four times the capacity", four < alone + 64, f"{alone:.0f} MiB, then {four:.0f} MiB")
    check("status after SIGTERM", server.end()[0] == 0)


def end_under_load(seconds, *flags):
    server = Server(*flags)
    load = Load(server, 8)
    time.sleep(seconds)
    status, answered = server.end()
    load.end()
    check(f"SIGTERM under load {' '.join(flags)}", status == 0 and set(load.statuses) == {200} and answered == load.statuses[200],
          f"{answered} requests answered, {load.statuses[200]} responses arrived")  # fmt: skip


def main():
    folders = [ROOT / "testdata/images", *map(pathlib.Path, sys.argv[2:])]
    paths = [p for f in folders for p in sorted(f.iterdir()) if p.suffix.lower() in (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp")]
    print(f"{len(paths)} images")
    server = Server("--limit-body", "1Gi")
    compare(server, paths, 1 if sys.argv[2:] else 8)
    status, _ = server.end()
    check("status after SIGTERM", status == 0)
    server = Server()
    metadata(server)
    documentation(server)
    server.end()
    overload(1)
    for i in range(5):
        end_under_load(0.3 + i / 10, "--drain", "200ms" if i % 2 else "0s")
    sys.exit(failed)


main()
