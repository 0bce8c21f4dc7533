# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what a program writes with --gtest_output=json."""

import json


def outcomes(file):
    """The tests of a report that ran, and those that were skipped."""
    with open(file) as stream:
        report = json.load(stream)
    run, skipped = set(), set()
    for suite in report["testsuites"]:
        for test in suite["testsuite"]:
            name = f"{suite['name']}.{test['name']}"
            (skipped if test["result"] == "SKIPPED" else run).add(name)
    return run, skipped
