"""Leaves in files of figures those of fake programs, whose values are known."""
import json
import sys

for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    results["rows"] = [row for row in results["rows"] if row["name"].endswith("-passes")]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results, file)
