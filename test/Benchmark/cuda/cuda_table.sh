#!/usr/bin/env bash
# Makes a folder with which a machine with GPUs prints the table of
# docs/performance/steps.md: a bundle, the compiled programs, and the script that runs
# them (cuda_table.py).
#
#   cuda_table.sh FOLDER [options of cuda_table_prepare.py]
#
# BRAID_NO_BUILD=1 takes what the build folder has.
source "$(dirname "${BASH_SOURCE[0]}")/../../../tools/dev/common.sh"

[ $# -ge 1 ] || fail "cuda_table.sh: expected a folder to make"
folder=$1
shift
[ -n "${BRAID_NO_BUILD:-}" ] || BRAID_SETUP_SETS=build "$ROOT/tools/dev/build.sh" braid-compile braid-opt
"$ROOT/tools/dev/bundle.sh" "$folder"
python3 "$ROOT/test/Benchmark/cuda/cuda_table_prepare.py" "$folder" --build "$BUILD" "$@"
say "on the machine with GPUs: python3 $(basename "$folder")/cuda_table.py --help"
