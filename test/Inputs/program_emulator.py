# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs whole programs for GPUs, with control flow, by the engine cuda on the fake driver: the kernels are those of
kernel_emulator.py, matmuls those of the fake cuBLASLt. One program after the other, since names of kernels are global."""

import ctypes
import functools
import os
import re
import threading

import braid_testing as bt
import kernel_emulator

SIZES = {"ptr": 8, "i64": 8, "i32": 4, "float": 4, "double": 8, "i16": 2, "i8": 1, "i1": 1}
TO_KERNELS = ["--braid-lower-to-cuda", "--mlir-print-ir-before=gpu-module-to-binary", "--mlir-print-ir-module-scope",
              "--mlir-disable-threading", "-o", os.devnull]  # fmt: skip


class Program:
    """`cxx` is a Clang of the version of LLVM, `libraries` the folder of the fakes."""

    def __init__(self, source, directory, cxx, libraries):
        os.makedirs(directory, exist_ok=True)
        path = os.path.join(directory, "program.mlir")
        with open(path, "w") as file:
            file.write(source)
        self.shared = os.path.join(directory, "program.so")
        bt.command(["braid-compile", path, "--target=cuda", "--passes=none", "-o", self.shared])
        printed = bt.command(["braid-opt", path, "--braid-prepare=target=cuda", *TO_KERNELS]).stderr
        self.printed = printed
        self._register(kernel_emulator.find_module(printed), directory, cxx, libraries)

    def _register(self, text, directory, cxx, libraries):
        """Gives the fake driver what the kernels do."""
        text = text[: re.search(r"^  }$", text, re.MULTILINE).end()]
        code, library = (os.path.join(directory, name) for name in ("kernels.ll", "kernels.so"))
        ir = kernel_emulator.emulated_ir(text)
        with open(code, "w") as file:
            file.write(ir)
        emulator = kernel_emulator.compile_emulator(cxx, os.path.dirname(directory))
        bt.command([cxx, "-O1", "-ffp-contract=off", "-w", "-fPIC", "-shared", code, emulator, "-o", library])
        self.kernels = ctypes.CDLL(library)
        driver = ctypes.CDLL(os.path.join(libraries, "libfake_cuda.so"), mode=ctypes.RTLD_GLOBAL)
        kind = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), *[ctypes.POINTER(ctypes.c_uint)] * 2)
        self.callbacks, self.lock = [], threading.Lock()
        for name, types in kernel_emulator.kernel_parameters(ir).items():
            run = kind(functools.partial(self._emulate, getattr(self.kernels, "emulate_" + name)))
            self.callbacks.append(run)
            sizes = (ctypes.c_size_t * len(types))(*[SIZES[one] for one in types])
            driver.fake_cuda_register_kernel(name.encode(), sizes, len(types), ctypes.cast(run, ctypes.c_void_p))

    def _emulate(self, function, arguments, grid, block):
        # Ranks are threads.
        with self.lock:
            self.kernels.emulate(function, arguments, grid[0], block[0])

    def executable(self):
        from braid.mlir import Executable

        return Executable(self.shared)


def compile_function(fn, args, directory, cxx, libraries):
    """What `braid.jax.compile` gives for GPUs; the kernels run on the host, by the Program `emulated` of the function."""
    import braid.jax

    program = braid.jax.export(fn, *args)
    emulated = Program(program.text, directory, cxx, libraries)
    function = braid.jax.Function(program, emulated.executable())
    function.emulated = emulated
    return function
