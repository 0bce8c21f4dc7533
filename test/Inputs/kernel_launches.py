# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the kernels of a program with braid-opt, and reads which are launched on
which buffers. Knows programs of one function of tensors without control flow."""

import re
import subprocess
import sys

TO_KERNELS = ["--braid-prepare=target=cuda", "--convert-elementwise-to-linalg", "--comm-bufferize", "--braid-prepare-entries",
              "--canonicalize", "--cse", "--braid-split-reductions", "--convert-linalg-to-gpu", "--canonicalize", "--cse", "--symbol-dce"]
# What the host function may hold beside buffers and launches.
HARMLESS = r"\s*(module|func\.func|return|\}|\S+ = arith\.constant|#|\S+:\d+ = memref\.extract|memref\.global)"


def braid_opt(source, flags, tool="braid-opt"):
    done = subprocess.run([tool, "-", *flags], input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"braid-opt {' '.join(flags)}:\n{done.stderr}")
    return done.stdout


def read_buffer(text):
    """The shape and the element type of a memref type."""
    shape, element = re.match(r"memref<((?:\d+x)*)(complex<\w+>|\w+)", text).groups()
    return {"shape": [int(size) for size in shape.split("x") if size], "type": element}


def read_launches(text):
    """The buffers, by name, and the launches of the function `main` in `text`."""
    host = text[: text.index("gpu.module")] if "gpu.module" in text else text
    signature = re.search(r"func\.func (?:public )?@main\((.*?)\) attributes", host, re.S).group(1)
    buffers = {name: read_buffer(kind) for name, kind in re.findall(r"(%\w+): (memref<[^ ]*>)", signature)}
    for name, direction in zip(buffers, re.findall(r'direction = "(\w+)"', host)):
        buffers[name]["direction"] = direction
    constants = {name: int(value) for name, value in re.findall(r"(%\w+) = arith\.constant (-?\d+) : index", host)}
    launches, views = [], {}
    for line in host.splitlines():
        if match := re.match(r"\s*(%\w+) = memref\.alloc\(\).* : (memref<.*>)", line):
            buffers[match.group(1)] = {**read_buffer(match.group(2)), "direction": "scratch"}
        elif match := re.match(r"\s*(%\w+) = memref\.(?:expand_shape|collapse_shape|subview|cast) (%\w+)", line):
            # A kernel gets the address that the offset in the type counts from.
            views[match.group(1)] = views.get(match.group(2), match.group(2))
        elif "gpu.launch_func" in line:
            blocks, threads = re.findall(r"(?:blocks|threads) in \(([^)]*)\)", line)
            names = re.findall(r"(%\w+) : ", re.search(r"args\((.*)\)", line).group(1))
            launches.append({"kernel": re.search(r"@\w+::@(\w+)", line).group(1),
                             "grid": [constants[name] for name in blocks.split(", ")],
                             "block": [constants[name] for name in threads.split(", ")],
                             "arguments": [views.get(name, name) for name in names]})
        elif line.strip() and not re.match(HARMLESS, line):
            sys.exit(f"kernel_launches.py knows no such line: {line}")
    return buffers, launches


def make_kernels(source, tool="braid-opt"):
    """A program as launches of kernels: its text, its buffers and its launches."""
    text = braid_opt(source, TO_KERNELS, tool)
    return text, *read_launches(text)
