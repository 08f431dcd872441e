"""Puts the JVM's jar, its sources and its POM into ../dist, for build-jar.sh; with --docs its docs too.

usage: jar.py [--docs]
It prints the path of the jar.
"""
import os, re, sys

from pack import VERSION, archive, jar, licences, pom, read, tree

built = f"jvm/target/infer-prep-{VERSION}"
folder = os.path.abspath("../dist")
os.makedirs(folder, exist_ok=True)

# Maven's own files have other times and versions in each build.
files = jar(f"{built}.jar", lambda n: not n.endswith("/") and not n.startswith("META-INF/maven/"))
want = {f"io/github/inferprep/native/linux/{arch}/libinferprep.so" for arch in ("amd64", "arm64")}
natives = {n for n in files if n.endswith(".so")}
if natives != want:
    sys.exit(f"jar.py: {built}.jar has the libraries {sorted(natives)}, want {sorted(want)}")
module = re.search(rb"^Automatic-Module-Name: .*", files["META-INF/MANIFEST.MF"], re.M).group(0).strip()
files["META-INF/MANIFEST.MF"] = b"Manifest-Version: 1.0\r\n" + module + b"\r\nImplementation-Version: " + VERSION.encode() + b"\r\n\r\n"
files |= licences()
text = re.search("<description>(.*?)</description>", read("jvm/pom.xml").decode()).group(1)
made = {
    ".jar": archive(files),
    "-sources.jar": archive(tree("kotlin", ".kt") | tree("bind/_build/java", ".java")),
    ".pom": pom("infer-prep", "jar", "infer-prep", text).encode(),
}
if "--docs" in sys.argv[1:]:
    made["-javadoc.jar"] = archive(jar(f"{built}-javadoc.jar", lambda n: not n.endswith("/") and not n.startswith("META-INF/")))
name = f"{folder}/infer-prep-{VERSION}"
for suffix, data in made.items():
    with open(name + suffix, "wb") as f:
        f.write(data)
    print(f"jar: {os.path.basename(name)}{suffix}: {len(data):,} bytes", file=sys.stderr)
print(f"{name}.jar")
