#!/usr/bin/env bash
# Makes the virtual environment of the test that compares the search with
# CP-SAT, in the build folder: OR-Tools from the Python package index, 60 MB of
# wheels with NumPy and pandas, 240 MB installed. Not a part of make test.
# Nothing to do when it is there. Status 1, and nothing left, when it cannot be had.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

VERSION=9.15.6755
folder=$BUILD/ortools
stamp=$folder/.installed
[ "$(cat "$stamp" 2>/dev/null)" != "$VERSION" ] || exit 0
[ -z "${BRAID_NO_SETUP:-}" ] || exit 1

log=$BUILD/ortools.log
say "installing OR-Tools $VERSION in $folder (log: $log)"
rm -rf "$folder"
if ! { /usr/bin/python3 -m venv "$folder" &&
  "$folder/bin/pip" install --quiet --no-compile --timeout 30 --retries 1 "ortools==$VERSION"; } >"$log" 2>&1; then
  rm -rf "$folder"
  exit 1
fi
printf '%s' "$VERSION" >"$stamp"
