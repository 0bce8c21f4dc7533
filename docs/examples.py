#!/usr/bin/env python3
"""Runs the examples of a Markdown page and compares what they print.

    examples.py PAGE...             exit status 1 if a page does not tell the truth
    examples.py --update PAGE...    writes what the commands print into the pages

A block of the language `console` holds commands, each behind "$ " and followed
by what it prints (standard output and error). They run in an empty folder, in
which `test` and `docs` are the project's; a command's exit status has to be 0,
unless its last output line is "[exit status N]". A comment on the line above a
block says what is special about it:

    <!-- file: NAME -->          the block is a file of this name
    <!-- figures vary -->        numbers, and the lengths of bars, are not compared
    <!-- not run: REASON -->     the block is shown only
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def mask(text):
    """`text` without what differs between two runs that say the same."""
    text = re.sub(r"\d+(\.\d+)?(e[-+]?\d+)?", "N", text)
    text = re.sub(r"\b(ns|us|µs|ms|s|KiB|MiB|GiB|B)\b", "U", text)
    text = re.sub(r"([-=#|.*~▏▎▍▌▋▊▉█░▒▓])\1+", r"\1", text)
    return re.sub(r"[ \t]+", " ", text)


def split_commands(lines):
    """Pairs of (command lines, output lines) of a console block."""
    commands = []
    for line in lines:
        if line.startswith("$ "):
            commands.append(([line], []))
        elif commands and not commands[-1][1] and commands[-1][0][-1].endswith("\\"):
            commands[-1][0].append(line)
        elif commands:
            commands[-1][1].append(line)
        else:
            raise ValueError(f"output before the first command: {line}")
    return commands


def run(command, folder):
    """Output lines of a command, the exit status last when it is not 0."""
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240, check=False)
    lines = [line.rstrip() for line in done.stdout.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if done.returncode:
        lines.append(f"[exit status {done.returncode}]")
    return lines


def run_console(lines, varies, folder, where):
    """The block as it should read, and whether it does."""
    result, good = [], True
    for command, expected in split_commands(lines):
        text = "\n".join(command)[2:]
        actual = run(text, folder)
        same = (mask("\n".join(actual)) == mask("\n".join(expected))) if varies else actual == expected
        if not same:
            good = False
            print(f"{where}: $ {text}", "expected:", *expected, "found:", *actual, sep="\n", file=sys.stderr)
        result += command + (expected if same else actual)
    return result, good


def run_page(page, update):
    """Runs a page's blocks in their order; whether all of them were true."""
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("\n")
    output, good, position = [], True, 0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("test", "docs"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        while position < len(lines):
            line = lines[position]
            output.append(line)
            position += 1
            if not line.startswith("```"):
                continue
            end = lines.index("```", position)
            block = lines[position:end]
            note = lines[position - 2] if position >= 2 else ""
            if match := re.fullmatch(r"<!-- file: (\S+) -->", note):
                with open(os.path.join(folder, match[1]), "w", encoding="utf-8") as file:
                    file.write("\n".join(block) + "\n")
            elif line == "```console" and not note.startswith("<!-- not run:"):
                where = f"{os.path.relpath(page, ROOT)}:{position}"
                block, same = run_console(block, note == "<!-- figures vary -->", folder, where)
                good &= same
            output += block + ["```"]
            position = end + 1
    if update and output != lines:
        with open(page, "w", encoding="utf-8") as file:
            file.write("\n".join(output))
        print(f"wrote {os.path.relpath(page, ROOT)}")
    return good or update


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("pages", nargs="+")
    arguments = parser.parse_args()
    return 0 if all([run_page(page, arguments.update) for page in arguments.pages]) else 1


if __name__ == "__main__":
    sys.exit(main())
