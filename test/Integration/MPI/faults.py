# REQUIRES: mpi
# RUN: rm -rf %t
# RUN: %python %s %t
"""Ranks that die, stop, stay away, run another program or have no memory: the message
says so, the exit status is not 0, and no process is left.

The printed times are to be at most the timeout and 2 s. What ends the test is 20 s,
since a busy machine decides the rest; BRAID_MPI_FAULT_GRACE=2 asks for the limit.

BRAID_MPI_FAULT_ROUNDS says how often each fault is tried (2), on 2 and 3 ranks, over
shared memory and TCP in turns.
"""

import contextlib
import os
import random
import signal
import sys
import threading
import time

import braid_testing as bt
import mpi_testing as mt

TIMEOUT = 1  # s: what a rank waits for another one
GRACE = float(os.environ.get("BRAID_MPI_FAULT_GRACE", "20"))  # s: until the ranks are gone
MPIRUN = 2   # s: until mpirun, which cleans up after them, has gone, too

PROGRAM = """
comm.group @world all

// Rank 1 counts for minutes before it comes to the barrier.
func.func @late() -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rank = comm.rank on @world
  %late = arith.cmpi eq, %rank, %c1 : index
  %slow = arith.constant 300000000000 : index
  %bound = arith.select %late, %slow, %c0 : index
  %x = memref.alloc() : memref<i64>
  %one = arith.constant 1 : i64
  memref.store %one, %x[] : memref<i64>
  scf.for %i = %c0 to %bound step %c1 {
    %old = memref.load %x[] : memref<i64>
    %three = arith.constant 3 : i64
    %mixed = arith.xori %old, %three : i64
    %new = arith.muli %mixed, %three : i64
    memref.store %new, %x[] : memref<i64>
  }
  %t = comm.barrier on @world
  comm.wait %t : !comm.token
  %last = memref.load %x[] : memref<i64>
  memref.dealloc %x : memref<i64>
  return %last : i64
}

// All ranks reduce large tensors, for minutes.
func.func @reduces() -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 1000000 : index
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<1000000xf32>
  %ones = linalg.fill ins(%one : f32) outs(%empty : tensor<1000000xf32>) -> tensor<1000000xf32>
  %last = scf.for %i = %c0 to %many step %c1 iter_args(%x = %ones) -> (tensor<1000000xf32>) {
    %t = comm.all_reduce max %x on @world {comm.label = "forever"} : tensor<1000000xf32>
    %y = comm.wait %t : !comm.token<tensor<1000000xf32>>
    scf.yield %y : tensor<1000000xf32>
  }
  %r = tensor.extract %last[%c0] : tensor<1000000xf32>
  return %r : f32
}

func.func @barrier() {
  %t = comm.barrier on @world
  comm.wait %t : !comm.token
  return
}

// Rank 1 asks for more memory than there is.
func.func @memory() -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %huge = arith.constant 1152921504606846976 : index
  %rank = comm.rank on @world
  %first = arith.cmpi eq, %rank, %c1 : index
  %size = arith.select %first, %huge, %c1000 : index
  %one = arith.constant 1.0 : f32
  %x = memref.alloc(%size) : memref<?xf32>
  memref.store %one, %x[%c0] : memref<?xf32>
  %t = comm.barrier on @world
  comm.wait %t : !comm.token
  %r = memref.load %x[%c0] : memref<?xf32>
  memref.dealloc %x : memref<?xf32>
  return %r : f32
}
"""


class Job:
    """A program under mpirun, and its processes."""

    def __init__(self, command, debug="INFO"):
        self.command = command
        self.process = mt.start(command, {"BRAID_DEBUG": debug})
        self.output = []
        self.readers = [threading.Thread(target=self._read, args=(stream,))
                        for stream in (self.process.stdout, self.process.stderr)]
        for reader in self.readers:
            reader.start()
        self.ranks = {}

    def _read(self, stream):
        for line in stream:
            self.output.append(line)

    def text(self):
        return "".join(self.output)

    def await_text(self, text):
        end = time.monotonic() + 60
        while text not in self.text():
            if time.monotonic() > end or self.process.poll() is not None:
                self.end(f"'{text}' did not appear")
            time.sleep(0.01)

    def find_ranks(self):
        """The process of each rank: mpirun's children."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
                if parent != self.process.pid:
                    continue
                with open(f"/proc/{pid}/environ") as file:
                    variables = dict(item.partition("=")[::2] for item in file.read().split("\0"))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
            if "OMPI_COMM_WORLD_RANK" in variables:
                self.ranks[int(variables["OMPI_COMM_WORLD_RANK"])] = int(pid)

    def alive(self):
        """The ranks' processes that still run; a zombie does not."""
        left = []
        for rank, pid in self.ranks.items():
            try:
                with open(f"/proc/{pid}/stat") as file:
                    if file.read().rpartition(")")[2].split()[0] not in "ZX":
                        left.append(rank)
            except (FileNotFoundError, ProcessLookupError):
                pass
        return left

    def end(self, why):
        """Ends all processes, and the test with the reason."""
        with contextlib.suppress(ProcessLookupError):
            for rank in self.alive():
                os.kill(self.ranks[rank], signal.SIGKILL)
            os.killpg(self.process.pid, signal.SIGKILL)
        sys.exit(f"{' '.join(self.command)}: {why}\n{self.text()[-6000:]}")

    def check_end(self, seconds, *texts):
        """All ranks are gone `seconds` from now, and mpirun soon after, with these texts
        and an exit status. Gives the time that the ranks took."""
        begin = time.monotonic()
        taken = None
        while self.process.poll() is None or self.alive():
            passed = time.monotonic() - begin
            if taken is None and self.ranks and not self.alive():
                taken = passed
            if passed > seconds + (0 if taken is None else MPIRUN):
                self.end(f"after {passed:.1f} s mpirun has status {self.process.poll()}, and "
                         f"ranks {self.alive()} still run")
            time.sleep(0.02)
        if taken is None:
            taken = time.monotonic() - begin
        self.mpirun_after = time.monotonic() - begin - taken
        for reader in self.readers:
            reader.join()
        if self.process.returncode == 0:
            self.end("exit status 0")
        for text in texts:
            if text not in self.text():
                self.end(f"the output lacks '{text}'")
        return taken


