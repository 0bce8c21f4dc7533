#!/usr/bin/env python3
"""Faults on GPUs: each has to end on every rank, within its limit, with a non-zero exit
status and a message that says what is wrong.

    cuda_faults.py faults --prepare [--chip=sm_90] [--braid-compile=build/bin/braid-compile]
    cuda_faults.py faults [--braid-run=bin/braid-run] [--limit=60] [--only=killed,late]

The first line, where Braid is built, compiles the programs into the folder `faults`.
The second one runs the faults where two GPUs are, several at a time, and prints each
outcome when it is known. The exit status is 1 if any of them is not as expected.
With --fakes=DIR the libraries are the fakes of DIR, which need no GPU; what they cannot
show is skipped.
"""

import argparse
import concurrent.futures
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

#: A step that takes some time, so that a signal arrives while it runs.
STEP = """\
comm.group @world all {comm.lanes = [{name = "bulk", ctas = 8 : i64}]}
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.constant 1000 : index
  %y = scf.for %i = %c0 to %count step %c1 iter_args(%z = %x) -> tensor<1024xf32> {
    %t0 = comm.all_reduce avg %z on @world {comm.lane = "bulk"} : tensor<1024xf32>
    %0 = comm.wait %t0 : !comm.token<tensor<1024xf32>>
    %t1 = comm.all_reduce max %0 on @world : tensor<1024xf32>
    %1 = comm.wait %t1 : !comm.token<tensor<1024xf32>>
    scf.yield %1 : tensor<1024xf32>
  }
  return %y : tensor<1024xf32>
}
"""

#: With a kernel: an image that only one family of chips can run.
KERNEL = """\
comm.group @world all
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %e = tensor.empty() : tensor<1024xf32>
  %0 = linalg.add ins(%x, %x : tensor<1024xf32>, tensor<1024xf32>)
                  outs(%e : tensor<1024xf32>) -> tensor<1024xf32>
  %t1 = comm.all_reduce sum %0 on @world : tensor<1024xf32>
  %1 = comm.wait %t1 : !comm.token<tensor<1024xf32>>
  return %1 : tensor<1024xf32>
}
"""

#: With a buffer of 256 GiB between two kernels.
BIG = """\
comm.group @world all
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x67108864xf32>
  %0 = linalg.broadcast ins(%x : tensor<1024xf32>)
         outs(%e : tensor<1024x67108864xf32>) dimensions = [1]
  %tg = comm.all_reduce sum %0 on @world : tensor<1024x67108864xf32>
  %g = comm.wait %tg : !comm.token<tensor<1024x67108864xf32>>
  %r = tensor.empty() : tensor<1024xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%r : tensor<1024xf32>) -> tensor<1024xf32>
  %1 = linalg.reduce ins(%g : tensor<1024x67108864xf32>) outs(%z : tensor<1024xf32>)
         dimensions = [1]
         (%a: f32, %b: f32) { %s = arith.addf %a, %b : f32  linalg.yield %s : f32 }
  return %1 : tensor<1024xf32>
}
"""


def another_chip(chip):
    """A chip whose code does not run on `chip`."""
    return "sm_90a" if chip.startswith("sm_10") else "sm_100"


def prepare(options):
    """Compiles the programs."""
    os.makedirs(options.folder, exist_ok=True)
    other = STEP.replace("max", "min")
    for name, text, chip in [
        ("step", STEP, options.chip),
        ("other", other, options.chip),
        ("chip", KERNEL, another_chip(options.chip)),
        ("big", BIG, options.chip),
    ]:
        source = os.path.join(options.folder, name + ".mlir")
        with open(source, "w", encoding="utf-8") as stream:
            stream.write(text)
        target = os.path.join(options.folder, name + ".so")
        command = [options.braid_compile, source, "--target=cuda", f"--chip={chip}", "-o", target]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{name}.mlir: {done.stderr.strip()}")
        print(f"{target}: {chip}", flush=True)


def free_port():
    """A port that was free a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Config(ctypes.Structure):
    """braid_rt_config."""

    _fields_ = [
        ("engine", ctypes.c_char_p),
        *((name, ctypes.c_int32) for name in ("ranks", "debug", "blas_threads", "trace")),
        ("timeout_ns", ctypes.c_int64),
        ("option_count", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("options", "log", "log_data")),
    ]


def load(options):
    """Makes this process's rank and has it prepare its program."""
    binary = shutil.which(options.braid_run) or sys.exit(f"no {options.braid_run}")
    folder = os.path.dirname(os.path.dirname(os.path.realpath(binary)))
    runtime = ctypes.CDLL(os.path.join(folder, "lib", "libbraid_rt.so"), ctypes.RTLD_GLOBAL)
    for name in ("braid_rt_world_create", "braid_rt_load", "braid_rt_library_program"):
        getattr(runtime, name).restype = ctypes.c_void_p
    text = ctypes.create_string_buffer(4096)
    config = Config()

    def check(value):
        if not value:
            sys.exit(text.value.decode(errors="replace"))
        return ctypes.c_void_p(value)

    runtime.braid_rt_config_init(ctypes.byref(config), text, len(text))
    config.engine = b"cuda"
    config.ranks = 0
    world = check(runtime.braid_rt_world_create(ctypes.byref(config), text, len(text)))
    library = check(runtime.braid_rt_load(options.folder.encode(), text, len(text)))
    program = ctypes.c_void_p(runtime.braid_rt_library_program(library))
    check(runtime.braid_rt_world_prepare(world, program, text, len(text)) == 0)
    runtime.braid_rt_world_destroy(world)


