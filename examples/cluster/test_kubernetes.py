"""Checks the Jobs against Kubernetes' schemas and runs their commands."""
import os
import re
import subprocess
import sys
import time

import kubernetes_validate
import yaml

here, work = sys.argv[1:]


def load(name):
    with open(os.path.join(here, name)) as f:
        job = yaml.safe_load(f)
    version = kubernetes_validate.validate(job, kubernetes_validate.latest_version(), strict=True)
    print(f"{name}: valid for Kubernetes {version}, strictly")
    return job["spec"]


def command(spec, index=None):
    """Returns a container's command and environment, as the kubelet makes them."""
    c = spec["template"]["spec"]["containers"][0]
    env = {e["name"]: e["value"] for e in c["env"]}
    env |= {"PLAN": work + "/plan.json", "ROOT": work + "/photos", "OUT": work + "/kubernetes"}
    if index is not None:
        env["JOB_COMPLETION_INDEX"] = str(index)
    args = [re.sub(r"\$\((\w+)\)", lambda m: env[m[1]], a) for a in c["args"]]
    return c["command"] + args, {**os.environ, **env}


def start(spec, index=None):
    args, env = command(spec, index)
    return subprocess.Popen(args, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(process, want=0):
    _, err = process.communicate(timeout=120)
    assert process.returncode == want, (process.args, process.returncode, err)
    return err


# A schema that takes everything proves nothing.
broken = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"}, "spec": {"completionMod": "Indexed", "template": {}}}
try:
    kubernetes_validate.validate(broken, kubernetes_validate.latest_version(), strict=True)
    raise SystemExit("a wrong field was accepted")
except kubernetes_validate.ValidationError:
    pass

pack, end = load("pack-job.yaml"), load("finish-job.yaml")
assert pack["completionMode"] == "Indexed"
n = pack["completions"]
assert f"/{n}" in " ".join(command(pack, 0)[0]), "completions and the n of --shard differ"

finish(start(pack, n // 2))
err = finish(start(end), 1)
assert "--shard" in err and "is missing" in err, err
# A pod that is killed, whose index then runs again.
killed = start(pack, 0)
time.sleep(0.02)
killed.kill()
killed.communicate()
running = [start(pack, i) for i in [*range(n), 0, 3]]
for p in running:
    finish(p)
finish(start(end))
# Status 2 ends the Job: another plan.
with open(work + "/plan.json") as f:
    other = f.read().replace('"infer_prep_plan": 1', '"infer_prep_plan": 9')
with open(work + "/wrong.json", "w") as f:
    f.write(other)
args, env = command(pack, 0)
args = [a.replace("/plan.json", "/wrong.json") for a in args]
assert subprocess.run(args, env=env, capture_output=True).returncode == 2
assert [2] == pack["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"]
print(f"{n} indexes ran, two of them twice and one killed before")
