# RUN: rm -rf %t
# RUN: %python %s %t
"""Ranks that are threads and fail, come late, stay away, disagree or have no memory: all
ranks end within the timeout and 2 s, the message says so, the exit status is 1.

BRAID_FAULT_ROUNDS says how often each fault is tried (3), each time with another victim,
number of ranks and time of the fault. test/Integration/MPI/faults.py tries processes.
"""

import os
import random
import re
import subprocess
import sys
import time

import braid_testing as bt

TIMEOUT = 0.5  # s: what a rank waits for another one
# s: until all ranks have ended, with the start of the process; sanitizers take longer.
GRACE = float(os.environ.get("BRAID_FAULT_GRACE", "60"))

# Every rank computes for a while, the victim for longer; then the victim fails. Before
# and after the fault all ranks reduce.
PROGRAM = """
comm.group @world all

func.func private @spin(%count: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %three = arith.constant 3 : i64
  %bound = arith.index_cast %count : i64 to index
  %x = memref.alloc() : memref<i64>
  memref.store %three, %x[] : memref<i64>
  scf.for %i = %c0 to %bound step %c1 {
    %old = memref.load %x[] : memref<i64>
    %mixed = arith.xori %old, %count : i64
    %new = arith.muli %mixed, %three : i64
    memref.store %new, %x[] : memref<i64>
  }
  %last = memref.load %x[] : memref<i64>
  memref.dealloc %x : memref<i64>
  return %last : i64
}

func.func private @reduce(%value: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %empty = tensor.empty() : tensor<50000xf32>
  %ones = linalg.fill ins(%value : f32) outs(%empty : tensor<50000xf32>) -> tensor<50000xf32>
  %t = comm.all_reduce sum %ones on @world {comm.label = "sum"} : tensor<50000xf32>
  %y = comm.wait %t : !comm.token<tensor<50000xf32>>
  %r = tensor.extract %y[%c0] : tensor<50000xf32>
  return %r : f32
}
"""
BODY = """
func.func @{name}(%victim: i64, %count: i64) -> f32 {{
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0 : i64
  %c1 = arith.constant 1 : index
  %rank = comm.rank on @world
  %number = arith.index_cast %rank : index to i64
  %is = arith.cmpi eq, %number, %victim : i64
  %a = func.call @reduce(%one) : (f32) -> f32
  %s = func.call @spin(%count) : (i64) -> i64
{fault}
  %b = func.call @reduce(%a) : (f32) -> f32
  return %b : f32
}}
"""
LATE = """
  %long = arith.constant {count} : i64
  %n = arith.select %is, %long, %zero : i64
  %l = func.call @spin(%n) : (i64) -> i64
  // Without this use the loop is dead code.
  %u = arith.cmpi eq, %l, %victim : i64
  %odd = arith.constant 7 : i64
  %v = arith.cmpi ne, %l, %odd : i64
  %w = arith.ori %u, %v : i1
  cf.assert %w, "never"
"""
BODIES = {
    "fails": """
  %not = arith.cmpi ne, %number, %victim : i64
  cf.assert %not, "broken on purpose"
""",
    "divides": """
  %d = arith.subi %number, %victim : i64
  %q = arith.divsi %s, %d : i64
  %odd = arith.constant 7 : i64
  %v = arith.cmpi ne, %q, %odd : i64
  cf.assert %v, "never"
""",
    "late": LATE.format(count=2100000000),
    "stuck": LATE.format(count=1000000000000),
    "departs": """
  %other = arith.cmpi ne, %number, %victim : i64
  scf.if %other {
    %c = func.call @reduce(%one) : (f32) -> f32
  }
""",
    "disagrees": """
  %empty = tensor.empty() : tensor<4xf32>
  %x = linalg.fill ins(%one : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  scf.if %is {
    %t = comm.all_reduce max %x on @world : tensor<4xf32>
    %y = comm.wait %t : !comm.token<tensor<4xf32>>
  } else {
    %t = comm.all_reduce min %x on @world : tensor<4xf32>
    %y = comm.wait %t : !comm.token<tensor<4xf32>>
  }
""",
    "memory": """
  %few = arith.constant 1000 : index
  %huge = arith.constant 1152921504606846976 : index
  %size = arith.select %is, %huge, %few : index
  %m = memref.alloc(%size) : memref<?xf32>
  memref.store %one, %m[%c1] : memref<?xf32>
  %again = func.call @reduce(%one) : (f32) -> f32
  %kept = memref.load %m[%c1] : memref<?xf32>
  memref.dealloc %m : memref<?xf32>
  %same = arith.cmpf oeq, %kept, %one : f32
  cf.assert %same, "never"
""",
}


def messages(name, victim):
    """Patterns in the output."""
    behind = f"rank {victim} has not started collective number 2 of group @world"
    timeout = f"timed out after {TIMEOUT * 1000:.0f} ms: {behind}"
    return {
        "fails": [f"rank {victim}: broken on purpose"],
        "divides": [f"rank {victim}: the program divided an integer by zero"],
        "late": [timeout],
        "stuck": [timeout, f"rank {victim} has not ended"],
        "departs": [f"rank {victim} has ended its program without starting collective number 3 "
                    "of group @world"],
        "disagrees": ["the ranks of group @world disagree in collective number 2",
                      f"rank {victim} runs all_reduce max",
                      f"rank [^{victim}] runs all_reduce min"],
        "memory": [f"rank {victim}: cannot allocate 4611686018427387904 bytes"],
    }[name]


def try_fault(name, library):
    """One round; (the time, what is wrong)."""
    ranks = random.randint(2, 4)
    victim = random.randrange(ranks)
    count = random.choice([0, 1000, random.randint(1, 3000000)])
    begin = time.monotonic()
    # A fault of the program is reported at once; the timeout ends only these.
    timeout = f"{TIMEOUT * 1000:.0f}ms" if name in ("late", "stuck") else "50s"
    words = ["braid-run", library, f"--entry={name}", f"--ranks={ranks}",
             f"--timeout={timeout}", f"--arg={victim}", f"--arg={count}"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT + GRACE,
                              check=False)
    except subprocess.TimeoutExpired:
        return GRACE, f"{' '.join(words)} has not ended after {TIMEOUT + GRACE} s"
    taken = time.monotonic() - begin
    lacking = [text for text in messages(name, victim) if not re.search(text, done.stderr)]
    # The warning about an allocation that fails is expected.
    report = re.search(r"Sanitizer: |runtime error: ", done.stderr)
    if done.returncode != 1 or lacking or report:
        return taken, (f"{' '.join(words)}: status {done.returncode}, lacks {lacking}, has\n"
                       f"{done.stderr[-5000:]}")
    return taken, ""


def main():
    directory, *names = sys.argv[1:]
    text = PROGRAM + "".join(BODY.format(name=name, fault=fault)
                             for name, fault in BODIES.items())
    # Some of the programs are wrong.
    library = bt.compile_program(text, directory, passes="none",
                                 options=["--verify=off"])
    rounds = int(os.environ.get("BRAID_FAULT_ROUNDS", "3"))
    random.seed(rounds)
    problems = []
    for name in names or BODIES:
        times = []
        for _ in range(rounds):
            taken, problem = try_fault(name, library)
            times.append(taken)
            problems += [f"{name}: {problem}"] if problem else []
        bad = sum(problem.startswith(name + ":") for problem in problems)
        print(f"{name}: {rounds - bad} of {rounds} rounds passed, all ranks ended after "
              f"{max(times):.2f} s at most", flush=True)
    if problems:
        sys.exit("\n".join(problems[:10]))


main()
