#!/usr/bin/env python3
"""Finds tests that cannot fail.

Breaks each lit test in small ways, one at a time, and reports those that still
pass:

  drop    a RUN line runs one pass less
  swap    two neighbouring lines of a pinned order change places
  absent  the first line of a FileCheck prefix asks for text that no tool prints

Only copies in a temporary folder are changed.

The file of --allow has the findings that are right as they are: paragraphs of
"# reason" lines, then of findings as they are printed but without the number of
the line, where * stands for any text.

Exit status 1 when there are findings, when a test fails as it is, or, if all
tests are broken, when an entry of the file matches nothing.
"""
import argparse
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}
BATCH = 250  # As many tests as lit gets at a time.

RUN_LINE = re.compile(r"^\W*(?:RUN|DEFINE|REDEFINE):\s*(.*)")
PASS = r"((?:comm|braid|convert)-[a-z0-9-]+|canonicalize|cse|inline|symbol-dce)"
# A pass as an option of its own; parts of its value may be quoted.
FLAG = re.compile(rf"(?<=\s)--?{PASS}(?:=(?:\"[^\"]*\"|'[^']*'|[^\s\"'])*)?(?=\s|$)")
# A pass in the text of a pipeline.
ELEMENT = re.compile(rf"(?:(?<=[(,])|(?<=passes=)){PASS}(?=[{{,)}}\s\"']|$)")
# FileCheck's lines: what stands before, the prefix, the suffix, the pattern.
DIRECTIVE = re.compile(r"^([^A-Za-z0-9]*)([A-Z][A-Z0-9_-]*?)"
                       r"(-(?:NEXT|LABEL|SAME|DAG|NOT|EMPTY|COUNT-\d+))?:(.*)$")
ABSENT = " text that no tool prints"


@dataclasses.dataclass
class Mutant:
    """A test that is broken in one way."""
    test: str  # path in the suite
    line: int
    what: str
    text: str

    def __str__(self):
        return f"{self.test}:{self.line}: {self.what}"

    def without_line(self):
        return f"{self.test}: {self.what}"


# How to break a test: each yields the index of a line, what is done, and the new
# lines by index.


def drop_passes(lines):
    for index, line in enumerate(lines):
        command = RUN_LINE.match(line)
        if not command:
            continue
        for flag in FLAG.finditer(line):
            yield (index, f"drop {flag[1]}: {command[1]}",
                   {index: line[:flag.start()].rstrip() + line[flag.end():]})
        for element in ELEMENT.finditer(line):
            yield (index, f"drop {element[1]}: {command[1]}",
                   {index: without_element(line, element.start(), skip_options(line, element.end()))})


def skip_options(line, end):
    """The end of the {...} that may follow a pass in a pipeline."""
    depth = 0
    for index in range(end, len(line)):
        depth += {"{": 1, "}": -1}.get(line[index], 0)
        if depth <= 0:
            return index + 1 if line[index] == "}" and index > end else end
    return end


def without_element(line, start, end):
    before, after = line[:start], line[end:]
    if before.endswith(","):
        return before[:-1] + after
    if after.startswith(","):
        return before + after[1:]
    nest = re.search(r"[\w.]+\($", before)
    if nest and nest[0] != "builtin.module(":
        # A nest without a pass is no pipeline.
        return without_element(line, nest.start(), end + 1)
    if before.endswith("--passes="):
        return before + "none" + after
    return before.removesuffix("passes=") + after


def directives(lines):
    """FileCheck's lines by prefix, each as (index, match of DIRECTIVE)."""
    prefixes = {"CHECK"}
    for line in lines:
        for names in re.findall(r"check-prefix(?:es)?[= ]([\w,-]+)", line):
            prefixes.update(names.split(","))
    result = {}
    for index, line in enumerate(lines):
        match = DIRECTIVE.match(line)
        # A suffix shows a prefix that no RUN line names.
        if match and (match[2] in prefixes or match[3]):
            result.setdefault(match[2], []).append((index, match))
    return result


def with_pattern(match, pattern):
    return f"{match[1]}{match[2]}{match[3] or ''}:{pattern}"


