# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles real models under every parallelism with every pass and setting, and compares results (not part of the tests).

python test/Dev/real_models.py --list                                the matrix, and what has run of it
python test/Dev/real_models.py --resume=outcomes.jsonl               runs it, until it is stopped; goes on where it was
python test/Dev/real_models.py --resume=outcomes.jsonl --table=docs/performance/results/real-models.json

A run has the cells of the PyTorch that it is started with. All versions may share one file.
"""

import argparse
import itertools
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Inputs"))

from real_models.matrix import VARIANTS, VERSIONS, Cell, make_cells  # noqa: E402
from real_models.outcomes import DIFFERS, FAILED, Entry, File, make_entries, make_table  # noqa: E402
from real_models.parallel import PARALLELISMS  # noqa: E402
from real_models.processes import MODES, PASSES, Plan, run_case  # noqa: E402
from real_models.settings import SETTINGS  # noqa: E402
from real_models.zoo import MODELS  # noqa: E402

#: The option for each axis, and what it may have.
AXES = {"models": MODELS, "parallelisms": PARALLELISMS, "variants": VARIANTS, "settings": SETTINGS, "passes": PASSES}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, known in AXES.items():
        parser.add_argument(f"--{name}", help=f"some of: {', '.join(known)}; all unless given")
    parser.add_argument("--list", action="store_true", help="print the cells of all versions instead of running them")
    parser.add_argument("--resume", help="file for outcomes; what it has is not run again")
    parser.add_argument("--again", action="store_true", help="run again what went wrong")
    parser.add_argument("--table", help="write how much has run, for docs/tables.py, instead of running")
    parser.add_argument("--cells", type=int, help="the most cells to run")
    parser.add_argument("--orders", type=int, default=2, help="random orders of each pass that draws them")
    parser.add_argument("--mode", choices=MODES, default="late", help="processes over Gloo, one whose collectives read and write "
                        "at their waits, or processes that train as a program does")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=3600, help="limit of a cell")
    parser.add_argument("--cache", help="folder of compiled kernels that stays")
    arguments = parser.parse_args()
    for name, known in AXES.items():
        words = getattr(arguments, name)
        words = list(known) if words is None else words.split(",")
        single = itertools.chain(*(word.split("+") for word in words)) if name == "variants" else words
        unknown = [word for word in single if word not in known]
        if unknown:
            parser.error(f"found {unknown[0]!r} in --{name}, expected some of: {', '.join(known)}")
        setattr(arguments, name, words)
    return arguments


def choose_cells(arguments):
    """The cells that the options name, in the order of the matrix; variants of several words are none of it, and come last."""
    axes = [getattr(arguments, name) for name in ("models", "parallelisms", "variants", "settings")]
    cells = [cell for cell in make_cells(arguments.mode) if all(value in axis for value, axis in zip(get_values(cell), axes))]
    axes[2] = [variant for variant in axes[2] if "+" in variant]
    more = [Cell(*values) for values in itertools.product(*axes, VERSIONS)]
    return cells + [cell for cell in more if cell.fits(arguments.mode)]


def get_values(cell):
    return cell.model, cell.parallelism, cell.variant, cell.setting


def get_version():
    import torch

    version = ".".join(torch.__version__.split(".")[:2])
    if version not in VERSIONS:
        raise SystemExit(f"found PyTorch {torch.__version__}, expected one of: {', '.join(VERSIONS)}")
    return version


def get_missing(arguments, file, cell):
    """The passes of a cell that are still to run."""
    wrong = (DIFFERS, FAILED) if arguments.again else ()
    entries = {name: file.get(cell, name, arguments.mode) for name in arguments.passes}
    return tuple(name for name, entry in entries.items() if entry is None or entry.outcome in wrong)


def print_list(arguments, file, cells):
    """A row for each cell: its number, values, and the passes by outcome."""
    for number, cell in enumerate(cells):
        outcomes = {}
        for name in arguments.passes:
            entry = file.get(cell, name, arguments.mode)
            outcomes.setdefault("to run" if entry is None else entry.outcome, []).append(name)
        said = "; ".join(f"{outcome}: {', '.join(names)}" for outcome, names in outcomes.items())
        print("\t".join([str(number), *get_values(cell), cell.torch, said]))
    print(f"{len(cells)} cells, {len(cells) * len(arguments.passes)} with each pass; {len(file.entries)} have run")


def run_cell(arguments, cell, names, cache):
    """The `Entry`s of these passes of a cell."""
    plan = Plan((cell.setting,), names, arguments.orders, arguments.seed, arguments.mode)
    try:
        outcomes = run_case(cell.make_case(arguments.layers), plan, arguments.seconds, cache)
    except AssertionError as error:
        # Each pass alone says which of them it was.
        if len(names) > 1:
            return [entry for name in names for entry in run_cell(arguments, cell, (name,), cache)]
        return [Entry(cell, name, arguments.mode, FAILED, texts=[str(error)[-2000:]]) for name in names]
    return make_entries(cell, arguments.mode, names, outcomes)


def run(arguments, file, cells, cache):
    """Runs cells of this version; the number of entries that are wrong."""
    version, count, wrong = get_version(), 0, 0
    for cell in cells:
        if cell.torch != version or not (names := get_missing(arguments, file, cell)):
            continue
        if count == arguments.cells:
            break
        begin = time.monotonic()
        entries = run_cell(arguments, cell, names, cache)
        file.add(entries)
        count += 1
        said = ", ".join(f"{entry.name}: {entry.outcome}, {entry.moved} orders" for entry in entries)
        print(f"{cell}: {said} ({time.monotonic() - begin:.0f} s)", flush=True)
        for entry in entries:
            if entry.outcome in (DIFFERS, FAILED):
                wrong += 1
                print(f"  {entry.name}: {' | '.join(entry.texts)}", flush=True)
    print(f"{count} cells, {wrong} wrong")
    return wrong


def write_table(path, file):
    import transformers

    versions = ", ".join(sorted({entry.cell.torch for entry in file.entries.values()}))
    software = {"torch": versions, "transformers": transformers.__version__}
    with open(path, "w") as output:
        json.dump(make_table(file, make_cells(), PASSES, software), output, indent=2)
        output.write("\n")


def main():
    arguments = parse_arguments()
    file = File(arguments.resume)
    if arguments.table:
        write_table(arguments.table, file)
        return 0
    cells = choose_cells(arguments)
    if arguments.list:
        print_list(arguments, file, cells)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        if arguments.cache:
            os.makedirs(arguments.cache, exist_ok=True)
        return 1 if run(arguments, file, cells, arguments.cache or folder) else 0


if __name__ == "__main__":
    sys.exit(main())
