"""Prints a page for an archive: links to files that the archive has elsewhere are set right, others become text. Code stays.

usage: release-page.py PAGE FOLDER
FOLDER is what will be packed. The headers of the C library are looked for in include.
"""
import os, re, sys

page, folder = sys.argv[1:]


def link(m):
    text, target = m.groups()
    if re.match(r"https?:|#", target) or os.path.exists(os.path.join(folder, target)):
        return m.group(0)
    if os.path.exists(os.path.join(folder, "include", target)):
        return f"[{text}](include/{target})"
    return text


with open(page, encoding="utf-8") as f:
    # Code that looks like a link has the odd places.
    parts = re.split(r"(^```.*?^```$|`[^`\n]*\]\([^`\n]*`)", f.read(), flags=re.M | re.S)
sys.stdout.write("".join(p if i % 2 else re.sub(r"!?\[([^\]]+)\]\(([^)\s]+)\)", link, p) for i, p in enumerate(parts)))