def swap_neighbours(lines):
    for found in directives(lines).values():
        for (index, first), (other, second) in zip(found, found[1:]):
            ordered = {first[3], second[3]} <= {None, "-NEXT"}
            if not ordered or first[4].split() == second[4].split():
                continue
            what = f"swap {first[2]}: {first[4].strip()} <-> {second[4].strip()}"
            yield index, what, {index: with_pattern(first, second[4]),
                                other: with_pattern(second, first[4])}


def ask_for_absent_text(lines):
    for prefix, found in directives(lines).items():
        wanted = [(i, match) for i, match in found if match[3] not in ("-NOT", "-EMPTY")]
        for index, match in wanted[:1]:
            yield index, f"absent {prefix}", {index: with_pattern(match, ABSENT)}


MUTATIONS = {"drop": drop_passes, "swap": swap_neighbours, "absent": ask_for_absent_text}


def make_mutants(test, text, kinds):
    lines = text.split("\n")
    for kind in kinds:
        for index, what, changes in MUTATIONS[kind](lines):
            changed = [changes.get(i, line) for i, line in enumerate(lines)]
            yield Mutant(test, index + 1, what, "\n".join(changed))


# Running tests.


class Suite:
    """A lit suite: `folder` holds its lit.site.cfg.py or lit.cfg.py."""

    def __init__(self, folder, lit, jobs):
        self.folder = os.path.abspath(folder)
        self.lit = lit
        self.jobs = jobs
        self.source = None

    def find_tests(self, names):
        """The tests of the suite below `names`; sets `source`."""
        paths = [os.path.join(self.folder, name) for name in names] or [self.folder]
        shown = subprocess.run([self.lit, "-q", "--show-suites", "--show-tests", *paths],
                               check=True, stdout=subprocess.PIPE, text=True).stdout
        name, self.source = re.search(r"^  (.*) - \d+ tests\n\s*Source Root: (.*)", shown, re.M).groups()
        return re.findall(rf"^  {re.escape(name)} :: (.*)$", shown, re.M)

    def config(self):
        for name in ("lit.site.cfg.py", "lit.cfg.py"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                return path
        sys.exit(f"{self.folder}: no lit.site.cfg.py, no lit.cfg.py")

    def run(self, mutants):
        """The result of each, as lit calls it."""
        codes = []
        for start in range(0, len(mutants), BATCH):
            with tempfile.TemporaryDirectory(prefix="mutate-tests-") as folder:
                codes += self.run_batch(mutants[start:start + BATCH], os.path.realpath(folder))
            print(f"{len(codes)} of {len(mutants)}", file=sys.stderr)
        return codes

    def run_batch(self, mutants, folder):
        with open(os.path.join(folder, "lit.site.cfg.py"), "w", encoding="utf-8") as file:
            file.write(f"lit_config.load_config(config, {self.config()!r})\n"
                       f"config.test_source_root = {folder!r}\n"
                       f"config.test_exec_root = {os.path.join(folder, 'out')!r}\n"
                       # The timers of tests that end in an error of the shell outlive them.
                       "lit_config.maxIndividualTestTime = 0\n")
        paths = [self.lay_out(mutant, os.path.join(folder, str(number)))
                 for number, mutant in enumerate(mutants)]
        results = os.path.join(folder, "results.json")
        status = subprocess.run([self.lit, "-q", "-j", str(self.jobs), "--output", results, *paths],
                                stdout=subprocess.DEVNULL).returncode
        if status not in (0, 1):  # 1: a test has failed, as most of them should.
            sys.exit(f"{self.lit}: exit status {status}")
        with open(results, encoding="utf-8") as file:
            by_path = {test["name"].split(" :: ")[1]: test["code"] for test in json.load(file)["tests"]}
        return [by_path[os.path.relpath(path, folder)] for path in paths]

    def lay_out(self, mutant, folder):
        """A tree where the mutant has the name of its test and all else is linked."""
        original = self.source
        for part in mutant.test.split("/"):
            os.mkdir(folder)
            for entry in os.listdir(original):
                if entry not in (part, "lit.cfg.py", "lit.site.cfg.py"):
                    os.symlink(os.path.join(original, entry), os.path.join(folder, entry))
            original = os.path.join(original, part)
            folder = os.path.join(folder, part)
        with open(folder, "w", encoding="utf-8", newline="") as file:
            file.write(mutant.text)
        return folder


class AllowList:
    """The findings that are right as they are."""

    def __init__(self, path):
        self.entries = {}  # text: whether a finding has matched it
        with open(path, encoding="utf-8") as file:
            for paragraph in re.split(r"\n\s*\n", file.read().strip()):
                self.read_paragraph(path, paragraph.splitlines())

    def read_paragraph(self, path, lines):
        entries = [line.strip() for line in lines if not line.startswith("#")]
        if entries and not lines[0].startswith("#"):
            sys.exit(f"{path}: no reason for: {entries[0]}")
        self.entries.update(dict.fromkeys(entries, False))

    def allows(self, mutant):
        matching = [entry for entry in self.entries
                    if re.fullmatch(".*".join(map(re.escape, entry.split("*"))), mutant.without_line())]
        self.entries.update(dict.fromkeys(matching, True))
        return bool(matching)

    def unused(self):
        return [entry for entry, used in self.entries.items() if not used]


def default_lit(suite):
    """The lit of the build folder that the suite is in."""
    try:
        with open(os.path.join(suite, "..", "CMakeCache.txt"), encoding="utf-8") as file:
            return re.search(r"^LLVM_EXTERNAL_LIT:\w+=(.*)$", file.read(), re.M)[1]
    except (OSError, TypeError):
        return "lit"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", metavar="TEST",
                        help="a file or folder of the suite, as in Specs/test_c10d_common (default: all)")
    parser.add_argument("--suite", default=os.path.join(ROOT, "build", "test"),
                        help="folder of the configured lit suite (default: build/test)")
    parser.add_argument("--lit", help="the lit to run (default: the one that the build has found)")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="tests at a time")
    parser.add_argument("--allow", default=os.path.join(ROOT, "test", "Dev", "mutate_tests.allow"),
                        help="the findings that are right as they are (default: mutate_tests.allow beside this file)")
    parser.add_argument("--only", action="append", choices=MUTATIONS, help="break tests in this way alone")
    return parser.parse_args()


