"""Prints the SBOM (CycloneDX 1.6 JSON) of an artifact that is no Go program.

usage: release-sbom.py PURL < MODULES [JAR...]
MODULES has a line for each Go module: its path, its version and its sum in go.sum. "std" is Go's
own library. A line may also be the package URL of what the artifact was made with, and its SHA-256. A JAR is a file of a Maven repository, which the artifact depends on. The output
depends on these alone: it has no time and no random number.
"""
import base64, hashlib, json, os, re, sys

purl = sys.argv[1]
name, version = re.fullmatch(r"pkg:[^/]+/(.+)@([^?]+)(?:\?.*)?", purl).groups()
library = lambda ref, name, version, digest: {
    "type": "library", "bom-ref": ref, "name": name, "version": version, "purl": ref,
    **({"hashes": [{"alg": "SHA-256", "content": digest}]} if digest else {}),
}
parts = {}
for line in sys.stdin:
    if line.startswith("pkg:"):
        ref, *digest = line.split()
        parts[ref] = library(ref, *re.fullmatch(r"pkg:[^/]+/(.+)@([^?]+)", ref).groups(), digest[0] if digest else None)
        continue
    path, have, *sum = line.split()
    ref = f"pkg:golang/{path}@{have}"
    digest = base64.b64decode(sum[0].removeprefix("h1:"), validate=True).hex() if sum else None
    if digest is not None and len(digest) != 64:
        sys.exit(f"release-sbom: {path}: sum {sum[0]}, want h1: and 32 bytes in base64")
    parts[ref] = library(ref, path, have, digest)
for jar in sys.argv[2:]:
    *group, artifact, have, _ = jar.split("/.m2/repository/", 1)[1].split("/")
    ref = f"pkg:maven/{'.'.join(group)}/{artifact}@{have}"
    with open(jar, "rb") as f:
        parts[ref] = library(ref, f"{'.'.join(group)}:{artifact}", have, hashlib.sha256(f.read()).hexdigest())
if not any(p.startswith(("pkg:golang/std@", "pkg:pypi/")) for p in parts) and not purl.startswith("pkg:cargo/"):
    sys.exit("release-sbom: no module std on the input")
json.dump({
    "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
    "metadata": {"component": {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}},
    "components": [parts[r] for r in sorted(parts)],
    "dependencies": [{"ref": purl, "dependsOn": sorted(parts)}],
}, sys.stdout, indent=2)
print()
