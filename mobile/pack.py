"""What aar.py and jar.py share: the version, archives of equal bytes for equal files, and POMs."""
import io, os, re, zipfile

STAMP = (1980, 1, 1, 0, 0, 0)  # the first that ZIP has


def archive(files):
    """A ZIP archive of {name: bytes}, with the same bytes for the same files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name in sorted(files, key=lambda n: (n != "META-INF/MANIFEST.MF", n)):  # some readers want it first
            info = zipfile.ZipInfo(name, STAMP)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            z.writestr(info, files[name])
    return out.getvalue()


def read(path):
    with open(path, "rb") as f:
        return f.read()


def tree(root, suffixes):
    return {
        os.path.relpath(os.path.join(d, n), root).replace(os.sep, "/"): read(os.path.join(d, n))
        for d, _, names in os.walk(root) for n in names if n.endswith(suffixes)
    }


def licences():
    """The licences of the modules in the native libraries, at their places in a jar."""
    files = tree("bind/_build/licences", "")
    if "go/LICENSE" not in files:
        raise SystemExit("pack.py: bind/_build/licences has no licence of Go")
    return {f"META-INF/licenses/infer-prep/{n}": b for n, b in (files | {"LICENSE": read("../LICENSE")}).items()}


def jar(path, keep):
    with zipfile.ZipFile(path) as z:
        return {n: z.read(n) for n in z.namelist() if keep(n)}


VERSION = read("../internal/version/VERSION").decode().strip()


def property(name):
    """A property of pom.xml."""
    return re.search(f"<{name}>(.*?)</{name}>", read("pom.xml").decode()).group(1)


def pom(artifact, packaging, name, description):
    """The POM of an artifact with the Kotlin API: its dependencies are the API's."""
    needs = "".join(f"""
    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{needed}</artifactId>
      <version>{property(version_of)}</version>
      <scope>compile</scope>
    </dependency>""" for group, needed, version_of in [
        ("org.jetbrains.kotlin", "kotlin-stdlib", "kotlin.version"),
        ("org.jetbrains.kotlinx", "kotlinx-coroutines-core", "coroutines.version"),
    ])
    whole = read("pom.xml").decode()
    about = "\n".join(re.search(f"  <{tag}>.*?</{tag}>", whole, re.S).group(0) for tag in ("url", "licenses", "developers", "scm"))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>io.github.infer-prep</groupId>
  <artifactId>{artifact}</artifactId>
  <version>{VERSION}</version>
  <packaging>{packaging}</packaging>
  <name>{name}</name>
  <description>{description}</description>
{about}
  <dependencies>{needs}
  </dependencies>
</project>
"""
