# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the kernels of a program on the host, from the LLVM IR that a GPU's code
is made of: kernel_emulator.cpp emulates the GPU."""

import _ctypes
import ctypes
import functools
import os
import re

import braid_testing as bt
import kernel_launches
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# Bytes around each buffer, which no kernel may change.
MARGIN = 256


# The function of the emulator takes memory: C has no such result.
NAME = "nvvm_mma_m16n8k8_row_col_tf32"
PRODUCT = f"""
declare void @emulate_mma(ptr, ptr)
define {{float, float, float, float}} @{NAME}(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, float %c0, float %c1, float %c2, float %c3) {{
  %ours = alloca [6 x i32]
  %sums = alloca {{float, float, float, float}}
""" + "".join(f"""  %p{n} = getelementptr i32, ptr %ours, i64 {n}
  store i32 %{"aaaabb"[n]}{n % 4}, ptr %p{n}
""" for n in range(6)) + "".join(f"""  %q{n} = getelementptr float, ptr %sums, i64 {n}
  store float %c{n}, ptr %q{n}
""" for n in range(4)) + """  call void @emulate_mma(ptr %ours, ptr %sums)
  %sum = load {float, float, float, float}, ptr %sums
  ret {float, float, float, float} %sum
}
"""


def llvm_ir(kernels):
    """The LLVM IR of the module of kernels in `kernels`, for the host."""
    lowered = kernel_launches.braid_opt(kernels, ["--braid-lower-kernels"])
    return emulated_ir(find_module(lowered.rstrip().removesuffix("}")))


def find_module(text):
    """The gpu.module of a printed module whose first it is, behind the aliases of attributes that it uses."""
    begin = text.index("gpu.module @")
    aliases = re.findall(r"^#alias_scope.*", text[:begin], re.MULTILINE)
    return "\n".join([*aliases, text[begin:]])


def kernel_parameters(ir):
    """The types of the parameters of each kernel."""
    return {name: [parameter.split()[0] for parameter in parameters.split(", ") if parameter]
            for name, parameters in re.findall(r"define void @(?!emulate_)(\w+)\(([^)]*)\)", ir)}  # fmt: skip


def emulated_ir(module):
    """The LLVM IR for the host of a gpu.module whose kernels are lowered, with a function `emulate_NAME` for each kernel."""
    module = re.sub(r"gpu\.module @\w+ (\[.*?\] )?\{", "module {", module, count=1)
    text = bt.command_with_input(["mlir-translate", "--mlir-to-llvmir"], module)
    text = text.replace("ptx_kernel ", "").replace("internal addrspace(3) global", "global")
    text = re.sub(r"addrspacecast \(ptr addrspace\(3\) (@\w+) to ptr\)", r"\1", text).replace(" addrspace(3)", "")
    # Global memory is the host's, and a load in PTX is a load.
    text = re.sub(r"addrspacecast ptr (%\w+) to ptr addrspace\(1\)", r"getelementptr i8, ptr \1, i64 0", text)
    text = re.sub(r'call (\{[^}]*\}) asm "ld\.global[^"]*", "[^"]*"\(ptr addrspace\(1\) (%\w+)\)', r"load \1, ptr \2", text)
    text = re.sub(r"@llvm\.nvvm\.([\w.]+)", lambda name: "@nvvm_" + name.group(1).replace(".", "_"), text)
    if f"@{NAME}(" in text:
        text = re.sub(rf"^declare .*@{NAME}\(.*$", "", text, flags=re.MULTILINE) + PRODUCT
    for name, types in kernel_parameters(text).items():
        text += f"\ndefine void @emulate_{name}(ptr %a) {{\n"
        for index, kind in enumerate(types):
            text += f"  %p{index} = getelementptr ptr, ptr %a, i64 {index}\n  %q{index} = load ptr, ptr %p{index}\n"
            text += f"  %v{index} = load {kind}, ptr %q{index}\n"
        text += f"  call void @{name}({', '.join(f'{kind} %v{index}' for index, kind in enumerate(types))})\n  ret void\n}}\n"
    return text


@functools.lru_cache(maxsize=None)
def compile_emulator(cxx, directory):
    """The object of the emulator, which all programs of a process share."""
    result = os.path.join(directory, "kernel_emulator.o")
    bt.command([cxx, "-O1", "-ffp-contract=off", "-w", "-fPIC", "-c", os.path.join(HERE, "kernel_emulator.cpp"), "-o", result])
    return result


class Emulator:
    """The kernels of one program. `cxx` is a Clang of the version of LLVM."""

    def __init__(self, source, directory, cxx):
        os.makedirs(directory, exist_ok=True)
        self.text, self.buffers, self.launches = kernel_launches.make_kernels(source)
        self.library = None
        if not self.launches:
            return
        code, library = (os.path.join(directory, name) for name in ("kernels.ll", "kernels.so"))
        with open(code, "w") as file:
            file.write(llvm_ir(self.text))
        emulator = compile_emulator(cxx, os.path.dirname(directory))
        bt.command([cxx, "-O1", "-ffp-contract=off", "-w", "-fPIC", "-shared", code, emulator, "-o", library])
        self.library = ctypes.CDLL(library)

    def __del__(self):
        # A library keeps the stacks of its threads, up to 128 MiB.
        if getattr(self, "library", None):
            _ctypes.dlclose(self.library._handle)

    def run(self, inputs):
        """The results of the program, as arrays of their storage types."""
        inputs, memory, results = list(inputs), {}, []
        for name, buffer in self.buffers.items():
            storage = bt.ELEMENT_TYPES[buffer["type"]].storage
            size = int(np.prod(buffer["shape"])) * storage.itemsize
            space = np.full(size + 2 * MARGIN + 64, 0xFF, np.uint8)
            start = MARGIN + -(space.ctypes.data + MARGIN) % 64
            array = space[start : start + size].view(storage).reshape(buffer["shape"])
            if buffer["direction"] == "in":
                array[...] = inputs.pop(0)
            elif buffer["direction"] == "out":
                results.append(array)
            memory[name] = space, start, size
        for launch in self.launches:
            words = [ctypes.c_void_p(memory[name][0].ctypes.data + memory[name][1]) for name in launch["arguments"]]
            arguments = (ctypes.c_void_p * len(words))(*[ctypes.addressof(word) for word in words])
            assert launch["grid"][1:] == [1, 1] and launch["block"][1:] == [1, 1]
            self.library.emulate(getattr(self.library, "emulate_" + launch["kernel"]), arguments, launch["grid"][0], launch["block"][0])
        for name, (space, start, size) in memory.items():
            assert (space[:start] == 0xFF).all() and (space[start + size :] == 0xFF).all(), f"a kernel wrote beside {name}"
        return results
