"""Checks the exit status and the first words of the message after each kind of failure."""

import concurrent.futures
import os
import re
import signal
import subprocess
import sys

program, engine = sys.argv[1:]
# Most of the time of these commands mpirun waits for processes that it has ended.
pool = concurrent.futures.ThreadPoolExecutor(4)
results = []
PREFIX = (["braid-run", f"--engine={engine}", "--ranks=2"] if engine == "inproc" else
          ["mpirun", "-q", "-n", "2", "braid-run", f"--engine={engine}"])


def run(expected, words, options, variables):
    """What is wrong with a command, or None."""
    done = subprocess.run([*PREFIX, *options], capture_output=True, text=True, check=False,
                          timeout=100, env={**os.environ, **variables})
    if done.returncode == expected and words in done.stderr:
        return None
    return options, variables, "status", done.returncode, "expected", expected, words, done.stderr


def check(expected, words, *options, **variables):
    results.append(pool.submit(run, expected, words, options, variables))


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


def end(number, expected):
    """Sends a signal to braid-run itself, or to the first process of mpirun, while it waits."""
    process = subprocess.Popen([*PREFIX, program, "--entry=forever"], text=True,
                               stderr=subprocess.PIPE, start_new_session=True,
                               env={**os.environ, "BRAID_DEBUG": "detail"})
    lines = []

    def read_until(pattern):
        for line in process.stderr:
            lines.append(line)
            found = re.search(pattern, line)
            if found:
                return found[0]
        return None

    read_until("starts all_reduce")
    victim = process.pid
    if engine != "inproc":
        with open(f"/proc/{victim}/task/{victim}/children", encoding="utf-8") as file:
            victim = int(file.read().split()[0])
    # The last operations of the rank say when it waits, a moment after the start.
    state = "started"
    while state == "started":
        os.kill(victim, signal.SIGUSR1)
        state = read_until("(started|awaited)$")
    os.kill(victim, number)
    text = "".join(lines) + process.stderr.read()
    status = process.wait(100)
    # A shell says 137 for what ends with SIGKILL.
    status = 128 - status if status < 0 else status
    if status == expected and (expected != 1 or "while waiting for all_reduce" in text):
        return None
    return number, "status", status, "expected", expected, text


for case in [(signal.SIGTERM, 1), (signal.SIGINT, 1), (signal.SIGKILL, 137)]:
    results.append(pool.submit(end, *case))
failures = [result.result() for result in results if result.result()]
for failure in failures:
    print(*failure)
sys.exit(bool(failures))
