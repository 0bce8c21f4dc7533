#!/usr/bin/env python3
"""Checks the pages of the documentation: pages.py [--root FOLDER] [PAGE...]; exit status 1 if there is a finding.

* The first line below the title names the reader: it begins with "For ".
* A page has at most 250 lines, generated pages (first line a comment) excepted.
* A line of text has at most 120 characters; code and tables, which cannot be broken, are excepted.
* Text has no dates and no diary: git and docs/performance/results know when something was so.
* Links and anchors lead somewhere.
"""
import argparse
import glob
import os
import re
import sys

MAX_LINES = 250
MAX_WIDTH = 120
DIARY = re.compile(
    r"\b20\d\d-\d\d(-\d\d)?\b|\bsince then\b|\bat that time\b|\bused to be\b|\bnot yet measured\b"
    r"|\ba (second|third|fourth|fifth|sixth|later) machine\b", re.IGNORECASE)
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")


def read_text(root, page):
    """The lines of a page with their numbers, without blocks of code."""
    with open(os.path.join(root, page), encoding="utf-8") as file:
        lines = file.read().split("\n")
    fenced, result = False, []
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            result.append((number, line))
    return lines, result


def get_anchors(root, page):
    """The anchors of the headings, as GitHub makes them."""
    anchors, numbers = set(), {}
    for _, line in read_text(root, page)[1]:
        if heading := re.match(r"#+ +(.*)", line):
            text = re.sub(r"\]\([^)]*\)", "", heading.group(1)).lower()
            anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            number = numbers.get(anchor, 0)
            numbers[anchor] = number + 1
            anchors.add(f"{anchor}-{number}" if number else anchor)
    return anchors


def check_links(root, page, lines):
    # The text of a link may go over the end of a line.
    text = "\n".join(line for _, line in lines)
    for link in LINK.finditer(text):
        number = lines[text.count("\n", 0, link.end())][0]
        target, _, anchor = link.group(1).partition("#")
        if ":" in target:
            continue
        path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
        if not os.path.exists(os.path.join(root, path)):
            yield number, f"found a link to {target}, which does not exist"
        elif anchor and path.endswith(".md") and anchor not in get_anchors(root, path):
            yield number, f"found a link to #{anchor}, expected a heading of {path}"


def check(root, page):
    """Pairs of a line number and what is wrong there."""
    lines, text = read_text(root, page)
    generated = lines[0].startswith("<!--")
    yield from check_links(root, page, text)
    if page == "README.md":
        return
    if not generated:
        first = next((line for line in lines[1:] if line), "")
        if not first.startswith("For "):
            yield 3, 'found no reader, expected a first line that begins with "For "'
        if len(lines) - 1 > MAX_LINES:
            yield len(lines) - 1, f"found {len(lines) - 1} lines, expected at most {MAX_LINES}"
    for number, line in text:
        if len(line) > MAX_WIDTH and not line.startswith(("|", "<!--")) and not generated:
            yield number, f"found {len(line)} characters, expected at most {MAX_WIDTH}"
        if diary := DIARY.search(line):
            yield number, f'found "{diary.group()}", expected text that holds whenever it is read'


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    parser.add_argument("pages", nargs="*")
    arguments = parser.parse_args()
    pages = arguments.pages or ["README.md"] + sorted(glob.glob("docs/**/*.md", root_dir=arguments.root, recursive=True))
    findings = [f"{page}:{number}: {text}" for page in pages for number, text in check(arguments.root, page)]
    print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
