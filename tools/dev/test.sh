#!/usr/bin/env bash
# Sets up, builds and runs every test. The last line reads "N passed, M failed",
# with ", K skipped" behind it where tests do not apply to this machine. If no
# test ran, the last line is an error instead of a count.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

results=$BUILD/test-results.json
rm -f "$results"
"$ROOT/tools/dev/setup.sh" build test || fail "set-up failed: no test was run"
"$ROOT/tools/dev/configure.sh" --tests || fail "CMake failed: no test was run"
grep -qsx 'BRAID_INCLUDE_TESTS:[A-Z]*=ON' "$BUILD/CMakeCache.txt" ||
  fail "CMAKE_ARGS switches the tests off (BRAID_INCLUDE_TESTS): no test was run"

# What comes from the Python package index is fetched while the compiler works.
"$ROOT/tools/dev/wheel.sh" --torch &
torch=$!
"$ROOT/tools/dev/jax.sh" &
jax=$!
trap wait EXIT
"$ROOT/tools/dev/build.sh" all || fail "the build failed: no test was run"

wait "$torch" || say "PyTorch could not be installed"
wait "$jax" || say "no JAX: the tests of braid.jax are skipped"
trap - EXIT

# The Python package is tested as a user has it: installed from its wheel.
# Status 3: there is no Python package index.
status=0
"$ROOT/tools/dev/wheel.sh" --test || status=$?
[ "$status" -eq 0 ] || {
  [ "$status" -eq 3 ] || fail "the Python package could not be built: no test was run"
  rm -rf "$BUILD/python/environment"
  say "no Python package index: the tests of the installed package are skipped"
}

# HTML reports are tested in a browser where there is one.
"$ROOT/tools/dev/setup.sh" browser || say "no chromium: the tests of pages in a browser are skipped"

lit=$(sed -n 's/^LLVM_EXTERNAL_LIT:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
status=0
# Tests of faults wait for timeouts; one more test than there are cores uses the core meanwhile.
"$lit" -sv -j "${BRAID_JOBS:-$((JOBS + 1))}" --output "$results" "$BUILD/test" </dev/null || status=$?
python3 "$ROOT/tools/dev/summary.py" --slowest 15 "$results" || true
python3 "$ROOT/tools/dev/summary.py" "$results" || status=1
exit $status
