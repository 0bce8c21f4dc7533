# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of benchmarks: how a program records them, and how two sets of results compare.

A program appends each figure as a line of JSON to the file that BRAID_BENCH_FIGURES names (`record`; Figures.h in C++).
Scripts that go to other machines take this module along. Results are an object with `parts`, the outcome of each part by its name, and `rows`, the figures.
"""

import json
import math
import os
import statistics

VARIABLE = "BRAID_BENCH_FIGURES"


def record(name, value, unit, better="lower"):
    """Records a figure, where somebody asks for figures.

    `better` is "lower" or "higher": which values are an improvement.
    """
    if VARIABLE in os.environ:
        with open(os.environ[VARIABLE], "a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, "value": value, "unit": unit, "better": better}) + "\n")


def write_json(path, content):
    """Writes a file that is whole at any time, also while a longer measurement goes on. What is no file, such as /dev/stdout, stays."""
    in_place = os.path.exists(path) and not os.path.isfile(path) or path.startswith(("/dev/", "/proc/"))
    name = path if in_place else path + ".new"
    with open(name, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")
    if not in_place:
        os.replace(name, path)


def read_lines(path):
    """The figures that programs have recorded in a file; none where there is no file."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def make_rows(part, runs):
    """One row for each name in the figures of several runs of a part: the samples, and their median as the value."""
    rows = {}
    for run in runs:
        for figure in run:
            row = rows.setdefault(figure["name"], {"part": part, **figure, "samples": []})
            row["samples"].append(figure["value"])
    for row in rows.values():
        row["value"] = statistics.median(row["samples"])
    return list(rows.values())


def load(path):
    """The results in a file; ValueError if it holds something else."""
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    if not isinstance(results, dict) or not isinstance(results.get("rows"), list) or "parts" not in results:
        raise ValueError(f"{path}: expected the results of `bench.py run`, an object with `parts` and `rows`")
    return results


def get_cost_ratio(base, new):
    """How many times as long, or as bad, the new figure is."""
    before, after = (base["value"], new["value"]) if base["better"] == "lower" else (new["value"], base["value"])
    if before == after:
        return 1.0
    return after / before if before else math.inf


def judge(base, new, threshold):
    """"slower", "faster", "same", or "unclear": the medians differ by more than the threshold, but samples overlap."""
    ratio = get_cost_ratio(base, new)
    if 1 / (1 + threshold) <= ratio <= 1 + threshold:
        return "same"
    overlap = max(min(base["samples"]), min(new["samples"])) <= min(max(base["samples"]), max(new["samples"]))
    if overlap and min(len(base["samples"]), len(new["samples"])) > 1:
        return "unclear"
    return "slower" if ratio > 1 else "faster"


def compare(base, new, threshold):
    """Pairs of verdict and text for each figure of either results, in the order of `base`.

    A figure of `base` is "lost" where its part ran for `new` without it.
    """
    found = {(row["part"], row["name"]): row for row in new["rows"]}
    verdicts = []
    for row in base["rows"]:
        name = f"{row['part']}: {row['name']}"
        other = found.pop((row["part"], row["name"]), None)
        if other is None:
            if row["part"] in new["parts"]:
                verdicts.append(("lost", f"{name}: was {row['value']:.4g} {row['unit']}"))
            continue
        values = f"{row['value']:.4g} -> {other['value']:.4g} {row['unit']}"
        verdicts.append((judge(row, other, threshold), f"{name}: {values}, cost {get_cost_ratio(row, other):.3f}"))
    verdicts += [("new", f"{row['part']}: {row['name']}: {row['value']:.4g} {row['unit']}") for row in found.values()]
    return verdicts
