#!/usr/bin/env bash
# The checks beside the tests; every finding is named, the exit status is 1 if
# there is one.
#
#   lint.sh            all checks
#   lint.sh --fast     all but clang-tidy
#   lint.sh --fix      repairs the C++ format
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

LLVM=22
"$ROOT/tools/dev/setup.sh" build test lint
cd "$ROOT"

# Tracked files that still exist, one a line.
files() { git ls-files -- "$@" | while read -r file; do [ ! -f "$file" ] || printf '%s\n' "$file"; done; }
mapfile -t cxx < <(files '*.cpp' '*.h' '*.c')
if [ "${1:-}" = --fix ]; then
  "clang-format-$LLVM" -i "${cxx[@]}"
  exit 0
fi

findings=0
finding() { printf '%s\n' "$*"; findings=$((findings + 1)); }

step "format"
while read -r file; do
  finding "$file: not as clang-format would have it (make format)"
done < <("clang-format-$LLVM" --dry-run "${cxx[@]}" 2>&1 | sed -n 's/^\([^:]*\):.*\[-Wclang-format-violations\]$/\1/p' | sort -u)

step "file headers"
while read -r file; do
  head -n 12 "$file" | tr -d '\n' | grep -q 'Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions\..*SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception' ||
    finding "$file: no licence header (see the head of lib/InitAll.cpp)"
done < <(files 'include/*.h' 'include/*.td' 'lib/*.cpp' 'lib/*.h' 'tools/*.cpp' 'tools/*.h' 'test/Unit/*.cpp' 'test/Unit/*.h')

step "includes between rooms"
while read -r line; do
  finding "$line"
done < <("$ROOT/tools/dev/layers.py" 2>&1 || true)

step "names of sources that are compiled together"
while read -r line; do
  finding "$line"
done < <("$ROOT/tools/dev/local_names.py" 2>&1 || true)

step "names in Python"
while read -r line; do
  finding "$line"
done < <("$ROOT/tools/dev/python_names.py" 2>&1 || true)

step "cost of a clean build"
while read -r line; do
  finding "$line"
done < <("$ROOT/tools/dev/compile_cost.py" || true)

step "white space"
while read -r line; do
  finding "$line: trailing white space"
done < <(files | xargs grep -nIE '[[:blank:]]+$' 2>/dev/null | grep -vE '^(docs/reference/(dialect\.md|passes/.*)|[^:]*\.(svg|patch)):' | cut -d: -f1,2)

step "folders"
while read -r number folder; do
  finding "$folder has $number files; a folder should hold one concern, in at most 30"
done < <(files | xargs -d '\n' dirname | sort | uniq -c | awk '$1 > 30')

step "length"
while read -r lines file; do
  say "warning: $file has $lines lines; a file should hold one concern, in less than 600"
done < <(files 'include/*' 'lib/*' 'tools/*' | grep -E '\.(cpp|h|td|py)$' | xargs wc -l | awk '$1 > 600 && $2 != "total" {print $1, $2}')

step "tables of the documentation"
while read -r line; do
  finding "$line"
done < <(python3 "$ROOT/docs/tables.py" 2>&1 || true)

step "pages"
while read -r line; do
  finding "$line"
done < <("$ROOT/tools/dev/pages.py" || true)

step "generated documentation"
"$ROOT/tools/dev/docs.sh" --check || findings=$((findings + 1))

if [ "${1:-}" != --fast ]; then
  step "clang-tidy"
  # All sources take longer than the tests: in CI, the 6 sources that changed last.
  sources=()
  [ -z "${CI:-}" ] || mapfile -t sources < <(
    git log -n 40 --no-merges --name-only --format= -- 'lib/*.cpp' 'tools/*.cpp' | awk '!seen[$0]++' |
      while read -r file; do [ ! -f "$file" ] || echo "$file"; done | sed -n '1,6p')
  "$ROOT/tools/dev/tidy.sh" "${sources[@]}" || findings=$((findings + 1))
fi

if [ $findings -gt 0 ]; then
  say "lint: $findings findings"
  exit 1
fi
say "lint: clean"
