#!/usr/bin/env python3
"""Stands for a braid-opt: dies of programs that name @crash, with the stack that
FAKE_STACK names, and takes too long over those that name @slow."""
import os
import sys
import time

program = sys.stdin.read()
if "@slow" in program:
    time.sleep(60)
if "@crash" in program:
    print(os.environ["FAKE_STACK"].replace("|", "\n"), file=sys.stderr, flush=True)
    os.abort()
