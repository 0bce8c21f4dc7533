#!/usr/bin/env bash
# Makes the virtual environment of the test that compares the search with
# CP-SAT, in the build folder: OR-Tools from the Python package index, 60 MB of
# wheels with NumPy and pandas, 240 MB installed. Not a part of make test.
# Status 1, and nothing left, when it cannot be had.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

VERSION=9.15.6755
makeEnvironment ortools "OR-Tools $VERSION" "ortools==$VERSION"
