"""Runs braid-run as this rank, with files that other ranks do not have: the
given program is there for rank 0 only; with --own=FOLDER each rank works in
FOLDER.RANK."""

import os
import sys

words = sys.argv[1:]
rank = os.environ["OMPI_COMM_WORLD_RANK"]
if words[0].startswith("--own="):
    os.chdir(words.pop(0)[len("--own=") :] + "." + rank)
elif rank != "0":
    folder, file = os.path.split(words[0])
    words[0] = os.path.join(folder, "nowhere", file)
os.execvp("braid-run", ["braid-run", *words])
