#!/usr/bin/env python3
"""Writes the tables of the pages from the measurements in docs/performance/results.

    tables.py             exit status 1 if a table of a page is not what its measurements say
    tables.py --update    writes the tables

A page says where a table stands: `<!-- table: NAME -->` on the line above it. A file of
measurements says how its tables look:

    "rows":   a list of objects, one for each measured thing
    "derive": values of a row that follow from others, in their order: ["min", NAME...] is the
              least of those that a row has, ["/", NAME, NAME] a quotient, ["change", NAME, NAME]
              the same as a change in percent
    "tables": for each NAME its `columns`, a list of [heading, text], where the text has values of a row
              in Python's format language ("{plan:.3f}"); a value that a row does not have makes an empty
              cell. `where` chooses rows by their values; `by` makes one row of all that have the same value of
              this name, with sums of numbers and lists of texts; `mean` names a last row with the mean values.
"""
import glob
import json
import os
import re
import sys

import update

RESULTS = os.path.join(update.ROOT, "docs", "performance", "results")
MARK = re.compile(r"<!-- table: (\S+) -->")


def derive(row, rules):
    """`row` with the values that follow from it; a value without its sources does not exist."""
    row = dict(row)
    for name, (operation, *sources) in rules.items():
        found = [row[source] for source in sources if source in row]
        if operation == "min":
            if found:
                row[name] = min(found)
        elif operation in ("/", "change"):
            if len(found) == 2:
                quotient = found[0] / found[1]
                row[name] = quotient if operation == "/" else 100 * (quotient - 1)
        else:
            raise ValueError(f'found the operation "{operation}", expected "min", "/" or "change"')
    return row


def join(rows, name):
    """One row for each value of `name`: sums of numbers, and of texts that are lists each word once."""
    groups = {}
    for row in rows:
        groups.setdefault(row[name], []).append(row)
    return [{key: join_values([row[key] for row in group if key in row]) for key in group[0]} for group in groups.values()]


def join_values(values):
    if isinstance(values[0], str):
        return ", ".join(sorted({word for value in values for word in value.split(", ") if word}))
    return sum(values) if isinstance(values[0], (int, float)) else values


def get_mean(rows):
    """The mean of each value that is a number in all rows."""
    numbers = [key for key in rows[0] if all(isinstance(row.get(key), (int, float)) for row in rows)]
    return {key: sum(row[key] for row in rows) / len(rows) for key in numbers}


def fill(text, row):
    """The cell `text` with the values of `row`; empty where one of them is missing."""
    try:
        return text.format_map(row)
    except KeyError:
        return ""


def load(name):
    """The rows of a file of measurements, with what they derive."""
    with open(os.path.join(RESULTS, name + ".json"), encoding="utf-8") as file:
        results = json.load(file)
    return choose(results, {})


def choose(results, view):
    """The rows of a table, with what they derive."""
    rows = [row for row in results["rows"] if all(row.get(key) == value for key, value in view.get("where", {}).items())]
    rows = join(rows, view["by"]) if "by" in view else rows
    return [derive(row, results.get("derive", {})) for row in rows]


def draw_tables():
    """The lines of all tables, by name."""
    tables = {}
    for path in sorted(glob.glob(os.path.join(RESULTS, "*.json"))):
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
        for name, view in results.get("tables", {}).items():
            if name in tables:
                raise ValueError(f"{path}: found a second table {name}")
            chosen = choose(results, view)
            cells = [[heading for heading, _ in view["columns"]], ["---"] * len(view["columns"])]
            cells += [[fill(text, row) for _, text in view["columns"]] for row in chosen]
            if "mean" in view:
                mean = get_mean(chosen)
                cells.append([view["mean"]] + [fill(text, mean) for _, text in view["columns"][1:]])
            lines = ["| " + " | ".join(row) + " |" for row in cells]
            lines[1] = lines[1].replace(" ", "")
            tables[name] = lines
    return tables


def rewrite(text, tables, where):
    """The text of a page with its tables as they have to be."""
    lines, result = text.split("\n"), []
    position = 0
    while position < len(lines):
        result.append(lines[position])
        position += 1
        if match := MARK.fullmatch(result[-1]):
            if match[1] not in tables:
                raise ValueError(f"{where}: found the table {match[1]}, which no file of measurements has")
            result += tables[match[1]]
            while position < len(lines) and lines[position].startswith("|"):
                position += 1
    return "\n".join(result)


def main(write):
    tables = draw_tables()
    pages = ["README.md", *sorted(glob.glob("docs/**/*.md", root_dir=update.ROOT, recursive=True))]
    return update.update([(page, rewrite(update.read(page), tables, page)) for page in pages], write,
                         "has tables that are not what docs/performance/results says; run docs/tables.py --update")


if __name__ == "__main__":
    sys.exit(main(update.is_asked()))
