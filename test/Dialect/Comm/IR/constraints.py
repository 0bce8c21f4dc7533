# RUN: %python %s
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The constraints of the dialect are numbered from 1 on, each number once, and the comments of the verifiers cite every
one of them and no other."""

import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..")
DESCRIPTIONS = "include/braid/Dialect/Comm/IR/*.td"
VERIFIERS = "lib/Dialect/Comm/IR/*.cpp"


def read(pattern):
    texts = []
    for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
        with open(path) as file:
            texts.append(file.read())
    assert texts, pattern
    return "\n".join(texts)


def find_faults(descriptions, verifiers):
    stated = [int(number) for number in re.findall(r"^ *\* \(C(\d+)\) ", descriptions, re.MULTILINE)]
    comments = " ".join(re.findall(r"///?.*", verifiers))
    cited = {int(number) for number in re.findall(r"\bC(\d+)\b", comments)}
    faults = [f"C{number} is not stated once" for number in range(1, max(stated) + 1) if stated.count(number) != 1]
    faults += [f"no verifier cites C{number}" for number in sorted(set(stated) - cited)]
    return faults + [f"a verifier cites C{number}, which is not stated" for number in sorted(cited - set(stated))]


def main():
    text = "    * (C1) One.\n    * (C2) Two."
    assert find_faults(text, "// C1\n/// Verifies C2: two.") == []
    assert find_faults(text, "// C1") == ["no verifier cites C2"]
    assert find_faults(text, "// C1, C2 and C3") == ["a verifier cites C3, which is not stated"]
    assert find_faults(text + "\n    * (C2) Again.", "// C1, C2") == ["C2 is not stated once"]
    assert find_faults("    * (C2) Two.", "// C2") == ["C1 is not stated once"]
    faults = find_faults(read(DESCRIPTIONS), read(VERIFIERS))
    if faults:
        sys.exit("\n".join(faults))


main()
