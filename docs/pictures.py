#!/usr/bin/env python3
"""Draws the pictures of the documentation: timelines from reports of comm-report
(timeline.py), and the steps on GPUs from their table (chart.py).

    pictures.py             exit status 1 if a picture is not what the tool draws
    pictures.py --update    writes them

Run with braid-opt on the PATH.
"""
import json
import os
import subprocess
import sys

import chart
import timeline
import update

# The picture, the program, and the options of comm-report.
PICTURES = [
    ("reorder.svg", "test/Examples/reorder.mlir",
     "machine=cpu ranks=2 link-latency=20us link-bandwidth=100MB/s passes=braid-overlap"),
    ("micro-batches.svg", "test/Examples/micro-batches.mlir", "machine=ideal passes=comm-schedule"),
    ("plan.svg", "docs/programs/plan.mlir", "passes=braid-overlap"),
    ("search.svg", "docs/programs/search.mlir", "passes=comm-schedule"),
]


def draw(program, options):
    done = subprocess.run(
        ["braid-opt", os.path.join(update.ROOT, program), f"--comm-report=format=json {options}", "-o", os.devnull],
        check=True, text=True, stderr=subprocess.PIPE)
    return timeline.draw(json.loads(done.stderr))


def main(write):
    pictures = [(name, draw(program, options)) for name, program, options in PICTURES]
    return update.update([(f"docs/images/{name}", picture) for name, picture in [*pictures, ("gpus.svg", chart.draw())]],
                         write, "is not what the tool draws; run docs/pictures.py --update and look at it")


if __name__ == "__main__":
    sys.exit(main(update.is_asked()))
