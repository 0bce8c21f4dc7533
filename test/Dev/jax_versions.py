# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a handful of the tests of braid.jax, those that meet what changes between versions of JAX.

python test/Dev/jax_versions.py                                      with the JAX of this Python
python test/Dev/jax_versions.py --quick                              a few of them
python test/Dev/jax_versions.py --output=FILE PYTHON...              with the JAX of each of these; FILE gets the outcomes
"""

import argparse
import json
import os
import re
import subprocess
import sys
import unittest

TESTS = [
    "collectives.ReductionTest.test_psum_of_groups",
    "collectives.ReductionTest.test_psum_scatter_over_several_axes",
    "programs.StepsTest.test_fully_sharded_weights",
    "programs.ControlFlowTest.test_while_loop_that_all_ranks_end_together",
    "partitioned.PartitionedTest.test_fully_sharded_training_step",
    "partitioned.PartitionedTest.test_some_manual_axes",
    "partitioned.PartitionedTest.test_parts_of_axes",
    "partitioned.OneDeviceTest.test_ops_around_manual_computations",
    "modules.ModulesTest.test_permute_of_replicas",
    "sharded_jit.ShardedJitTest.test_what_xla_partitions_wrongly",
    "programs.ComputeTest.test_scatters",
    "errors.UnsupportedTest.test_op_of_a_program_with_shardings",
    "errors.UnsupportedTest.test_what_the_partitioner_says",
]
#: One with each way of import, and an error.
QUICK = [
    "programs.StepsTest.test_fully_sharded_weights",
    "programs.ControlFlowTest.test_while_loop_to_a_constant",
    "partitioned.PartitionedTest.test_fully_sharded_training_step",
    "errors.UnsupportedTest.test_op_of_a_program_with_shardings",
]
ABOUT = ("Outcomes of test/Dev/jax_versions.py: tests of braid.jax with several versions of JAX, those that meet what "
         "changes between versions")
HERE = os.path.dirname(os.path.abspath(__file__))


def run(tests):
    """Runs the tests; the last line of the standard output is their outcome."""
    sys.path[:0] = [os.path.join(HERE, "..", "Python", "JAX"), os.path.join(HERE, "..", "Inputs")]
    import jax_testing  # noqa: F401  Sets the number of devices, before all else.
    import jax

    result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromNames(tests))
    wrong = {re.match(r"\w+", test.id().rsplit(".", 1)[-1])[0] for test, _ in [*result.failures, *result.errors]}
    print(json.dumps({"jax": jax.__version__, "python": ".".join(map(str, sys.version_info[:2])),
                      "run": result.testsRun, "passed": result.testsRun - len(wrong), "failed": ", ".join(sorted(wrong))}))
    return 0 if result.wasSuccessful() else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    parser.add_argument("--output")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    if not arguments.pythons:
        return run(QUICK if arguments.quick else TESTS)
    rows, status = [], 0
    for python in arguments.pythons:
        done = subprocess.run([python, os.path.abspath(__file__)], stdout=subprocess.PIPE, text=True, check=False)
        lines = done.stdout.splitlines()
        if not lines:
            sys.exit(f"{python}: found no outcome, exit status {done.returncode}")
        print(lines[-1], flush=True)
        rows.append(json.loads(lines[-1]))
        status |= done.returncode
    if arguments.output:
        columns = [["JAX", "{jax}"], ["Python", "{python}"], ["tests that pass", "{passed} of {run}"], ["fails", "{failed}"]]
        with open(arguments.output, "w", encoding="utf-8") as stream:
            json.dump({"about": ABOUT, "tables": {"jax-versions": {"columns": columns}}, "rows": rows}, stream, indent=1)
            stream.write("\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
