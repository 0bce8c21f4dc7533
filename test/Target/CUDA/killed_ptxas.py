# REQUIRES: nvptx
# RUN: rm -rf %t && mkdir -p %t/toolkit/bin %t/tmp && %python %s %t
"""ptxas, which MLIR starts, ends with braid-compile, and its files go."""

import os
import signal
import subprocess
import sys

from signal_testing import check, has_failed, is_gone, wait_until

folder = sys.argv[1]
temporary = os.path.join(folder, "tmp")
started = os.path.join(folder, "started")
program = os.path.join(folder, "kernel.mlir")
with open(program, "w", encoding="utf-8") as file:
    file.write("""
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = arith.addf %x, %x : tensor<64xf32>
  return %y : tensor<64xf32>
}
""")
for name in ("ptxas", "fatbinary"):
    path = os.path.join(folder, "toolkit/bin", name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\necho $$ > {started}.new\nmv {started}.new {started}\nexec sleep 1000\n")
    os.chmod(path, 0o755)
for number in (signal.SIGTERM, signal.SIGKILL):
    process = subprocess.Popen(["braid-compile", program, "--target=cuda", f"--cuda-path={folder}/toolkit", "-o",
                                f"{folder}/kernel.so"], env=dict(os.environ, TMPDIR=temporary),
                               stderr=subprocess.DEVNULL)
    check(wait_until(lambda: os.path.exists(started)), number, "no ptxas")
    with open(started, encoding="utf-8") as file:
        ptxas = int(file.read())
    os.remove(started)
    check(any("ptx" in file for _, _, files in os.walk(temporary) for file in files), number, "no file for ptxas")
    process.send_signal(number)
    check(process.wait(timeout=60) == -number, number, process.returncode)
    check(wait_until(lambda: not os.listdir(temporary)), number, os.listdir(temporary))
    check(is_gone(ptxas), number, "ptxas still runs")
sys.exit(has_failed())
