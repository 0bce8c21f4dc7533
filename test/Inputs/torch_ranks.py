# ===- torch_ranks.py - Processes of ranks that a test waits for -----------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""Runs a Python script in a process for each rank. A rank that fails or hangs leaves no other one behind, and the
failure has what all ranks have printed and, with `say_where`, where each of them was."""

import contextlib
import faulthandler
import os
import signal
import subprocess
import sys
import tempfile
import time

#: lit ends a test after 300 seconds.
SECONDS = 270


def say_where():
    """For a rank: SIGUSR1 prints the stacks of its threads."""
    faulthandler.register(signal.SIGUSR1, all_threads=True)


def init_gloo(store, rank, ranks, **options):
    """For a rank: makes the default process group, over Gloo and the file `store`; `options` are `init_process_group`'s.

    Groups have one thread for collectives. With two, as PyTorch has, Gloo now and then writes to memory that it has
    freed where collectives overlap (PyTorch 2.11 and 2.13), also in the orders of Inductor's own passes.
    """
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    if not hasattr(c10d.ProcessGroupGloo, "has_one_thread"):

        class OneThread(dist.ProcessGroupGloo):
            has_one_thread = True

            def __init__(self, store, rank, size, timeout):
                settings = dist.ProcessGroupGloo._Options()
                settings._devices = [dist.ProcessGroupGloo.create_default_device()]
                settings._threads = 1
                settings._timeout = timeout
                super().__init__(store, rank, size, settings)

        c10d.ProcessGroupGloo = OneThread
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks, **options)


@contextlib.contextmanager
def gloo(store, rank, ranks):
    """For a rank of `run_script`: a process group as `init_gloo` makes it, until all ranks come to the end."""
    import torch.distributed as dist

    say_where()
    init_gloo(store, rank, ranks)
    yield
    dist.barrier()
    dist.destroy_process_group()


def run_script(script, ranks):
    """What each rank has printed of `script`, a file, whose words are the file of a store and the number of the rank."""
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        return run_ranks(folder, [[script, store, str(rank)] for rank in range(ranks)], [{}] * ranks)


def run_ranks(folder, arguments, environments, seconds=SECONDS):
    """What each rank has printed.

    `arguments[i]` are the words behind the interpreter for rank i, `environments[i]` its own variables. `folder` is an
    existing one: each rank prints into a file there, because a rank that fills a pipe nobody reads would hold the
    others. Raises `AssertionError` if a rank ends with another status than 0, or does not end within `seconds`.
    """
    paths = [os.path.join(folder, f"rank{rank}.txt") for rank in range(len(arguments))]
    processes = []
    for words, environment, path in zip(arguments, environments, paths):
        with open(path, "wb") as file:
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-W", "ignore", *words],
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
                )
            )
    failure = _wait(processes, seconds)
    outputs = []
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            outputs.append(file.read())
    if failure:
        raise AssertionError("\n".join([failure, *(f"rank {rank}:\n{text}" for rank, text in enumerate(outputs))]))
    return outputs


def _wait(processes, seconds):
    """Waits for all; why not all of them have ended well, or None."""
    end = time.monotonic() + seconds
    while True:
        codes = [process.poll() for process in processes]
        failed = [rank for rank, code in enumerate(codes) if code]
        if not failed and None not in codes:
            return None
        if failed or time.monotonic() > end:
            break
        time.sleep(0.1)
    running = [rank for rank, code in enumerate(codes) if code is None]
    for rank in running:
        if not failed:
            processes[rank].send_signal(signal.SIGUSR1)
    time.sleep(1)
    for rank in running:
        processes[rank].kill()
        processes[rank].wait()
    if failed:
        return f"rank {failed[0]} has ended with status {codes[failed[0]]}"
    return f"ranks {running} have not ended after {seconds} seconds"
