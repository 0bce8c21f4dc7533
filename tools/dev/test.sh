#!/usr/bin/env bash
# Sets up, builds and runs every test. The last line reads "N passed, M failed",
# with ", K skipped" behind it where tests do not apply to this machine.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

results=$BUILD/test-results.json
rm -f "$results"
status=0
"$ROOT/tools/dev/build.sh" all || status=$?
if [ $status -ne 0 ]; then
  say "set-up or build failed: no test was run"
  say "0 passed, 1 failed"
  exit 1
fi

# HTML reports are tested in a browser where there is one.
"$ROOT/tools/dev/setup.sh" browser || say "no chromium: the tests of pages in a browser are skipped"

lit=$(sed -n 's/^LLVM_EXTERNAL_LIT:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
"$lit" -sv -j "$JOBS" --output "$results" "$BUILD/test" </dev/null || status=$?
python3 "$ROOT/tools/dev/summary.py" "$results" || status=1
exit $status
