# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains models of JAX packages through Braid in every style and way, and compares with JAX.

python test/Dev/jax_models.py --models=linen_moe,equinox_vit --ways=DP,TP --output=outcomes.json
"""

import argparse
import json
import os
import sys
import time

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Inputs"))

from jax_models import compare, load, steps  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", help="names, with commas; all by default")
    parser.add_argument("--styles", default=",".join(steps.STYLES))
    parser.add_argument("--ways", default=",".join(steps.WAYS))
    parser.add_argument("--output", help="file for all outcomes, as JSON; those that it has already are kept")
    arguments = parser.parse_args()
    models = load()
    arguments.models = arguments.models.split(",") if arguments.models else list(models)
    for name, known in (("models", models), ("styles", steps.STYLES), ("ways", steps.WAYS)):
        words = getattr(arguments, name)
        words = words.split(",") if isinstance(words, str) else words
        unknown = [word for word in words if word not in known]
        if unknown:
            parser.error(f"found {unknown[0]!r} in --{name}, expected some of: {', '.join(known)}")
        setattr(arguments, name, words)
    return arguments, models


def main():
    arguments, models = parse_arguments()
    outcomes = {}
    if arguments.output and os.path.exists(arguments.output):
        with open(arguments.output, encoding="utf-8") as stream:
            outcomes = json.load(stream)
    failures = 0
    for name in arguments.models:
        for style in arguments.styles:
            for way in arguments.ways:
                begin = time.monotonic()
                outcome = compare.run(models[name], style, way)
                failures += outcome != "equal"
                outcomes.setdefault(name, {"package": models[name].package}).setdefault(style, {})[way] = outcome
                print(f"{name} {style} {way}: {outcome} ({time.monotonic() - begin:.0f} s)", flush=True)
                if arguments.output:
                    with open(arguments.output, "w", encoding="utf-8") as stream:
                        json.dump(outcomes, stream, indent=1, sort_keys=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
