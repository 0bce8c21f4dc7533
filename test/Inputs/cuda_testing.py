# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests of the engine cuda share: the fakes of NVIDIA's libraries, and
processes with the variables of a launcher."""

import os
import shutil
import subprocess
import tempfile

import ports


def fakes(libraries):
    """The variables that have the engine load the fakes of a folder."""
    return {f"BRAID_{name}_LIBRARY": os.path.join(libraries, file)
            for name, file in [("CUDA", "libfake_cuda.so"),
                               ("CUBLASLT", "libfake_cublasLt.so"),
                               ("CUPTI", "libfake_cupti.so"),
                               ("NCCL", "libfake_nccl.so")]}


def run_processes(ranks, words, variables, timeout):
    """Runs `words` in `ranks` processes, with the variables of torchrun; returns
    (status, output) of each. The status is None after the timeout."""
    folder = tempfile.mkdtemp(prefix="braid-fake-nccl-")
    port = ports.find_free_port()
    processes, results = [], []
    try:
        for rank in range(ranks):
            environment = {
                **os.environ, **variables, "RANK": str(rank), "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks),
                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
                "FAKE_NCCL_DIRECTORY": folder}
            processes.append(subprocess.Popen(
                [str(word) for word in words], env=environment, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        for process in processes:
            try:
                out, _ = process.communicate(timeout=timeout)
                results.append((process.returncode, out))
            except subprocess.TimeoutExpired:
                process.kill()
                results.append((None, process.communicate()[0]))
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
        shutil.rmtree(folder, ignore_errors=True)
    return results
