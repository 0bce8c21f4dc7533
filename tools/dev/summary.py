#!/usr/bin/env python3
"""Prints one line, "N passed, M failed[, K skipped]", from what lit --output wrote.

Each test that failed is named on the error stream.
`--slowest N` prints instead how long the tests took, one after the other, and the N
slowest of them, with the processor time of each test with RUN lines. Exit status 1 when a test failed. When no test was run there is nothing to count:
an error says so, and the exit status is 1.
"""
import json
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def slowest(path, count):
    try:
        with open(path, encoding="utf-8") as file:
            times = [(test["elapsed"] or 0, test.get("metrics", {}).get("processor", 0), test["name"])
                     for test in json.load(file)["tests"]]
    except (OSError, ValueError, KeyError) as error:
        print(f"error: no test results: {error}", file=sys.stderr)
        return 1
    times.sort(reverse=True)
    wall, processor = (sum(time[part] for time in times) for part in (0, 1))
    print(f"the tests took {wall:.0f} s, one after the other, and {processor:.0f} s of processor time; the slowest:")
    for seconds, processor, name in times[:count]:
        print(f"{seconds:7.1f} s {processor:7.1f} s {name}")
    return 0


def main(path):
    try:
        with open(path, encoding="utf-8") as file:
            tests = [(test["code"], test.get("name")) for test in json.load(file)["tests"]]
    except (OSError, ValueError, KeyError) as error:
        print(f"error: no test results: {error}", file=sys.stderr)
        return 1
    codes = [code for code, _ in tests]
    skipped = sum(code in SKIPPED for code in codes)
    if skipped == len(codes):
        print(f"error: no test was run, {skipped} were skipped", file=sys.stderr)
        return 1
    passed = sum(code in PASSED for code in codes)
    failed = len(codes) - passed - skipped
    for code, name in tests:
        if code not in PASSED and code not in SKIPPED:
            print(f"failed: {name} ({code})", file=sys.stderr)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1] == "--slowest":
        sys.exit(slowest(sys.argv[3], int(sys.argv[2])))
    sys.exit(main(sys.argv[1]))
