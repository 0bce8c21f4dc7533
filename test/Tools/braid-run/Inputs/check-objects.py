"""check-objects.py FOLDER: gives braid-run what p.so of the folder is not."""

import os
import re
import struct
import subprocess
import sys

folder = sys.argv[1]
with open(os.path.join(folder, "p.so"), "rb") as stream:
    program = stream.read()
failures = []


def check(file, expected):
    done = subprocess.run(["braid-run", os.path.join(folder, file), "--arg=ones"], capture_output=True, text=True, check=False)
    if done.returncode != 1 or not re.search(r"^braid-run: error: cannot load .*" + file + ": " + expected, done.stderr):
        failures.append(f"{file}: expected {expected!r}, found status {done.returncode}, {done.stderr!r}")


def write(file, content):
    with open(os.path.join(folder, file), "wb") as stream:
        stream.write(content)


def changed(offset, form, value):
    content = bytearray(program)
    struct.pack_into(form, content, offset, value)
    return bytes(content)


check("missing.so", "No such file or directory")
check("folder.so", "found a folder, expected a file")
check("object.so", "the file is an object file that is not linked, expected a shared object")
write("empty.so", b"")
check("empty.so", r"the file is empty, expected a shared object \(ELF\)")
write("text.so", b"func.func @main() { return }\n")
check("text.so", r"the file is no shared object \(ELF\), by its first bytes")
write("machine.so", changed(18, "<H", 243))
check("machine.so", "the file was compiled for another machine: found RISC-V, expected ")
write("unknown.so", changed(18, "<H", 9999))
check("unknown.so", "the file was compiled for another machine: found number 9999, expected ")
write("bits.so", changed(4, "B", 1))
check("bits.so", "the file was compiled for 32 bits, expected 64")
write("order.so", changed(5, "B", 2))
check("order.so", "the file was compiled for another byte order")
write("core.so", changed(16, "<H", 4))
check("core.so", "the file is a core dump, expected a shared object")
# Truncated within the header, the segments, and the table of sections at the end.
for size in (5, 63, 100, 4096, len(program) // 2, len(program) - 1):
    write("truncated.so", program[:size])
    check("truncated.so", f"the file is truncated( or damaged)?: found {size} bytes, ")
# Tables that lie beyond the file, and beyond all files.
for offset in (32, 40):
    write("tables.so", changed(offset, "<Q", 2**64 - 8))
    check("tables.so", "the file is truncated or damaged: ")
if failures:
    sys.exit("\n".join(failures))
