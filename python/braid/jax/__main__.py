# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m braid.jax MODULE`: writes the Braid program of a module of StableHLO."""

import argparse
import sys

from braid.mlir import BraidError

from .modules import from_stablehlo


def main():
    parser = argparse.ArgumentParser(prog="python -m braid.jax", description=__doc__)
    parser.add_argument("module", help="file with text, bytecode, or what jax.export has serialized")
    parser.add_argument("-o", "--output", help="file for the program; the standard output by default")
    parser.add_argument("--attention", choices=("recognize", "as written"), default="recognize",
                        help="whether attention that is written out becomes one op; 'recognize' by default")
    parser.add_argument("--recurrence", choices=("recognize", "as written"), default="recognize",
                        help="whether scans of linear recurrences run in blocks; 'recognize' by default")
    arguments = parser.parse_args()
    try:
        with open(arguments.module, "rb") as file:
            text = from_stablehlo(file.read(), arguments.attention, arguments.recurrence).text
        if arguments.output is None:
            print(text)
        else:
            with open(arguments.output, "w", encoding="utf-8") as file:
                file.write(text)
    except (OSError, BraidError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
