"""The contract of README.md for engines in Python: an engine hands serve a function for each kind of task.

A function gets the task and the paths of its files, and returns an array, or arrays by name. It raises Skip for what
the engine has no setting for.
"""

import json
import os
import sys
import traceback

for _v in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_v, "1")
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np


class Skip(Exception):
    pass


def want(ok, why):
    """Skips a task unless ok."""
    if not ok:
        raise Skip(why)


def answer(tasks, request):
    do = request["task"]["do"]
    try:
        if do not in tasks:
            raise Skip(f"no {do}")
        got = tasks[do](request["task"], request["files"])
        if isinstance(got, dict) and len(request["outputs"]) > 1:
            with open(request["out"], "wb") as f:
                np.savez(f, **{k: np.asarray(v) for k, v in got.items()})
        else:
            a = got.get(request["outputs"][0], next(iter(got.values()))) if isinstance(got, dict) else got
            with open(request["out"], "wb") as f:
                np.save(f, np.array(a, order="C"))
        return {"file": request["out"]}
    except Skip as e:
        return {"skip": str(e)}
    except Exception as e:
        if os.environ.get("CONFORMANCE_TRACE"):
            traceback.print_exc()
        said = f"{type(e).__name__}: {(str(e).splitlines() or [''])[0]}"
        return {"skip": "refuses the file: " + said} if do == "decode" else {"error": said}


def serve(name, version, settings, tasks):
    """tasks are the functions by kind of task; settings says in a line what they call."""
    args = sys.argv[1:]
    if args == ["--describe"]:
        print(json.dumps({"name": name, "version": version, "settings": settings}))
        return
    out = os.fdopen(os.dup(1), "w")  # libraries that print do not disturb the answers
    os.dup2(2, 1)
    if args == ["--lines"]:
        for line in sys.stdin:
            print(json.dumps(answer(tasks, json.loads(line))), file=out, flush=True)
        return
    with open(args[0]) as f:
        request = json.load(f)
    at = args.index("-o")
    request |= {"files": args[1:at], "out": args[at + 1]}
    print(json.dumps(answer(tasks, request)), file=out, flush=True)
