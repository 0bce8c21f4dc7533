# REQUIRES: mpi, nodes
# RUN: rm -rf %t && mkdir %t
# RUN: %S/nodes.sh %python %s %t
# RUN: %S/nodes.sh %python %S/conformance.py %braid_bin_root/test/Unit/Runtime/BraidRuntimeConformanceTests %t/conformance 2 3
"""Ranks on two nodes, which share no memory and no TMPDIR, and reach each other over a
link of their own: nodes.sh. mpirun places ranks 0 and 2 on node 1, ranks 1
and 3 on node 2.
"""

import os
import re
import shutil
import signal
import sys
import time

import mpi_testing as mt

LIMIT = 60  # s: after which a job counts as hung

PROGRAM = """
comm.group @world all
comm.group @neighbors [[0, 1], [2, 3]]

func.func @main(%x: tensor<4xf32>) -> (tensor<16xf32>, tensor<4xf32>) {
  %g = comm.all_gather %x on @world dim 0 : tensor<4xf32> -> tensor<16xf32>
  %all = comm.wait %g : !comm.token<tensor<16xf32>>
  %r = comm.all_reduce sum %x on @neighbors : tensor<4xf32>
  %sum = comm.wait %r : !comm.token<tensor<4xf32>>
  return %all, %sum : tensor<16xf32>, tensor<4xf32>
}
"""


def expect(found, expected, what):
    if found != expected:
        sys.exit(f"{what}: found\n{found}\nexpected\n{expected}")


def output(ranks, words):
    """What a command that succeeds prints."""
    status, out, error = mt.run(ranks, words, timeout=LIMIT)
    expect(status, 0, f"the exit status of {words}\n{out}{error}")
    return out


def processes():
    """The processes of braid-run on both nodes, by rank. The namespace has no others."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as file:
                name = file.read().strip()
            with open(f"/proc/{pid}/environ") as file:
                rank = re.search(r"\0OMPI_COMM_WORLD_RANK=(\d+)\0", file.read())
        except (FileNotFoundError, ProcessLookupError):
            continue
        if name == "braid-run" and rank:
            found[int(rank[1])] = int(pid)
    return found


def nodes_share_nothing(_program, _directory):
    marks = [os.path.join(folder, "mark") for folder in (os.environ["TMPDIR"], "/dev/shm")]
    for mark in marks:
        with open(mark, "w"):
            pass
    files = " ".join(marks)
    lines = output(4, ["sh", "-c", f"echo $OMPI_COMM_WORLD_RANK $(hostname) $(ls {files})"])
    marks = " ".join(sorted(marks))
    expect(sorted(lines.splitlines()),
           [f"0 node1 {marks}", "1 node2", f"2 node1 {marks}", "3 node2"], "the files")


def program_travels(program, _directory):
    """Only the first node has the program's file: an error, unless the user has rank 0 send
    it. The results are those of threads, in the order of the ranks."""
    words = ["braid-run", program, "--entry=main", "--arg=ones+rank", "--print",
             "--passes=braid-overlap", "--compare-results"]
    status, threads, error = mt.finish(mt.start([*words, "--engine=inproc", "--ranks=4"]), LIMIT)
    expect(status, 0, f"the exit status of threads\n{error}")
    status, _, error = mt.run(4, words, timeout=LIMIT)
    expect(status, 1, f"the exit status without the file\n{error}")
    wanted = rf"different programs: ranks 0 and 2 have {program} .*, ranks 1 and 3 cannot read {program}"
    if not re.search(wanted, error):
        sys.exit(f"the error does not name the ranks without the file:\n{error}")
    words.append("--send-program")
    expect(output(4, words), threads, "the output of processes on two nodes")
    ranks = [line.split(":")[0] for line in threads.splitlines() if "result1" in line]
    expect(ranks, [f"rank {rank}" for rank in range(4)], "the order of the ranks")


def topology_of_nodes(program, directory):
    """Three ranks on two nodes: the advice is each node's own, and the cost model of rank 0
    knows its node."""
    lines = sorted(output(3, ["braid-run", "--show-binding"]).splitlines())
    places = [re.match(r"binding: (rank \d of 3) .*, (rank \d of \d on this node),", line)
              for line in lines]
    expect([place and place.groups() for place in places],
           [("rank 0 of 3", "rank 0 of 2 on this node"),
            ("rank 1 of 3", "rank 0 of 1 on this node"),
            ("rank 2 of 3", "rank 1 of 2 on this node")], "\n".join(lines))
    # braid-run calls the braid-compile beside it, and has its libraries in ../lib.
    tools = os.path.join(directory, "bin")
    os.makedirs(tools)
    own = os.path.dirname(shutil.which("braid-run"))
    os.symlink(os.path.join(os.path.dirname(own), "lib"), os.path.join(directory, "lib"))
    copy = os.path.join(tools, "braid-run")
    shutil.copy(os.path.join(own, "braid-run"), copy)
    with open(os.path.join(tools, "braid-compile"), "w") as file:
        file.write("#!/bin/sh\necho $*\nexit 1\n")
    os.chmod(file.name, 0o755)
    _, out, error = mt.run(4, [copy, program, "--send-program"], timeout=LIMIT)
    wanted = "--passes=braid-overlap{ranks=4 ranks-per-node=2}"
    if wanted not in out + error:
        sys.exit(f"rank 0 does not compile with {wanted}:\n{out}{error}")


def killed_rank_ends_the_job(program, _directory):
    """SIGKILL of a rank on the other node, while all of them reduce."""
    words = ["braid-run", program, "--entry=reduces", "--timeout=3600s", "--send-program"]
    job = mt.start(mt.mpirun_words(4, words), {"BRAID_DEBUG": "INFO"})
    # Each rank says so before it starts to reduce.
    told, lines = 0, []
    while told < 4:
        line = job.stderr.readline()
        if not line:
            sys.exit("".join(lines) + "the job has ended before the kill")
        lines.append(line)
        told += "communicator of group @world" in line
    found = processes()
    expect(sorted(found), [0, 1, 2, 3], "the ranks with processes")
    os.kill(found[1], signal.SIGKILL)
    begin = time.monotonic()
    status, out, error = mt.finish(job, LIMIT)
    taken = time.monotonic() - begin
    text = "".join(lines) + out + error
    if not status:
        sys.exit(f"after the kill: exit status {status}\n{text}")
    if not re.search(r"rank 1 with PID \d+ on node \S+ exited on signal 9", text):
        sys.exit(f"the output does not name the killed rank:\n{text}")
    expect(processes(), {}, "processes after the end")
    print(f"the job ended {taken:.2f} s after the kill")


def main():
    directory = sys.argv[1]
    program = os.path.join(os.environ["TMPDIR"], "program.mlir")
    with open(program, "w") as file:
        file.write(PROGRAM + mt.ENDLESS_REDUCTIONS)
    for step in [nodes_share_nothing, program_travels, topology_of_nodes,
                 killed_rank_ends_the_job]:
        begin = time.monotonic()
        step(program, directory)
        print(f"{step.__name__}: {time.monotonic() - begin:.1f} s", flush=True)


main()
