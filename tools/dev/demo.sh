#!/usr/bin/env bash
# The main job on Inductor's program: estimate the order as written and the
# reordered one, run both on 2 ranks over a rehearsed link, compare every bit.
#
#   demo.sh [host]     on this machine's cores
#   demo.sh cuda       on its GPUs
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case ${1:-host} in
host) ;;
cuda) exec "$ROOT/tools/dev/demo_cuda.sh" ;;
*) fail "TARGET=$1: expected host or cuda" ;;
esac

BRAID_SETUP_SETS=build "$ROOT/tools/dev/build.sh" braid-opt braid-compile braid-run
export PATH=$BUILD/bin:$PATH
cd "$ROOT"

program=test/Examples/reorder.mlir
latency=20us bandwidth=100MB/s
costs="machine=cpu ranks=2 link-latency=$latency link-bandwidth=$bandwidth"
passes="braid-overlap{$costs}"
estimate="$costs passes=$passes"
# One BLAS thread a rank: ranks are threads already.
export OPENBLAS_NUM_THREADS=1

show() {
  printf '\n$ %s\n' "$*"
}

step "what the reordering should gain"
show braid-opt "$program" "--comm-report=\"$estimate\"" -o /dev/null
braid-opt "$program" "--comm-report=$estimate" -o /dev/null

step "the same on 2 ranks: every all-reduce takes as long as on a link of $bandwidth"
run=(braid-run "$program" --passes="$passes" --ranks=2 --arg=random:1
  --link=latency=$latency,bandwidth=$bandwidth --compare-results --repeat=9)
show "${run[@]}"
"${run[@]}" | tee "$BUILD/demo.log"

braid-opt "$program" "--comm-report=format=json output=$BUILD/demo.json $estimate" -o /dev/null
python3 - "$BUILD" <<'PYTHON'
import json, re, sys
build = sys.argv[1]
with open(f"{build}/demo.json") as file:
    report = json.load(file)
with open(f"{build}/demo.log") as file:
    log = file.read()
estimated = [report[key][0]["makespan_ns"] / 1e6 for key in ("before", "functions")]
measured = [float(re.search(rf"^{name}: ([0-9.]+) ms", log, re.M)[1]) for name in ("as written", "reordered")]
print("\n            before      after    gain")
for name, (before, after) in (("estimate", estimated), ("measured", measured)):
    print(f"{name:9}{before:7.1f} ms {after:7.1f} ms {1 - after / before:7.0%}")
PYTHON
cores=$(nproc)
[ "$cores" -ge 2 ] || say "(this machine has one core, which the two ranks share: the estimate has one for each)"