def read_tests(suite, names):
    for test in suite.find_tests(names):
        with open(os.path.join(suite.source, test), encoding="utf-8", newline="") as file:
            yield test, file.read()


def main():
    arguments = parse_arguments()
    suite = Suite(arguments.suite, arguments.lit or default_lit(arguments.suite), arguments.jobs)
    allowed = AllowList(arguments.allow)
    texts = dict(read_tests(suite, arguments.tests))
    mutants = [mutant for test, text in texts.items()
               for mutant in make_mutants(test, text, arguments.only or MUTATIONS)]

    unchanged = [Mutant(test, 1, "as it is", texts[test])
                 for test in dict.fromkeys(mutant.test for mutant in mutants)]
    codes = dict(zip((mutant.test for mutant in unchanged), suite.run(unchanged)))
    problems = [f"{test}: fails as it is" for test, code in codes.items() if code not in PASSED | SKIPPED]
    mutants = [mutant for mutant in mutants if codes[mutant.test] in PASSED]

    passed = [mutant for mutant, code in zip(mutants, suite.run(mutants)) if code in PASSED]
    findings = [mutant for mutant in passed if not allowed.allows(mutant)]
    problems += [f"{mutant}: still passes" for mutant in findings]
    if not arguments.tests and not arguments.only:
        problems += [f"{arguments.allow}: matches nothing: {entry}" for entry in allowed.unused()]
    print("\n".join(problems), end="\n" if problems else "")
    skipped = sum(code in SKIPPED for code in codes.values())
    print(f"broke {len(codes) - skipped} tests in {len(mutants)} ways: {len(findings)} findings, "
          f"{len(passed) - len(findings)} allowed; {skipped} tests skipped")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
