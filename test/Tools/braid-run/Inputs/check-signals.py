"""Sends signals to braid-run: while ranks wait, and while the compiler runs."""

import os
import re
import shutil
import signal
import subprocess
import sys

from signal_testing import ask_until, check, has_failed, is_gone, wait_until

folder = sys.argv[1]

# Ranks 0 and 2 wait for rank 1.
for number in (signal.SIGTERM, signal.SIGINT):
    log = os.path.join(folder, "log")
    with open(log, "w", encoding="utf-8") as file:
        process = subprocess.Popen(
            ["braid-run", f"{folder}/p.so", "--entry=forever", "--ranks=3"],
            stderr=file,
            env=dict(os.environ, BRAID_DEBUG="DETAIL"),
        )

    def read():
        with open(log, encoding="utf-8") as file:
            return file.read()

    def lines(what):
        return [line for line in read().split("\n") if what in line]

    def waiting():
        return set(re.findall("last operations of rank (.):\n.*: awaited$", read(), re.M))

    check(wait_until(lambda: len(lines("starts all_reduce")) == 2), "no start")
    check(ask_until(process, lambda: waiting() == {"0", "2"}), "no wait", read())
    process.send_signal(number)
    check(process.wait(timeout=30) == 1, "status", process.returncode)
    expected = [
        f"braid-run: error: rank {rank}: ended by signal {number.value} while "
        "waiting for all_reduce sum tensor<4xf32> at prog.mlir:12:8 (ar0)"
        for rank in (0, 2)
    ]
    check(lines("ended by signal") == expected, lines("ended by signal"))

# A compiler that takes long: it stands next to a copy of braid-run, which finds its
# libraries in ../lib.
tools = os.path.join(folder, "bin")
os.makedirs(tools)
own = os.path.dirname(shutil.which("braid-run"))
shutil.copy(os.path.join(own, "braid-run"), tools)
os.symlink(os.path.join(os.path.dirname(own), "lib"), os.path.join(folder, "lib"))
compiler = os.path.join(tools, "braid-compile")
started = os.path.join(folder, "compiler.pid")
with open(compiler, "w", encoding="utf-8") as file:
    file.write(f"#!/bin/sh\necho $$ > {started}.new\n")
    file.write(f"mv {started}.new {started}\nexec sleep 100\n")
os.chmod(compiler, 0o755)
temporary = os.path.join(folder, "tmp")
process = subprocess.Popen(
    [os.path.join(tools, "braid-run"), __file__],
    env=dict(os.environ, TMPDIR=temporary),
)
check(wait_until(lambda: os.path.exists(started)), "no compiler")
check(len(os.listdir(temporary)) == 1, os.listdir(temporary))
process.send_signal(signal.SIGTERM)
check(process.wait(timeout=30) == 1, "status", process.returncode)
check(os.listdir(temporary) == [], os.listdir(temporary))
with open(started, encoding="utf-8") as file:
    check(is_gone(int(file.read())), "the compiler still runs")

# A launcher that is killed leaves no rank behind; one whose thread has ended, which
# had started the rank, does.
script = """
import os, signal, subprocess, sys, threading
ranks = []
words = ["braid-run", sys.argv[1], "--entry=forever", "--ranks=3", "--engine=inproc"]
thread = threading.Thread(target=lambda: ranks.append(subprocess.Popen(words, stderr=subprocess.PIPE)))
thread.start()
thread.join()
any(b"starts all_reduce" in line for line in ranks[0].stderr)
print(ranks[0].pid, ranks[0].poll(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
result = subprocess.run(
    [sys.executable, "-c", script, f"{folder}/p.so"],
    env=dict(os.environ, OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="1", BRAID_DEBUG="DETAIL"),
    stdout=subprocess.PIPE,
    text=True,
    check=False,
)
number, status = result.stdout.split()
check(status == "None", "ended with the launcher's thread:", status)
check(wait_until(lambda: is_gone(number)), "the rank of a killed launcher still runs")
sys.exit(has_failed())
