# REQUIRES: mpi
# RUN: rm -rf %t
# RUN: %python %s %t killed_in_compute killed_in_a_wait killed_in_a_collective
"""Ranks that die, stop, stay away, run another program or have no memory: the message
says so, the exit status is not 0, and no process is left. faults_silent.py and
faults_errors.py run the other faults: each test has a time limit of its own.

The script waits for output and for the ends of processes, not for times. A job that
does not end is ended after LIMIT. The printed times are to be at most the timeout and
2 s; BRAID_MPI_FAULT_GRACE=2 makes a longer time an error.

BRAID_MPI_FAULT_ROUNDS says how often each fault is tried (2), on 2 and 3 ranks, over
shared memory and TCP in turns. Without names of faults the script tries all of them.
"""

import contextlib
import os
import random
import re
import select
import signal
import subprocess
import sys
import threading
import time

import braid_testing as bt
import mpi_testing as mt

TIMEOUT = 1   # s: what a rank waits for another one
LIMIT = 100   # s: after which a job counts as hung; shorter than rank 1 counts in `late`
GRACE = float(os.environ.get("BRAID_MPI_FAULT_GRACE", LIMIT))  # s: until the ranks are gone

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
        self.changed = threading.Condition()
        self.open_streams = 2
        self.readers = [threading.Thread(target=self._read, args=(stream,), daemon=True)
                        for stream in (self.process.stdout, self.process.stderr)]
        for reader in self.readers:
            reader.start()
        self.ranks = {}  # A descriptor of the process of each rank, once found.

    def _read(self, stream):
        for line in stream:
            with self.changed:
                self.output.append(line)
                self.changed.notify_all()
        with self.changed:
            self.open_streams -= 1
            self.changed.notify_all()

    def text(self):
        return "".join(self.output)

    def await_text(self, text, count=1):
        """Returns when the job has printed the text `count` times."""
        def is_printed():
            return self.text().count(text) >= count
        with self.changed:
            self.changed.wait_for(lambda: is_printed() or not self.open_streams, LIMIT)
        if not is_printed():
            self.end(f"'{text}' appears {self.text().count(text)} times, expected {count}")

    def find_ranks(self, count):
        """Finds the processes of all ranks, which have printed: children of mpirun, or of
        the proxies of MPICH's mpiexec."""
        parents = {}
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                with open(f"/proc/{pid}/stat") as file:
                    parents[pid] = int(file.read().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
        for pid, parent in parents.items():
            if self.process.pid not in (parent, parents.get(parent)):
                continue
            try:
                with open(f"/proc/{pid}/comm") as file:
                    if file.read().strip() != "braid-run":
                        continue
                with open(f"/proc/{pid}/environ") as file:
                    variables = dict(item.partition("=")[::2] for item in file.read().split("\0"))
                rank = variables.get("OMPI_COMM_WORLD_RANK", variables.get("PMI_RANK"))
                if rank:
                    self.ranks[int(rank)] = os.pidfd_open(pid)
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        if sorted(self.ranks) != list(range(count)):
            self.end(f"found the processes of ranks {sorted(self.ranks)}")

    def signal(self, rank, number):
        signal.pidfd_send_signal(self.ranks[rank], number)

    def await_rank(self, rank, seconds):
        """Returns whether the process of the rank ends in time."""
        return bool(select.select([self.ranks[rank]], [], [], max(0, seconds))[0])

    def end(self, why):
        """Ends all processes, and the fault's round with the reason."""
        for rank in self.ranks:
            with contextlib.suppress(ProcessLookupError):
                self.signal(rank, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        sys.exit(f"{' '.join(self.command)}: {why}\n{self.text()[-6000:]}")

    def check_end(self, seconds, *texts):
        """Waits until all ranks are gone, then for mpirun, which fails, and checks what
        they have printed. The ranks have `seconds` and GRACE. Returns their time."""
        begin = time.monotonic()
        end = begin + seconds + GRACE
        late = [rank for rank in self.ranks if not self.await_rank(rank, end - time.monotonic())]
        taken = time.monotonic() - begin
        if late:
            self.end(f"after {taken:.1f} s ranks {late} still run")
        try:
            self.process.wait(LIMIT if self.ranks else seconds + GRACE)
        except subprocess.TimeoutExpired:
            self.end(f"after {time.monotonic() - begin:.1f} s mpirun still runs")
        if not self.ranks:
            taken = time.monotonic() - begin
        for reader in self.readers:
            reader.join(LIMIT)
        if self.process.returncode == 0:
            self.end("exit status 0")
        for text in texts:
            if text not in self.text():
                self.end(f"the output lacks '{text}'")
        # tools/dev/sanitize.sh runs the script with sanitizers. Tests ask for more
        # memory than there is.
        if found := re.search(r"(ERROR|WARNING): \w+Sanitizer(?! failed to allocate)|runtime error: ",
                              self.text()):
            self.end(f"found '{found[0]}'")
        for descriptor in self.ranks.values():
            os.close(descriptor)
        return taken


def launch(ranks, transport, program, entry, timeout="60s"):
    words = ["braid-run", program, "--engine=mpi", f"--entry={entry}", f"--timeout={timeout}"]
    # Every start is told where nothing else says that one waits; not where the
    # loop of collectives would change by it.
    return Job(mt.mpirun_words(ranks, words, transport),
               "DETAIL" if entry == "late" else "INFO")


COMMUNICATOR = "communicator of group @world"  # Each rank says that it has made it.


def killed(program, ranks, transport, victim, entry, awaited, count=1):
    """SIGKILL of a rank while `entry` runs, after `awaited` was printed. Nobody's timeout
    ends the job in its place."""
    job = launch(ranks, transport, program, entry, "3600s")
    job.await_text(awaited, count)
    job.find_ranks(ranks)
    time.sleep(random.uniform(0.1, 0.4))
    job.signal(victim, signal.SIGKILL)
    return job.check_end(0, "signal 9")


def killed_in_compute(program, ranks, transport):
    return killed(program, ranks, transport, 1, "late", "rank 0: starts barrier")


def killed_in_a_wait(program, ranks, transport):
    return killed(program, ranks, transport, 0, "late", "rank 0: starts barrier")


def killed_in_a_collective(program, ranks, transport):
    return killed(program, ranks, transport, random.randrange(ranks), "reduces",
                  COMMUNICATOR, ranks)


def late_rank(program, ranks, transport):
    job = launch(ranks, transport, program, "late", f"{TIMEOUT}s")
    job.await_text("rank 0: starts barrier")
    job.find_ranks(ranks)
    return job.check_end(
        TIMEOUT, f"timed out after {1000 * TIMEOUT} ms",
        "rank 1 has not started collective number 1 of group @world")


def stopped_rank(program, ranks, transport):
    """A process that the system does not run cannot even answer."""
    job = launch(ranks, transport, program, "reduces", f"{TIMEOUT}s")
    job.await_text(COMMUNICATOR, ranks)
    job.find_ranks(ranks)
    time.sleep(random.uniform(0.1, 0.4))
    job.signal(1, signal.SIGSTOP)
    return job.check_end(TIMEOUT, f"timed out after {1000 * TIMEOUT} ms", "rank 1")


def other_program(program, ranks, transport):
    """The last rank runs another entry. (braid-run gives all ranks the file of rank 0.)"""
    words = ["braid-run", program, "--engine=mpi"]
    command = mt.mpirun_words(ranks - 1, [*words, "--entry=reduces"], transport)
    command += [":", "-n", "1", *words, "--entry=barrier"]
    return Job(command).check_end(
        13, "the ranks of group @world disagree in collective number 1",
        f"rank {ranks - 1} runs barrier", "rank 0 runs all_reduce max")


def out_of_memory(program, ranks, transport):
    job = launch(ranks, transport, program, "memory")
    return job.check_end(13, "rank 1: cannot allocate 4611686018427387904 bytes")


FAULTS = {fault.__name__: fault
          for fault in [killed_in_compute, killed_in_a_wait, killed_in_a_collective,
                        late_rank, stopped_rank, other_program, out_of_memory]}


def main():
    directory, *names = sys.argv[1:]
    program = bt.compile_program(PROGRAM + mt.ENDLESS_REDUCTIONS, directory, passes="none")
    rounds = int(os.environ.get("BRAID_MPI_FAULT_ROUNDS", "2"))
    random.seed(rounds)
    errors = []
    for fault in [FAULTS[name] for name in names or FAULTS]:
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
