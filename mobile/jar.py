"""Puts the JVM's jar, its sources, its docs and its POM into jvm/target/dist, for build-jar.sh.

usage: jar.py VERSION
"""
import os, re, sys, zipfile

from pack import archive, jar, pom, read, tree

version = sys.argv[1]
built = "jvm/target/infer-prep-0.0.0-SNAPSHOT"
folder = "jvm/target/dist"
os.makedirs(folder, exist_ok=True)
for old in os.listdir(folder):
    os.remove(f"{folder}/{old}")

# Maven's own files have other times and versions in each build.
files = jar(f"{built}.jar", lambda n: not n.endswith("/") and not n.startswith("META-INF/maven/"))
want = {f"io/github/inferprep/native/linux/{arch}/libinferprep.so" for arch in ("amd64", "arm64")}
natives = {n for n in files if n.endswith(".so")}
if natives != want:
    sys.exit(f"jar.py: {built}.jar has the libraries {sorted(natives)}, want {sorted(want)}")
module = re.search(rb"^Automatic-Module-Name: .*", files["META-INF/MANIFEST.MF"], re.M).group(0).strip()
files["META-INF/MANIFEST.MF"] = b"Manifest-Version: 1.0\r\n" + module + b"\r\nImplementation-Version: " + version.encode() + b"\r\n\r\n"
text = re.search("<description>(.*?)</description>", read("jvm/pom.xml").decode()).group(1)
name = f"{folder}/infer-prep-{version}"
for suffix, data in {
    ".jar": archive(files),
    "-sources.jar": archive(tree("kotlin", ".kt") | tree("bind/_build/java", ".java")),
    "-javadoc.jar": archive(jar(f"{built}-javadoc.jar", lambda n: not n.endswith("/") and not n.startswith("META-INF/"))),
    ".pom": pom("infer-prep", version, "jar", "infer-prep", text).encode(),
}.items():
    with open(name + suffix, "wb") as f:
        f.write(data)
    print(f"jar: mobile/{name}{suffix}: {len(data):,} bytes")