def launch(ranks, transport, program, entry, timeout="60s"):
    words = ["braid-run", program, "--engine=mpi", f"--entry={entry}", f"--timeout={timeout}"]
    # Every start is told where nothing else says that one waits; not where the
    # loop of collectives would change by it.
    return Job(mt.mpirun_words(ranks, words, transport),
               "DETAIL" if entry == "late" else "INFO")


def killed(program, ranks, transport, victim, entry, awaited):
    """SIGKILL of a rank while `entry` runs, after `awaited` was printed."""
    job = launch(ranks, transport, program, entry)
    job.await_text(awaited)
    job.find_ranks()
    if sorted(job.ranks) != list(range(ranks)):
        job.end(f"found the processes of ranks {sorted(job.ranks)}")
    time.sleep(random.uniform(0.1, 0.4))
    os.kill(job.ranks[victim], signal.SIGKILL)
    return job.check_end(GRACE, "signal 9")


def killed_in_compute(program, ranks, transport):
    return killed(program, ranks, transport, 1, "late", "rank 0: starts barrier")


def killed_in_a_wait(program, ranks, transport):
    return killed(program, ranks, transport, 0, "late", "rank 0: starts barrier")


def killed_in_a_collective(program, ranks, transport):
    return killed(program, ranks, transport, random.randrange(ranks), "reduces",
                  "communicator of group @world")


def late_rank(program, ranks, transport):
    job = launch(ranks, transport, program, "late", f"{TIMEOUT}s")
    job.await_text("rank 0: starts barrier")
    job.find_ranks()
    return job.check_end(
        TIMEOUT + GRACE, f"timed out after {1000 * TIMEOUT} ms",
        "rank 1 has not started collective number 1 of group @world")


def stopped_rank(program, ranks, transport):
    """A process that the system does not run cannot even answer."""
    job = launch(ranks, transport, program, "reduces", f"{TIMEOUT}s")
    job.await_text("communicator of group @world")
    job.find_ranks()
    time.sleep(random.uniform(0.1, 0.4))
    os.kill(job.ranks[1], signal.SIGSTOP)
    return job.check_end(TIMEOUT + GRACE, f"timed out after {1000 * TIMEOUT} ms", "rank 1")


def other_program(program, ranks, transport):
    """The last rank runs another entry. (braid-run gives all ranks the file of rank 0.)"""
    words = ["braid-run", program, "--engine=mpi"]
    command = mt.mpirun_words(ranks - 1, [*words, "--entry=reduces"], transport)
    command += [":", "-n", "1", *words, "--entry=barrier"]
    return Job(command).check_end(
        15, "the ranks of group @world disagree in collective number 1",
        f"rank {ranks - 1} runs barrier", "rank 0 runs all_reduce max")


def out_of_memory(program, ranks, transport):
    job = launch(ranks, transport, program, "memory")
    return job.check_end(15, "rank 1: cannot allocate 4611686018427387904 bytes")


FAULTS = [killed_in_compute, killed_in_a_wait, killed_in_a_collective, late_rank,
          stopped_rank, other_program, out_of_memory]


def main():
    directory = sys.argv[1]
    program = bt.compile_program(PROGRAM, directory, passes="none")
    rounds = int(os.environ.get("BRAID_MPI_FAULT_ROUNDS", "2"))
    random.seed(rounds)
    errors = []
    for fault in FAULTS:
        times = []
        for number in range(rounds):
            try:
                times.append(fault(program, 2 + number % 2,
                                   list(mt.TRANSPORTS)[number // 2 % 2]))
            except SystemExit as error:
                errors.append(f"{fault.__name__}, round {number}: {error.code}")
        print(f"{fault.__name__}: {len(times)} of {rounds} rounds passed, the ranks gone "
              f"after {max(times, default=0):.2f} s at most", flush=True)
    if errors:
        sys.exit("\n".join(errors))


main()
