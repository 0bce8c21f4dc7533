"""Fails if a page below a folder has a relative link to a file that is not there: check_links.py FOLDER"""
import os
import re
import sys

pages = links = 0
dead = []
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if not name.endswith(".md"):
            continue
        pages += 1
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = re.sub(r"(?ms)^```.*?^```", "", file.read())
        for target in re.findall(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)", text):
            if ":" in target:
                continue
            links += 1
            if not os.path.exists(os.path.join(folder, target)):
                dead.append(f"{name}: {target}")
print(f"{pages} pages, {links} links")
if dead:
    sys.exit("\n".join(dead))
