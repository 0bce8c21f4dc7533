"""variables.py ROOT PAGE: the page names every environment variable that the sources of users' programs read."""
import os
import re
import sys

root, page = sys.argv[1:]
FOLDERS = ("lib", "python/braid", "tools/braid-run", "tools/braid-compile", "tools/braid-calibrate", "tools/braid-opt")
# A call that reads a variable; a name in a table of a source that reads variables by such names.
CALL = re.compile(r"(?:getenv|environ\.get|environ)[(\[]\s*[\"']([A-Za-z_]+)[\"']")
READS = re.compile(r"\bgetenv\b|\benviron\b|\bVariables &")
NAME = re.compile(r"[\"']([A-Z][A-Z0-9]*_[A-Z0-9_a-z]+)[\"']")
OWN = re.compile(r"[\"'](BRAID_[A-Z_]+)[\"']")
# Codes of an interface, and what is in no environment.
OTHER = re.compile(r"CUDA_(ERROR|SUCCESS)|MPI_THREAD_|BRAID_RT_|BRAID_INFO|BRAID_DETAIL")

found = {}
for folder in FOLDERS:
    for here, _, names in os.walk(os.path.join(root, folder)):
        for name in names:
            if not name.endswith((".cpp", ".h", ".py")):
                continue
            path = os.path.join(here, name)
            with open(path, encoding="utf-8") as file:
                source = file.read()
            variables = set(CALL.findall(source)) | set(OWN.findall(source))
            if READS.search(source):
                variables |= set(NAME.findall(source))
            for variable in variables:
                if not OTHER.match(variable):
                    found.setdefault(variable, os.path.relpath(path, root))

with open(page, encoding="utf-8") as file:
    text = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", file.read()))
missing = [f"{path}: reads {variable}" for variable, path in sorted(found.items()) if variable not in text]
if missing or len(found) < 40:
    sys.exit("\n".join([f"{len(found)} variables, at least 40 expected; not in the page:"] + missing))
