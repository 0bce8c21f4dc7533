# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles real models under every parallelism with every pass and setting, and compares results (not part of the tests).

python test/Dev/real_models.py --orders=8 --output=outcomes.json
"""

import argparse
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Inputs"))

from real_models.compare import Case  # noqa: E402
from real_models.parallel import PARALLELISMS  # noqa: E402
from real_models.processes import PASSES, Plan, run_case  # noqa: E402
from real_models.settings import SETTINGS  # noqa: E402
from real_models.zoo import MODELS  # noqa: E402

#: What to change of a case: parameters gathered once, layers computed again in backward, no gradients, symbolic sizes, and the
#: backward as one graph with all that autograd does around it.
VARIANTS = {
    "train": {},
    "keep": {"recompute": False},
    "checkpoint": {"checkpoint": True},
    "inference": {"train": False},
    "dynamic": {"dynamic": True},
    "autograd": {"compiled_autograd": True},
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    choices = (("models", MODELS), ("parallelisms", PARALLELISMS), ("settings", SETTINGS), ("passes", PASSES))
    for name, known in choices:
        parser.add_argument(f"--{name}", default=",".join(known), help=f"some of: {', '.join(known)}")
    parser.add_argument("--variants", default="train", help=f"all, or some of: {', '.join(VARIANTS)}; several with +")
    parser.add_argument("--orders", type=int, default=4, help="random orders of each pass that draws them")
    parser.add_argument("--late", action="store_true", help="one process, whose collectives read and write at their waits")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=3600, help="limit of a case")
    parser.add_argument("--cache", help="folder of compiled kernels that stays")
    parser.add_argument("--output", help="file for all outcomes, as JSON")
    arguments = parser.parse_args()
    for name, known in choices:
        words = getattr(arguments, name).split(",")
        unknown = [word for word in words if word not in known]
        if unknown:
            parser.error(f"found {unknown[0]!r} in --{name}, expected some of: {', '.join(known)}")
        setattr(arguments, name, words)
    arguments.variants = list(VARIANTS) if arguments.variants == "all" else arguments.variants.split(",")
    for word in (word for variant in arguments.variants for word in variant.split("+")):
        if word not in VARIANTS:
            parser.error(f"found {word!r} in --variants, expected all, or some of: {', '.join(VARIANTS)}")
    return arguments


def get_cases(arguments):
    for model in arguments.models:
        for parallelism in arguments.parallelisms:
            for variant in arguments.variants:
                changes = {name: value for word in variant.split("+") for name, value in VARIANTS[word].items()}
                case = Case(model, parallelism, layers=arguments.layers, **changes)
                if case.fits() and (case.recompute or PARALLELISMS[parallelism].can_recompute):
                    yield case


def main():
    arguments = parse_arguments()
    if arguments.cache:
        os.makedirs(arguments.cache, exist_ok=True)
    plan = Plan(tuple(arguments.settings), tuple(arguments.passes), arguments.orders, arguments.seed, arguments.late)
    programs = orders = wrong = 0
    everything = []
    with tempfile.TemporaryDirectory() as folder:
        for case in get_cases(arguments):
            begin = time.monotonic()
            try:
                outcomes = run_case(case, plan, arguments.seconds, arguments.cache or folder)
            except AssertionError as error:
                wrong += 1
                print(f"{case}: FAILED\n{error}", flush=True)
                everything.append({"case": str(case), "failure": str(error)})
                continue
            own = [outcome for outcome in outcomes if outcome.rank == 0]
            programs += 1
            orders += sum(outcome.moved for outcome in own)
            differing = [outcome for outcome in outcomes if outcome.differences]
            wrong += len({(outcome.setting, outcome.name) for outcome in differing})
            print(
                f"{case}: {len(own)} compiles, {sum(outcome.moved for outcome in own)} orders, "
                f"{time.monotonic() - begin:.0f} s",
                flush=True,
            )
            for outcome in differing:
                print(f"  rank {outcome.rank}: {outcome.setting}, {outcome.name}: {outcome.differences[:3]}", flush=True)
            reasons = {reason for outcome in own for reason in outcome.reasons}
            for reason in sorted(reasons):
                print(f"  kept: {reason}", flush=True)
            everything.append({"case": str(case), "outcomes": [vars(outcome) for outcome in outcomes]})
    if arguments.output:
        with open(arguments.output, "w") as file:
            json.dump(everything, file, indent=1)
    print(f"{programs} programs, {orders} orders, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
