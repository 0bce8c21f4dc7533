#!/usr/bin/env bash
# Builds everything and runs the benchmarks of docs/develop/benchmarks.md.
#
#   bench.sh [options of `bench.py run`]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$ROOT/tools/dev/build.sh" all
exec python3 "$ROOT/test/Benchmark/bench.py" run --build="$BUILD" "$@"
