"""Builds the wheels: the PEP 517 backend of pyproject.toml, and a command.

usage: backend.py [--out DIR] TARGET...
  native         this machine's platform, with its C compiler: for tests, and
                 for `pip install ./python`
  linux-amd64, linux-arm64, windows-amd64
                 with zig (the package ziglang of this Python) as the C
                 compiler; those for Linux run with glibc 2.17 and later

A wheel for macOS is built by `native` on a Mac: Go's crypto/x509 links Apple's
framework Security, which zig does not have.

It prints the path of each wheel. GO names the go command. Default of --out:
dist. The version is that of internal/version/VERSION. Equal sources and tools
give equal bytes.
"""
import argparse
import base64
import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

try:
    import tomllib
except ImportError:  # Python 3.10
    sys.exit("backend.py: want Python 3.11 or later to build a wheel")

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
# GOOS, GOARCH, the library's file, zig's target and the wheel's platform.
TARGETS = {
    "linux-amd64": ("linux", "amd64", "libinferprep.so", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64"),
    "linux-arm64": ("linux", "arm64", "libinferprep.so", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64"),
    "windows-amd64": ("windows", "amd64", "libinferprep.dll", "x86_64-windows-gnu", "win_amd64"),
}


def go(*args, env=None):
    try:
        return subprocess.run([os.environ.get("GO") or "go", *args], cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
    except FileNotFoundError:
        sys.exit("backend.py: the go command is missing: want Go 1.26 or later (go.dev/dl), or a wheel from PyPI")
    except subprocess.CalledProcessError as e:
        sys.exit(f"backend.py: go {args[0]}: status {e.returncode}")


def library(target, folder):
    """Builds the shared library in a folder; returns its path and the wheel's platform."""
    env = os.environ | {"CGO_ENABLED": "1"}
    if target == "native":
        name = {"win32": "libinferprep.dll", "darwin": "libinferprep.dylib"}.get(sys.platform, "libinferprep.so")
        tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    else:
        goos, arch, name, zig, tag = TARGETS[target]
        compiler = os.path.join(folder, "cc")
        with open(compiler, "w") as f:  # Go splits CC at blanks, and runs it in other folders
            f.write(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang cc -target {zig} "$@"\n')
        os.chmod(compiler, 0o755)
        env |= {"GOOS": goos, "GOARCH": arch, "CC": compiler}
    out = os.path.join(folder, name)
    # Without a build ID equal sources give equal bytes.
    go("build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w -buildid=", "-o", out, "./python/lib", env=env)
    return out, tag


def licences(target, folder):
    """Returns the licences of the modules in the library, by their names in licenses/. A native wheel, which is not given away, has none."""
    if target == "native":
        return {}
    goos, arch, *_ = TARGETS[target]
    subprocess.run([os.path.join(ROOT, ".ci", "licences"), folder, "./python/lib"], cwd=ROOT, check=True,
                   env=os.environ | {"GOOS": goos, "GOARCH": arch, "CGO_ENABLED": "1"})
    found = {}
    for at, _, names in os.walk(folder):
        for n in names:
            path = os.path.join(at, n)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder).replace(os.sep, "/")] = f.read()
    return dict(sorted(found.items()))


def build(target, out):
    """Builds the wheel of a target in a folder and returns its file name."""
    with open(os.path.join(HERE, "pyproject.toml"), "rb") as f:
        project = tomllib.load(f)["project"]
    with open(os.path.join(ROOT, "internal", "version", "VERSION")) as f:
        version = f.read().strip()
    with tempfile.TemporaryDirectory() as folder:
        lib, platform = library(target, folder)
        files = {}
        package = os.path.join(HERE, "src", "infer_prep")
        for name in sorted(os.listdir(package)):
            if name.endswith(".py") or name == "py.typed":
                with open(os.path.join(package, name), "rb") as f:
                    files[f"infer_prep/{name}"] = f.read()
        files["infer_prep/_version.py"] = f'VERSION = "{version}"\n'.encode()
        with open(lib, "rb") as f:
            files[f"infer_prep/{os.path.basename(lib)}"] = f.read()
        texts = licences(target, os.path.join(folder, "licences"))
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as f:
        readme = f.read()
    with open(os.path.join(ROOT, "LICENSE"), "rb") as f:
        texts["LICENSE"] = f.read()
    meta = [
        "Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version}", f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}", f"License-Expression: {project['license']}", *(f"License-File: {n}" for n in texts),
        "Description-Content-Type: text/markdown",
        *(f"Requires-Dist: {d}" for d in project["dependencies"]), *(f"Classifier: {c}" for c in project["classifiers"]),
        *(f"Project-URL: {k}, {v}" for k, v in project["urls"].items()), "", readme,
    ]
    tag = f"py3-none-{platform}"
    info = f"infer_prep-{version}.dist-info"
    files |= {f"{info}/licenses/{n}": b for n, b in texts.items()}
    files[f"{info}/METADATA"] = "\n".join(meta).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: infer-prep\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = [f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(b).digest()).rstrip(b'=').decode()},{len(b)}" for n, b in files.items()]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()
    os.makedirs(out, exist_ok=True)
    wheel = f"infer_prep-{version}-{tag}.whl"
    whole = os.path.join(out, wheel + ".part")
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, b in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if "libinferprep" in name else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, b)
    os.replace(whole, os.path.join(out, wheel))
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return build("native", wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("backend.py: there is no source distribution: the library is built in a checkout of the whole project")


def main():
    p = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2].rstrip())
    p.add_argument("--out", default=os.path.join(ROOT, "dist"))
    p.add_argument("targets", nargs="+", choices=["native", *TARGETS], metavar="TARGET")
    a = p.parse_args()
    for t in a.targets:
        print(os.path.join(a.out, build(t, a.out)), flush=True)


if __name__ == "__main__":
    main()
