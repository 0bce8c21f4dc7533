"""Checks the RUNPATH of all executables and shared objects below the given folders, and of
those in the wheels there."""

import io
import os
import re
import subprocess
import sys
import tempfile
import zipfile

# What is not Braid's: environments of Python, and what tests leave.
FOREIGN = {"python", "jax", "Output", "CMakeFiles"}


def is_linked(stream):
    """Whether an open file is an executable or a shared object, no object file."""
    head = stream.read(18)
    return head[:4] == b"\x7fELF" and head[16:18] in (b"\2\0", b"\3\0")


def files_of(folder):
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - FOREIGN)
        for name in sorted(names):
            file = os.path.join(path, name)
            if os.path.isfile(file) and not os.path.islink(file):
                yield file


def runpaths_of(file):
    text = subprocess.run(["readelf", "-d", file], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", text)


def problems_of(name, file):
    for runpath in runpaths_of(file):
        for element in dict.fromkeys(runpath.split(":")):
            if not element.startswith("/") and not re.match(r"\$ORIGIN(/|$)", element):
                yield (f"{name}: RUNPATH '{runpath}' has the element '{element}', "
                       "expected an absolute path or $ORIGIN")


def main():
    count, problems = 0, []
    for folder in sys.argv[1:]:
        for file in files_of(folder):
            if file.endswith(".whl"):
                with zipfile.ZipFile(file) as wheel, tempfile.TemporaryDirectory() as place:
                    for member in wheel.namelist():
                        if is_linked(io.BytesIO(wheel.read(member))):
                            count += 1
                            problems += problems_of(f"{file}: {member}", wheel.extract(member, place))
                continue
            with open(file, "rb") as stream:
                linked = is_linked(stream)
            if linked:
                count += 1
                problems += problems_of(file, file)
    if problems:
        sys.exit("\n".join(problems))
    print(f"{count} files, all RUNPATHs are absolute")


main()
