# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains models of JAX packages through Braid in every style and way, and compares with JAX (all take an hour of a core).

python test/Dev/jax_models.py --models=linen_moe,equinox_vit --ways=DP,TP --ranks=2,8 --output=outcomes.json
python test/Dev/jax_models.py --output=docs/performance/results/jax-corpus.json     what the table of the documentation shows
"""

import argparse
import json
import os
import sys
import time

# JAX compiles what it runs once: code that is quick to make.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0 "
                      "--xla_llvm_disable_expensive_passes=true")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Inputs"))

from jax_models import compare, load, steps  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", help="names, with commas; all by default")
    parser.add_argument("--styles", default=",".join(steps.STYLES))
    parser.add_argument("--ways", default=",".join(steps.WAYS))
    parser.add_argument("--ranks", default="4", help="numbers of ranks, with commas: some of 2, 4, 8; 4 by default")
    parser.add_argument("--output", help="file for all outcomes, as JSON; those that it has already are kept, and what "
                        "is equal is not run again")
    parser.add_argument("--optimize", choices="0123", default="0", help="LLVM's level in braid-compile; 0 by default")
    arguments = parser.parse_args()
    models = load()
    arguments.models = arguments.models.split(",") if arguments.models else list(models)
    for name, known in (("models", models), ("styles", steps.STYLES), ("ways", steps.WAYS),
                        ("ranks", [str(count) for count in steps.RANKS])):
        words = getattr(arguments, name)
        words = words.split(",") if isinstance(words, str) else words
        unknown = [word for word in words if word not in known]
        if unknown:
            parser.error(f"found {unknown[0]!r} in --{name}, expected some of: {', '.join(known)}")
        setattr(arguments, name, words)
    return arguments, models


ABOUT = ("Outcomes of test/Dev/jax_models.py: one step of AdamW of a model with a small configuration on 2, 4 and 8 ranks, "
         "under jax.jit with shardings and under jax.shard_map, spread in four ways (DP, FSDP, TP on 1x2, 2x2 or 2x4, FSDP+TP "
         "on 2x2 or 4x2), loss, parameters and moments beside JAX's; braid-compile without optimization (-O0)")
COLUMNS = [["package", "{package}"], ["models", "{model}"], ["ranks", "{ranks}"],
           *([f"`{style}`", f"{{{style}_equal}} of {{{style}_run}}"] for style in steps.STYLES), ["not equal", "{not_equal}"]]


def read(path):
    """The rows of the file of outcomes, by their models."""
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as stream:
        return {row["model"]: row for row in json.load(stream)["rows"]}


def write(path, rows):
    import jax
    for row in rows.values():
        row.update(summarize(row))
    text = json.dumps({"about": ABOUT, "software": {"jax": jax.__version__},
                       "tables": {"jax-corpus": {"by": "package", "columns": COLUMNS}},
                       "rows": [rows[name] for name in sorted(rows)]}, indent=1)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text + "\n")


def summarize(row):
    """The values of a model in the table: its numbers of ranks, how many ways were run and are equal, and the others."""
    cells = [(style, ranks, way, outcome) for style in steps.STYLES for ranks, ways in row["outcomes"].get(style, {}).items()
             for way, outcome in ways.items()]
    values = {"ranks": ", ".join(sorted({ranks for _, ranks, _, _ in cells}, key=int))}
    for style in steps.STYLES:
        outcomes = [cell[-1] for cell in cells if cell[0] == style]
        values |= {f"{style}_equal": outcomes.count("equal"), f"{style}_run": len(outcomes)}
    values["not_equal"] = ", ".join(f"{row['model']} {style} {way} on {ranks} ranks: {outcome.split(': ')[0]}"
                                    for style, ranks, way, outcome in cells if outcome != "equal")
    return values


def choose_cells(arguments):
    """The style, the number of ranks, and the way of each cell of a model."""
    return [(style, int(ranks), way) for ranks in arguments.ranks for style in arguments.styles
            for way in steps.ways_on(style, int(ranks)) if way in arguments.ways]


def main():
    arguments, models = parse_arguments()
    rows = read(arguments.output)
    failures = 0
    for name in arguments.models:
        row = rows.setdefault(name, {"model": name, "package": models[name].package, "outcomes": {}})
        for style, ranks, way in choose_cells(arguments):
            outcomes = row["outcomes"].setdefault(style, {}).setdefault(str(ranks), {})
            if outcomes.get(way) == "equal":
                continue
            begin = time.monotonic()
            outcomes[way] = compare.run(models[name], style, way, ranks, arguments.optimize)
            failures += outcomes[way] != "equal"
            print(f"{name} {style} {way} on {ranks} ranks: {outcomes[way]} ({time.monotonic() - begin:.0f} s)", flush=True)
            if arguments.output:
                write(arguments.output, rows)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