class Process:
    """A process whose output is read while it runs."""

    def __init__(self, command, variables):
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(
            command,
            env={**os.environ, **variables},
            text=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.text = ""
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        """Collects the output."""
        for line in self.process.stdout:
            with self.changed:
                self.text += line
                self.changed.notify_all()

    def wait_for(self, pattern, deadline):
        """Whether the output matches before the deadline and the process's end."""
        with self.changed:
            while not re.search(pattern, self.text):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    return False
                self.changed.wait(0.05)
        return True

    def wait_for_end(self, deadline):
        """The exit status; None where the process still runs at the deadline."""
        try:
            return self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return None

    def end(self, deadline):
        """The exit status; None where the process had to be killed."""
        status = self.wait_for_end(deadline)
        if status is None:
            self.kill()
        self.reader.join(2)
        return status

    def kill(self):
        """Ends it, stopped or not."""
        self.process.kill()
        self.process.wait()


class Fault:
    """One way to fail, and what each process has to say."""

    #: How long one may take: the start of a process on a GPU is some seconds, and of
    #: several at once ten or more.
    seconds = 40

    def __init__(self, name, program, words, **more):
        self.name = name
        self.program = program
        #: A pattern for each process; none: it is killed.
        self.words = words
        self.arguments = more.get("arguments", [])
        self.variables = more.get("variables", {})
        #: What to send to the last process when all of them work.
        self.signal = more.get("signal")
        #: Whether each process prepares its own program by the runtime alone: braid-run
        #: gives all processes that of the first one.
        self.prepares = more.get("prepares", False)
        #: The exit status of each process that is not killed.
        self.status = more.get("status", 1)
        #: Why the fakes cannot show it.
        self.needs_gpus = more.get("needs_gpus", "")


def all_faults(fakes):
    """The faults; those of GPUs that are missing are other variables to the fakes."""
    none = {"FAKE_CUDA_DEVICES": "0"} if fakes else {"CUDA_VISIBLE_DEVICES": ""}
    threads = ["--ranks=2"]
    # Between two steps the processes meet, too.
    lost = (r"rank 1 failed: its process has ended, or its connection|"
            r"rank 1 has lost its connection")
    # Rank 1 stops in a step, while ranks record their graphs, or before the first.
    late = (r"timed out after 3000 ms: .*rank 1 does not answer|"
            r"timed out after 3000 ms: rank 1 does not complete the recording of a graph|"
            r"timed out after 5000 ms: rank 1 does not come")
    return [
        Fault("no GPU", "step", [r"finds no GPU: run `nvidia-smi -L`"], arguments=threads,
              variables=none),
        Fault("too few GPUs", "step", [r"99 ranks need 99 devices, found \d+"],
              arguments=["--ranks=99"]),
        Fault("another chip", "chip",
              [r"the program was compiled for sm_\w+, but .* is sm_\w+.*: compile with --chip="],
              arguments=threads, needs_gpus="the fake driver loads any image"),
        *(Fault(f"no {library}", "step", [rf"{what} cannot be loaded: /nonexistent: .*{variable}"],
                arguments=threads, variables={variable: "/nonexistent"})
          for library, what, variable in [
              ("driver", "the CUDA driver", "BRAID_CUDA_LIBRARY"),
              ("cuBLASLt", "cuBLASLt", "BRAID_CUBLASLT_LIBRARY"),
              ("NCCL", "NCCL", "BRAID_NCCL_LIBRARY")]),
        Fault("too little memory", "big",
              [r"has too little memory for .*: [\d.]+ GiB are needed, [\d.]+ [GM]iB of [\d.]+ "
               r"GiB are available"], arguments=threads),
        Fault("limit of a lane", "step", [r"'65', expected a number from 1 to 64"],
              arguments=[*threads, "--lane=bulk:ctas=65"], status=2),
        Fault("NCCL's refusal", "step", [r"nccl\w+ failed: "], arguments=threads,
              variables={"NCCL_SOCKET_IFNAME": "=none0"},
              needs_gpus="the fake NCCL needs no network"),
        Fault("other program", "step other",
              [r"process 1 runs another program than process 0"] * 2, prepares=True),
        Fault("killed", "step", [lost, None], signal=signal.SIGKILL),
        Fault("killed in a graph", "step", [lost, None], arguments=["--cuda-graph"], signal=signal.SIGKILL),
        Fault("late", "step",
              [late, r"rank 0 failed|rank 0 has lost|timed out after"],
              arguments=["--timeout=3s"], signal=signal.SIGSTOP),
    ]


class Runner:
    """Runs faults."""

    def __init__(self, options):
        self.options = options
        self.end = time.monotonic() + options.limit
        self.variables = {"BRAID_DEBUG": "INFO"}
        if options.fakes:
            for name, file in [("CUDA", "cuda"), ("CUBLASLT", "cublasLt"), ("NCCL", "nccl")]:
                self.variables[f"BRAID_{name}_LIBRARY"] = os.path.join(
                    options.fakes, f"libfake_{file}.so")

    def start(self, fault, folder):
        """The processes of a fault."""
        programs = fault.program.split()
        count = len(fault.words)
        port = free_port()
        processes = []
        for rank in range(count):
            variables = {**self.variables, **fault.variables, "FAKE_NCCL_DIRECTORY": folder}
            if count > 1:
                variables.update({
                    "RANK": str(rank), "WORLD_SIZE": str(count), "LOCAL_RANK": str(rank),
                    "LOCAL_WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1",
                    "MASTER_PORT": str(port)})
            program = os.path.join(self.options.folder, programs[min(rank, len(programs) - 1)])
            command = [self.options.braid_run, program + ".so", "--arg=random:1",
                       *fault.arguments]
            if fault.prepares:
                command = [sys.executable, __file__, program + ".so", "--load",
                           "--braid-run", self.options.braid_run]
            if fault.signal:
                command.append("--repeat=1000000")
            processes.append(Process(command, variables))
        return processes

    def disturb(self, fault, processes, deadline):
        """Sends the signal once all processes work; what went wrong, or nothing."""
        for process in processes:
            if not process.wait_for("communicator of group @world", deadline):
                return "does not work before the fault"
        # All have left what they prepare together.
        time.sleep(0.5)
        os.kill(processes[-1].process.pid, fault.signal)
        if fault.signal == signal.SIGSTOP:
            # Process 0 fails after 5 s at the latest, and then waits up to 20 s until NCCL ends its
            # communicators. The same wait of the other process begins before that one ends.
            processes[0].wait_for_end(min(deadline, time.monotonic() + 12))
            os.kill(processes[-1].process.pid, signal.SIGCONT)
        return ""

    def run(self, fault):
        """(whether it is as expected, seconds, what was said)."""
        if self.options.fakes and fault.needs_gpus:
            return None, 0.0, fault.needs_gpus
        begin = time.monotonic()
        deadline = min(begin + fault.seconds, self.end)
        folder = tempfile.mkdtemp(prefix="braid-faults-")
        processes = self.start(fault, folder)
        problems = []
        try:
            if fault.signal:
                problem = self.disturb(fault, processes, deadline)
                problems += [problem] if problem else []
            said = ""
            for rank, (process, words) in enumerate(zip(processes, fault.words)):
                status = process.end(deadline)
                if status is None:
                    problems.append(f"process {rank} has not ended in time")
                elif words is None:
                    continue
                elif status != fault.status:
                    problems.append(f"process {rank} has ended with status {status}")
                found = re.search(words or "", process.text)
                if words and not found:
                    problems.append(f"process {rank} does not say '{words}'")
                said = said or (found.group(0) if found else "")
            if problems:
                said = "; ".join(problems) + "".join(
                    f"\n  process {rank}: {line}" for rank, process in enumerate(processes)
                    for line in process.text.splitlines()[-8:])
        finally:
            for process in processes:
                process.kill()
            shutil.rmtree(folder, ignore_errors=True)
        return not problems, time.monotonic() - begin, said


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--prepare", action="store_true", help="compile the programs")
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--braid-compile", default="build/bin/braid-compile")
    parser.add_argument("--braid-run", default="braid-run")
    parser.add_argument("--limit", type=float, default=60, help="seconds of all faults")
    parser.add_argument("--jobs", type=int,
                        help="faults at a time (default: 2; with fakes 6)")
    parser.add_argument("--only", default="", help="names of faults, with commas between")
    parser.add_argument("--load", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--fakes", help="folder of the fakes of NVIDIA's libraries")
    options = parser.parse_args()
    if options.prepare:
        prepare(options)
        return
    if options.load:
        load(options)
        return
    faults = all_faults(options.fakes)
    if options.only:
        names = options.only.split(",")
        unknown = set(names) - {fault.name for fault in faults}
        if unknown:
            parser.error(f"--only: no fault is named {', '.join(sorted(unknown))}; expected "
                         f"one of {', '.join(fault.name for fault in faults)}")
        faults = [fault for fault in faults if fault.name in names]
    # The longest ones first.
    faults.sort(key=lambda fault: -len(fault.words))
    runner = Runner(options)
    failed = 0
    print(f"{'fault':18} {'outcome':12} {'seconds':>7}  said", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs or (6 if options.fakes else 2)) as pool:
        running = {pool.submit(runner.run, fault): fault for fault in faults}
        for done in concurrent.futures.as_completed(running):
            good, seconds, said = done.result()
            failed += good is False
            outcome = {True: "as expected", False: "DEVIATES", None: "skipped"}[good]
            print(f"{running[done].name:18} {outcome:12} {seconds:7.1f}  {said}", flush=True)
    print(f"{len(faults)} faults, {failed} deviate", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
