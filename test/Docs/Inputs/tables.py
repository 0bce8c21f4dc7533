"""tables.py DOCS: tables of a page follow their measurements, and a page whose table differs is found."""
import json
import os
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import tables
import update

RESULTS = {
    "derive": {"best": ["min", "plan", "search"], "change": ["change", "plan", "search"], "share": ["/", "best", "bound"]},
    "tables": {
        "all": {"columns": [["step", "`{step}`"], ["plan", "{plan:.1f}"], ["change", "{change:+.1f} %"]], "mean": "mean"},
        "one": {"columns": [["step", "{step}"], ["best / bound", "{share:.2f}"]], "where": {"step": "b"}},
        "joined": {"columns": [["kind", "{kind}"], ["steps", "{step}"], ["search", "{search:.1f}"],
                               ["best / bound", "{share:.2f}"]], "by": "kind"},
    },
    "rows": [
        {"step": "a", "kind": "large, old", "plan": 9.0, "search": 10.0, "bound": 8.0},
        {"step": "b", "kind": "small", "plan": 6.0, "search": 5.0, "bound": 4.0},
        {"step": "c", "kind": "large, old", "search": 3.0, "bound": 3.0},
    ],
}
# A step without a plan has empty cells, and a mean takes what all rows have alone.
ALL = ["| step | plan | change |", "|---|---|---|", "| `a` | 9.0 | -10.0 % |", "| `b` | 6.0 | +20.0 % |", "| `c` |  |  |",
       "| mean |  |  |"]
ONE = ["| step | best / bound |", "|---|---|", "| b | 1.25 |"]
# What a joined row derives follows from its sums: min(9, 10 + 3) / (8 + 3).
JOINED = ["| kind | steps | search | best / bound |", "|---|---|---|---|", "| large, old | a, c | 13.0 | 0.82 |",
          "| small | b | 5.0 | 1.25 |"]
PAGE = ["# A page", "", "<!-- table: all -->", "| old |", "", "text", "<!-- table: one -->", "", "| other |", "<!-- table: joined -->"]
EXPECTED = ["# A page", "", "<!-- table: all -->", *ALL, "", "text", "<!-- table: one -->", *ONE, "", "| other |",
            "<!-- table: joined -->", *JOINED]


def expect(found, expected):
    if found != expected:
        sys.exit(f"found {found!r}, expected {expected!r}")


with tempfile.TemporaryDirectory() as root:
    update.ROOT, tables.RESULTS = root, os.path.join(root, "docs", "performance", "results")
    os.makedirs(tables.RESULTS)
    with open(os.path.join(tables.RESULTS, "steps.json"), "w", encoding="utf-8") as file:
        json.dump(RESULTS, file)
    page = os.path.join(root, "README.md")
    with open(page, "w", encoding="utf-8") as file:
        file.write("\n".join(PAGE))
    expect(tables.main(False), 1)
    expect(tables.main(True), 0)
    with open(page, encoding="utf-8") as file:
        expect(file.read().split("\n"), EXPECTED)
    expect(tables.main(False), 0)
    try:
        tables.rewrite("<!-- table: none -->", tables.draw_tables(), "PAGE")
    except ValueError as error:
        expect(str(error), "PAGE: found the table none, which no file of measurements has")
    else:
        sys.exit("found no error for a table that does not exist")
