#!/usr/bin/env python3
"""Installs the pages and the examples: install.py SOURCE DOCDIR INCLUDEDIR

Links between pages stay. A link to a header or an example leads to its installed
copy. A link to another file of the source becomes text, because that file is not
installed.
"""
import glob
import os
import re
import shutil
import sys

EXAMPLES = "test/Install/Inputs"
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def rewrite(text, page, source, installed):
    """Replaces the links of `page`; `installed` maps a path in the source to one beside the page."""

    def replace(link):
        target, _, anchor = link.group(2).partition("#")
        if not target or ":" in target:
            return link.group()
        path = os.path.normpath(os.path.join(os.path.dirname(page), target))
        if not os.path.exists(os.path.join(source, path)):
            sys.exit(f"{page}: found a link to {target}, which does not exist")
        target = installed(path)
        if target is None:
            return link.group(1)
        return f"[{link.group(1)}]({target}{'#' + anchor if anchor else ''})"

    # Code in fences has brackets of its own.
    parts = re.split(r"(?ms)(^```.*?^```)", text)
    return "".join(part if part.startswith("```") else LINK.sub(replace, part) for part in parts)


def main(source, docdir, includedir):
    pages = ["README.md", "CHANGELOG.md"] + sorted(glob.glob("docs/**/*.md", root_dir=source, recursive=True))
    for page in pages:
        folder = os.path.join(docdir, os.path.dirname(page))

        def installed(path, folder=folder):
            if path == "LICENSE" or path in pages or path.startswith(("docs/images/", "docs/programs/")):
                place = os.path.join(docdir, path)
            elif path.startswith(EXAMPLES + "/"):
                place = os.path.join(docdir, "examples", os.path.relpath(path, EXAMPLES))
            elif path.startswith("include/"):
                place = os.path.join(includedir, os.path.relpath(path, "include"))
            else:
                return None
            return os.path.relpath(place, folder)

        with open(os.path.join(source, page), encoding="utf-8") as file:
            text = rewrite(file.read(), page, source, installed)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(docdir, page), "w", encoding="utf-8") as file:
            file.write(text)
    for folder, place in [("docs/images", "docs/images"), ("docs/programs", "docs/programs"), (EXAMPLES, "examples")]:
        shutil.copytree(os.path.join(source, folder), os.path.join(docdir, place), dirs_exist_ok=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
