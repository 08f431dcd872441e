"""Packs a folder for a release: the same content gives the same bytes.

usage: archive.py FOLDER OUT

OUT ends in .tar.gz or .zip and has the folder's own name at its root. SOURCE_DATE_EPOCH is the time of all members, and
their owner is root. Programs and shared libraries are executable, all else is not; a zip has no links.
"""
import gzip, io, os, sys, tarfile, time, zipfile

folder, out = sys.argv[1:]
folder = os.path.normpath(folder)
stamp = int(os.environ["SOURCE_DATE_EPOCH"])
paths = sorted(os.path.join(d, n) for d, dirs, names in os.walk(folder) for n in dirs + names)
name = lambda path: os.path.relpath(path, os.path.dirname(folder)).replace(os.sep, "/")
mode = lambda path: 0o755 if os.path.isdir(path) or os.access(path, os.X_OK) or path.endswith((".exe", ".dll")) else 0o644
if out.endswith(".zip"):
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for path in paths:
            if os.path.islink(path):
                sys.exit(f"archive: {path}: a link, which a zip cannot hold")
            if os.path.isfile(path):
                i = zipfile.ZipInfo(name(path), time.gmtime(stamp)[:6])
                i.external_attr, i.compress_type = mode(path) << 16, zipfile.ZIP_DEFLATED
                with open(path, "rb") as f:
                    z.writestr(i, f.read())
elif out.endswith(".tar.gz"):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as t:
        for path in [folder, *paths]:
            i = tarfile.TarInfo(name(path))
            i.mtime, i.mode = stamp, mode(path)
            if os.path.islink(path):
                i.type, i.linkname, i.mode = tarfile.SYMTYPE, os.readlink(path), 0o777
                t.addfile(i)
            elif os.path.isdir(path):
                i.type = tarfile.DIRTYPE
                t.addfile(i)
            else:
                i.size = os.path.getsize(path)
                with open(path, "rb") as f:
                    t.addfile(i, f)
    with open(out, "wb") as f:
        f.write(gzip.compress(raw.getvalue(), 9, mtime=0))
else:
    sys.exit(f"archive: {out}: want .tar.gz or .zip")
