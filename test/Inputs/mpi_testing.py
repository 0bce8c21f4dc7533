# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests of the engine mpi share: commands with mpirun, and their ends.

BRAID_MPI_LAUNCHER names another launcher, by hand: "srun --mpi=pmix" or
"mpiexec.mpich". Open MPI is told of the transport by its variables then.
"""

import os
import signal
import subprocess

#: More ranks than cores, and as root, as in a container. lit.cfg.py sets the same.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "0",
}

LAUNCHER = os.environ.get("BRAID_MPI_LAUNCHER", "mpirun").split()

#: Options of mpirun by what carries the data.
TRANSPORTS = {
    "shared memory": [],
    "tcp": ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"],
}

#: The function @reduces, for programs with a group @world.
ENDLESS_REDUCTIONS = """
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
"""


def mpirun_words(ranks, words, transport="shared memory", variables=()):
    """The command that starts `words` on `ranks` processes."""
    words = [str(word) for word in words]
    options = TRANSPORTS[transport]
    if LAUNCHER != ["mpirun"]:
        settings = [f"OMPI_MCA_{name}={value}"
                    for name, value in zip(options[1::3], options[2::3])]
        return ["env", *settings, *LAUNCHER, "-n", str(ranks), *words]
    exports = [word for name in dict(variables) for word in ("-x", name)]
    return ["mpirun", "-n", str(ranks), *options, *exports, *words]


def start(command, variables=(), **options):
    """Starts mpirun in a process group of its own."""
    environment = {**os.environ, **ENVIRONMENT, **dict(variables)}
    return subprocess.Popen(command, env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            start_new_session=True, **options)


def finish(process, timeout):
    """The output of a started command: (status, stdout, stderr). The status is
    None when it had to be ended after the timeout."""
    try:
        out, error = process.communicate(timeout=timeout)
        return process.returncode, out, error
    except subprocess.TimeoutExpired:
        # mpirun forwards the signal that asks for an end, and kills after it.
        process.send_signal(signal.SIGTERM)
        try:
            out, error = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, error = process.communicate()
        return None, out, error


def run(ranks, words, transport="shared memory", variables=(), timeout=250):
    """Runs `words` on `ranks` processes."""
    command = mpirun_words(ranks, words, transport, variables)
    return finish(start(command, variables), timeout)
