"""Checks the exit status and the first words of the message after each kind of failure."""

import os
import signal
import subprocess
import sys
import time

program, engine = sys.argv[1:]
failed = False
PREFIX = (["braid-run", f"--engine={engine}", "--ranks=2"] if engine == "inproc" else
          ["mpirun", "-q", "-n", "2", "braid-run", f"--engine={engine}"])


def check(expected, words, *options, **variables):
    global failed
    done = subprocess.run([*PREFIX, *options], capture_output=True, text=True, check=False,
                          timeout=100, env={**os.environ, **variables})
    if done.returncode != expected or words not in done.stderr:
        print(options, variables, "status", done.returncode, "expected", expected, words,
              done.stderr)
        failed = True


check(0, "", program, "--arg=ones")
# Bad usage.
check(2, "unknown option '--what'", program, "--what")
check(2, "--timeout: a timeout must be above 0", program, "--timeout=0s")
check(2, "has no entry 'what'", program, "--entry=what")
check(2, "BRAID_DEBUG must be OFF, INFO, or DETAIL, found 'loud'", program, "--arg=ones",
      BRAID_DEBUG="loud")
# Bad files.
check(1, "cannot open nowhere.npy", program, "--arg=nowhere.npy")
check(1, "cannot open nowhere.mlir", "nowhere.mlir")
# Programs that fail.
check(1, "rank 1: the program touched memory that is not its own (SIGSEGV)", program,
      "--entry=crash")
check(1, "the program divided an integer by zero (SIGFPE)", program, "--entry=divide")
check(1, "the ranks of group @world disagree in collective number 1", program,
      "--entry=disagree")
check(1, "timed out after 100 ms: rank 1 has not started collective number 1", program,
      "--entry=late", "--timeout=100ms")
check(1, "timed out after 100 ms: rank 1 has not started collective number 1", program,
      "--entry=forever", "--timeout=100ms")

# Signals to braid-run itself, or to the first process of mpirun.
for number, expected in [(signal.SIGTERM, 1), (signal.SIGINT, 1), (signal.SIGKILL, 137)]:
    process = subprocess.Popen([*PREFIX, program, "--entry=forever"], text=True,
                               stderr=subprocess.PIPE, start_new_session=True,
                               env={**os.environ, "BRAID_DEBUG": "detail"})
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "starts all_reduce" in line:
            break
    time.sleep(1)
    victim = process.pid
    if engine != "inproc":
        with open(f"/proc/{victim}/task/{victim}/children", encoding="utf-8") as file:
            victim = int(file.read().split()[0])
    os.kill(victim, number)
    text = "".join(lines) + process.stderr.read()
    status = process.wait(100)
    # A shell says 137 for what ends with SIGKILL.
    status = 128 - status if status < 0 else status
    if status != expected or (expected == 1 and "while waiting for all_reduce" not in text):
        print(number, "status", status, "expected", expected, text)
        failed = True
sys.exit(failed)
