#!/usr/bin/env python3
"""Stands for a braid-opt: dies of programs that name @crash, with the stack that
FAKE_STACK names above the tool's own, and takes too long over those that name
@slow."""
import os
import pathlib
import sys
import time

program = sys.stdin.read()
if "@slow" in program:
    time.sleep(60)
if "@crash" in program:
    main = pathlib.Path(__file__).resolve().parents[3] / "tools" / "braid-opt" / "braid-opt.cpp"
    tool = f"    #98 0x1 in run(llvm::StringRef) {main}:88:14\n    #99 0x1 in main {main}:120:27"
    print(os.environ["FAKE_STACK"].replace("|", "\n"), tool, sep="\n", file=sys.stderr, flush=True)
    os.abort()
