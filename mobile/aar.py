"""Puts an AAR, its sources and its POM into ../dist, for build-aar.sh.

usage: aar.py [--dry-run] BUDGET ABI=LIBRARY...
It prints the path of the AAR. With --dry-run the libraries are Linux's.
"""
import io, os, re, sys, zipfile

from pack import VERSION, archive, jar, licences, pom, read, tree

arguments = sys.argv[1:]
dry = arguments[0] == "--dry-run"
budget, *libraries = arguments[dry:]
budget, libraries = int(budget), [a.split("=", 1) for a in libraries]
say = lambda text: print(f"aar: {text}", file=sys.stderr)
LIMIT = 9_300_000  # bytes of arm64-v8a's library; more is an error. 9.1 MB with sounds, streams, DICOM and the ops of both
# CameraX's declarations, which were only compiled against, stay out.
keep = lambda n: n.endswith(".class") and not n.startswith("androidx/") or n.endswith(".kotlin_module")
classes = jar(f"jvm/target/infer-prep-{VERSION}.jar", keep)
android = jar(f"android/target/infer-prep-android-{VERSION}.jar", keep)
twice = classes.keys() & android.keys()
if twice:
    sys.exit(f"aar.py: two classes have the name {sorted(twice)[0]}")
classes |= android | licences()

WARNING = b"<!-- A dry run: the native libraries are for Linux. This library does not load on Android. -->\n"
manifest = read("android/AndroidManifest.xml")
if dry:
    manifest = manifest.replace(b"<manifest ", WARNING + b"<manifest ", 1)
aar = {
    "AndroidManifest.xml": manifest,
    "R.txt": b"",
    "classes.jar": archive(classes),
    "proguard.txt": read("android/proguard.txt"),
}
over = False
for abi, path in libraries:
    so = read(path)
    aar[f"jni/{abi}/libinferprep.so"] = so
    compressed = len(archive({"x": so}))
    # Phones have arm64-v8a. x86_64 is for emulators; its vector code is larger.
    over |= len(so) > LIMIT and abi == "arm64-v8a"
    say(f"{abi}: {len(so):,} bytes, {compressed:,} compressed; the budget is {budget:,}{' (exceeded)' if len(so) > budget else ''}")

folder = os.path.abspath("../dist")
os.makedirs(folder, exist_ok=True)
name = f"{folder}/infer-prep-android-{VERSION}{'-dryrun' if dry else ''}"
with open(f"{name}.aar", "wb") as f:
    f.write(archive(aar))
with open(f"{name}-sources.jar", "wb") as f:
    f.write(archive(tree("kotlin", ".kt") | tree("android/src/main/kotlin", ".kt") | tree("bind/_build/java", ".java")))
with open(f"{name}.pom", "w") as f:
    f.write(pom("infer-prep-android", "aar", "infer-prep for Android", "Turns images into the tensors that a model was trained on, with the same bytes as in Python."))


def check(ok, what):
    if not ok:
        sys.exit(f"aar.py: {name}.aar: {what}")


# An app fails with any of these only on a device, so the file is read again.
MACHINES = {"arm64-v8a": (2, 183), "armeabi-v7a": (1, 40), "x86_64": (2, 62)}  # ELF's class and e_machine
with zipfile.ZipFile(f"{name}.aar") as z:
    want = {"AndroidManifest.xml", "R.txt", "classes.jar", "proguard.txt"} | {f"jni/{abi}/libinferprep.so" for abi, _ in libraries}
    check(sorted(z.namelist()) == sorted(want), f"holds {z.namelist()}, want {sorted(want)}")
    check(b'android:minSdkVersion="21"' in z.read("AndroidManifest.xml"), "the manifest has no minSdkVersion 21")
    check((WARNING in z.read("AndroidManifest.xml")) == dry, f"the manifest says {'nothing ' if dry else ''}of a dry run")
    with zipfile.ZipFile(io.BytesIO(z.read("classes.jar"))) as c:
        names = set(c.namelist())
    for n in ("InferPrep", "InferPrepAssets", "InferPrepBitmaps", "InferPrepImages", "InferPrepCameraX", "bridge/Seq", "mobile/Preprocessor"):
        check(f"io/github/inferprep/{n}.class" in names, f"classes.jar lacks {n}")
    check(all(n.startswith(("io/github/inferprep/", "META-INF/")) for n in names), "classes.jar has classes of others")
    first = None
    for abi, _ in libraries:
        so = z.read(f"jni/{abi}/libinferprep.so")
        check(so[:4] == b"\x7fELF" and (so[4], int.from_bytes(so[18:20], "little")) == MACHINES[abi], f"the library of {abi} is for another machine")
        check(b"\x00.debug_" not in so and b"\x00.symtab\x00" not in so, f"the library of {abi} is not stripped")
        check((b"\x00libc.so.6\x00" in so) == dry, f"the library of {abi} is {'not ' if dry else ''}for Linux")
        natives = sorted(set(re.findall(rb"\x00(Java_io_github_inferprep_\w+)(?=\x00)", so)))
        check(b"Java_io_github_inferprep_bridge_Seq_init" in natives and len(natives) > 50, f"the library of {abi} exports {len(natives)} functions to Java")
        first = first or natives
        check(natives == first, f"the library of {abi} exports others than that of {libraries[0][0]}")
    say(f"{len(names)} files in classes.jar; {len(first)} functions for Java in each library")

for suffix in (".aar", "-sources.jar", ".pom"):
    say(f"{os.path.basename(name)}{suffix}: {os.path.getsize(name + suffix):,} bytes")
if over:
    sys.exit(f"aar.py: the library of arm64-v8a exceeds the limit of {LIMIT:,} bytes")
print(f"{name}.aar")
