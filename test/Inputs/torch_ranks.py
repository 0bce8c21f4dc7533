# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a Python script in a process for each rank. A rank that fails or hangs leaves no other one behind, and the
failure has what all ranks have printed and, with `say_where`, where each of them was.

Importing PyTorch and Inductor takes 5 s of processor time. So ranks are forks of one process that has imported both. They
have the same hashes of strings, and sets of strings the same order on all ranks: where this may hide that ranks differ, ask
for `fresh` interpreters.
"""

import atexit
import contextlib
import faulthandler
import gc
import importlib
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ON_GPUS = os.environ.get("BRAID_TEST_DEVICE") == "cuda"
#: lit ends a test after 300 seconds.
SECONDS = 270
#: What ranks have imported when they begin. None of these may start a thread.
IMPORTS = ("torch.distributed", "torch._functorch.aot_autograd", "torch._dynamo.eval_frame", "torch._inductor.compile_fx",
           "torch.distributed._functional_collectives", "braid.fx", "braid.inductor")  # fmt: skip


def say_where():
    """For a rank: SIGUSR1 prints the stacks of its threads."""
    faulthandler.register(signal.SIGUSR1, all_threads=True)


def init_group(store, rank, ranks, **options):
    """For a rank: makes the default process group, over Gloo and the file `store`, or as torchrun says if it is None; `options` are
    `init_process_group`'s.

    Where BRAID_TEST_DEVICE is "cuda", each rank has a GPU, on which it makes its tensors, and the group is NCCL's.

    Gloo's groups have one thread for collectives. With two, as PyTorch has, Gloo now and then writes to memory that it has
    freed where collectives overlap (PyTorch 2.11 and 2.13), also in the orders of Inductor's own passes. What PyTorch 2.14
    asks for beside the timeout (`enable_reconfigure`) is off by default.
    """
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    method = "env://" if store is None else f"file://{store}"
    if ON_GPUS:
        import torch

        torch.cuda.set_device(rank)
        torch.set_default_device(f"cuda:{rank}")
        dist.init_process_group("nccl", init_method=method, rank=rank, world_size=ranks, **options)
        return
    if not hasattr(c10d.ProcessGroupGloo, "has_one_thread"):

        class OneThread(dist.ProcessGroupGloo):
            has_one_thread = True

            def __init__(self, store, rank, size, timeout, **_):
                settings = dist.ProcessGroupGloo._Options()
                settings._devices = [dist.ProcessGroupGloo.create_default_device()]
                settings._threads = 1
                settings._timeout = timeout
                # Gloo would connect to the ports that ranks had before torchrun has restarted them (pytorch/pytorch#135712).
                store = dist.PrefixStore(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"), store)
                super().__init__(store, rank, size, settings)

        c10d.ProcessGroupGloo = OneThread
    dist.init_process_group("gloo", init_method=method, rank=rank, world_size=ranks, **options)


@contextlib.contextmanager
def gloo(store, rank, ranks):
    """For a rank of `run_script`: a process group as `init_group` makes it, until all ranks come to the end."""
    import torch.distributed as dist

    say_where()
    init_group(store, rank, ranks)
    yield
    dist.barrier()
    dist.destroy_process_group()


def run_script(script, ranks):
    """What each rank has printed of `script`, a file, whose words are the file of a store and the number of the rank."""
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        return run_ranks(folder, [[script, store, str(rank)] for rank in range(ranks)], [{}] * ranks)


def make_compiler(folder):
    """Variables that let Inductor compile kernels without optimization, which takes a quarter of the time. lit has set them."""
    compiler = shutil.which("g++")
    if compiler is None or "BRAID_TEST_GXX" in os.environ:
        return {}
    # By its name Inductor knows how it takes precompiled headers.
    path = os.path.join(folder, "g++")
    if not os.path.exists(path):
        with open(path, "w") as file:
            file.write(f'#!/bin/sh\nexec "{compiler}" "$@" -O0\n')
        os.chmod(path, 0o755)
    return {"CXX": path}


def run_ranks(folder, arguments, environments, seconds=SECONDS, imports=IMPORTS, fresh=False):
    """What each rank has printed.

    `arguments[i]` are the words behind the interpreter for rank i, `environments[i]` its own variables. `folder` is an
    existing one: each rank prints into a file there, because a rank that fills a pipe nobody reads would hold the
    others. Raises `AssertionError` if a rank ends with another status than 0, or does not end within `seconds`.
    Ranks are forks of a process that has imported `imports`, or have an interpreter each, if `fresh`.
    """
    paths = [os.path.join(folder, f"rank{rank}.txt") for rank in range(len(arguments))]
    environments = [{"OMP_NUM_THREADS": "1", **environment} for environment in environments]
    if fresh:
        failure = _run_interpreters(paths, arguments, environments, seconds)
    else:
        # What ranks have alike holds for imports, too, which read some variables.
        alike = {name: value for name, value in environments[0].items() if all(e.get(name) == value for e in environments)}
        job = {"paths": paths, "arguments": arguments, "environments": environments, "seconds": seconds}
        failure = _Server.get(alike, imports).run(job)
    outputs = []
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            outputs.append(file.read())
    if failure:
        raise AssertionError("\n".join([failure, *(f"rank {rank}:\n{text}" for rank, text in enumerate(outputs))]))
    return outputs


def _run_interpreters(paths, arguments, environments, seconds):
    processes = []
    for words, environment, path in zip(arguments, environments, paths):
        with open(path, "wb") as file:
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-W", "ignore", *words],
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **environment},
                )
            )
    return _wait([process.pid for process in processes], seconds)


class _Server:
    """A process that forks ranks, until the test ends, which holds its standard input."""

    servers = {}

    @classmethod
    def get(cls, environment, imports):
        key = (tuple(sorted(environment.items())), tuple(imports))
        if key not in cls.servers:
            cls.servers[key] = cls(environment, imports)
        return cls.servers[key]

    def __init__(self, environment, imports):
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", os.path.abspath(__file__), *imports],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
            text=True,
        )
        atexit.register(self.end)

    def end(self):
        self.process.stdin.close()
        self.process.wait()

    def run(self, job):
        """Why not all ranks of a job have ended well, or None."""
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise AssertionError(f"the process that forks ranks has ended with status {self.process.wait()}")
        return json.loads(answer)


def _serve(imports):
    """Forks the ranks of each job on standard input, and answers why not all have ended well. Returns in a rank: its job."""
    # What has been imported lives to the end: no collection looks at it, here or in a rank, which would copy its pages.
    gc.disable()
    for name in imports:
        importlib.import_module(name)
    gc.freeze()
    gc.enable()
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise RuntimeError(f"found {threads} threads after importing {', '.join(imports)}, expected 1: forks have no other threads")
    for line in sys.stdin:
        job = json.loads(line)
        processes = []
        for rank in job["paths"]:
            index = len(processes)
            process = os.fork()
            if process == 0:
                return job["arguments"][index], job["environments"][index], rank
            processes.append(process)
        print(json.dumps(_wait(processes, job["seconds"])), flush=True)
    return None


def _become_rank(words, environment, path):
    """Runs a script or, behind "-m", a module, as a new interpreter would."""
    for source, flags, targets in (os.devnull, os.O_RDONLY, [0]), (path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, [1, 2]):
        descriptor = os.open(source, flags, 0o644)
        for target in targets:
            os.dup2(descriptor, target)
        os.close(descriptor)
    os.environ.update(environment)
    is_module = words[0] == "-m"
    sys.argv[:] = words[is_module:]
    sys.path[0] = os.getcwd() if is_module else os.path.dirname(os.path.abspath(words[0]))
    if is_module:
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(words[0], run_name="__main__")


def _wait(processes, seconds):
    """Waits for child processes by their ids; why not all of them have ended well, or None."""
    end = time.monotonic() + seconds
    codes = [None] * len(processes)
    while True:
        for rank, process in enumerate(processes):
            if codes[rank] is None:
                ended, status = os.waitpid(process, os.WNOHANG)
                codes[rank] = os.waitstatus_to_exitcode(status) if ended else None
        failed = [rank for rank, code in enumerate(codes) if code]
        if not failed and None not in codes:
            return None
        if failed or time.monotonic() > end:
            break
        time.sleep(0.05)
    running = [rank for rank, code in enumerate(codes) if code is None]
    for rank in running:
        if not failed:
            os.kill(processes[rank], signal.SIGUSR1)
    time.sleep(1)
    for rank in running:
        os.kill(processes[rank], signal.SIGKILL)
        os.waitpid(processes[rank], 0)
    if failed:
        return f"rank {failed[0]} has ended with status {codes[failed[0]]}"
    return f"ranks {running} have not ended after {seconds} seconds"


if __name__ == "__main__":
    _rank = _serve(sys.argv[1:])
    if _rank:
        _become_rank(*_rank)
