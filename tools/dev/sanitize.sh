#!/usr/bin/env bash
# Builds with sanitizers and assertions in folders below the build folder, and runs
#  - with those for addresses and undefined behaviour: every lit test that needs no
#    other tool of Braid than braid-opt, the unit tests of scheduling, mutated
#    programs through pipelines of every pass, odd values of
#    options, the unit tests of the runtime, which look for leaks, too, and libFuzzer
#    on the readers of test/Fuzz;
#  - with the one for races: the unit tests of the runtime.
# The tests of faults (a rank that dies, is late, disagrees or fails) run in several
# rounds with both.
# The last line reads "N passed, M failed", with the parts that failed behind it.
#
# SANITIZERS="address thread"   which of them (default: both)
# SANITIZE_LINES=OFF   reports name functions alone, and the build is quicker
# PROGRAMS=n   how many mutated programs (default: 250)
# SEED=n       of their random choices (default: 1)
# FUZZ_SECONDS=n   the time of each fuzzer (default: 60)
# FAULT_ROUNDS=n   the rounds of the tests of faults (default: 3)
# LIT_SHARDS=n LIT_SHARD=k   the k-th of n parts of the lit tests (default: 1, all)
# MPI_FAULTS=1     tests the faults of the engine mpi, too, with the sanitizers for
#                  addresses and undefined behaviour; programs are compiled by the
#                  braid-compile of `make test`. MPI itself has no sanitizer.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

LLVM=22
address=$BUILD/sanitize-address
thread=$BUILD/sanitize-thread
symbolizer=/usr/lib/llvm-$LLVM/bin/llvm-symbolizer

# LLVM is not instrumented: its containers carry no marks, and it shares templates
# with ours. Our code would poison a new slab of an arena of MLIR's, and the library
# would write to the slab without lifting the poison, so nobody poisons by hand.
# A crash ends with a signal, which `not` takes for no failure that a test expects.
# One allocation may fail, as tests ask for more than there is.
export ASAN_OPTIONS="abort_on_error=1:handle_abort=1:allow_user_segv_handler=0:hard_rss_limit_mb=6000"
ASAN_OPTIONS+=":detect_container_overflow=0:allow_user_poisoning=0:detect_odr_violation=0:external_symbolizer_path=$symbolizer"
export UBSAN_OPTIONS="abort_on_error=1:print_stacktrace=1:external_symbolizer_path=$symbolizer"
export TSAN_OPTIONS="allocator_may_return_null=1:external_symbolizer_path=$symbolizer"
export OPENBLAS_NUM_THREADS=1 BRAID_TUNING_CACHE=

passed=0 failed=0 failures=()
for name in ${SANITIZERS:=address thread}; do
  [[ $name =~ ^(address|thread)$ ]] || fail "SANITIZERS: found '$name', expected address, thread, or both"
done
# wanted NAME: whether this run is to use a sanitizer.
wanted() { [[ " $SANITIZERS " = *" $1 "* ]]; }
# add NAME PASSED FAILED: counts what a part says of itself.
add() {
  passed=$((passed + $2)) failed=$((failed + $3))
  [ "$3" -eq 0 ] || failures+=("$1")
  say "$1: $2 passed, $3 failed, after $SECONDS s"
}
finish() {
  local text="$passed passed, $failed failed"
  [ $failed -eq 0 ] || text+=" ($(printf '%s, ' "${failures[@]}" | sed 's/, $//'))"
  say "$text"
  [ $failed -eq 0 ] && [ $passed -gt 0 ]
  exit
}
# libFuzzer and the sanitizer for races exclude each other.
fuzzersOf() { [ "$1" != address ] || echo -DBRAID_FUZZERS=ON; }
# build NAME FOLDER TARGET...
build() {
  step "building $3 with the sanitizer for $1"
  BRAID_BUILD_DIR=$2 BRAID_SETUP_SETS="build test sanitize" CCACHE_DISABLE=1 \
    BRAID_CMAKE_ARGS="${BRAID_CMAKE_ARGS:-} -DBRAID_SANITIZE=$1 \
    -DBRAID_SANITIZE_LINES=${SANITIZE_LINES:-ON} $(fuzzersOf "$1")" "$ROOT/tools/dev/build.sh" "${@:3}" && return
  add "build ($1)" 0 1
  return 1
}
# inBackground NAME PROGRAM ARGUMENT...: runs a program when fewer run than there are jobs;
# its output goes to NAME.log, its status to NAME.status.
inBackground() {
  while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n || true; done
  {
    local status=0
    "${@:2}" >"$1.log" 2>&1 </dev/null || status=$?
    echo $status >"$1.status"
  } &
}
# Runs GoogleTest programs; a report of a sanitizer is a failure as well. SHARDS=n divides
# the tests of each program among n processes.
unitTests() {
  local program shard shards=${SHARDS:-1} log status count good bad
  step "${*##*/}"
  for program; do
    for ((shard = 0; shard < shards; ++shard)); do
      inBackground "$program.$shard" env GTEST_TOTAL_SHARDS="$shards" GTEST_SHARD_INDEX="$shard" \
        "$program" --gtest_brief=1
    done
  done
  wait
  for program; do
    good=0 bad=0
    for ((shard = 0; shard < shards; ++shard)); do
      log=$program.$shard.log status=$(cat "$program.$shard.status")
      grep -v '^\[=*\]\|^\[  PASSED  \]\|^Running main\|^Note: This is test shard' "$log" || true
      count=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests*\.$/\1/p' "$log")
      good=$((good + ${count:-0}))
      [ "$status" -eq 0 ] || bad=$((bad + $(failedOf "$log")))
    done
    # A program without a test has failed.
    [ $((good + bad)) -gt 0 ] || bad=1
    add "${program##*/}" "$good" "$bad"
  done
}
# The tests of faults of the engine inproc, several times: most of their time they wait, so
# they run beside other tests. faults gives what startFaults found with the sanitizer $2.
startFaults() {
  inBackground "$1/faults" "$1/test/Unit/Runtime/BraidRuntimeConformanceTests" --gtest_brief=1 \
    --gtest_repeat="${FAULT_ROUNDS:-3}" --gtest_filter='Disagreement.*:Missing.*:Recovery.*'
}
faults() {
  local log=$1/faults.log rounds=${FAULT_ROUNDS:-3}
  step "$rounds rounds of faults"
  wait
  if [ "$(cat "$1/faults.status")" -eq 0 ] && [ "$(grep -c '^\[  PASSED  \]' "$log")" -eq "$rounds" ]; then
    add "faults ($2)" "$rounds" 0
  else
    tail -n 20 "$log"
    add "faults ($2)" 0 1
  fi
}
# The tests of faults of the engine mpi. MPI keeps memory until the end, which whole
# stacks and libraries that stay loaded tell from leaks of Braid's own.
mpiFaults() {
  local log=$1/mpi-faults.log good library
  build address "$1" braid-run braid_rt_mpi || return
  step "faults of the engine mpi"
  [ -x "$BUILD/bin/braid-compile" ] || {
    say "no $BUILD/bin/braid-compile: run make test first"
    add "faults (mpi)" 0 1
    return
  }
  printf 'int dlclose(void *handle) { return 0; }\n' |
    "clang-$LLVM" -shared -fPIC -x c - -o "$1/keep-libraries.so"
  for library in libmpi libopen-pal libopen-rte libpmix libevent libucs libucp libfabric libhwloc mca_; do
    echo "leak:$library"
  done >"$1/mpi.supp"
  ASAN_OPTIONS+=":fast_unwind_on_malloc=0" LSAN_OPTIONS="suppressions=$1/mpi.supp:print_suppressions=0" \
    LD_PRELOAD=$1/keep-libraries.so PATH=$1/bin:$BUILD/bin:$PATH PYTHONPATH=$ROOT/test/Inputs \
    BRAID_MPI_FAULT_ROUNDS=${FAULT_ROUNDS:-3} \
    python3 "$ROOT/test/Integration/MPI/faults.py" "$1/mpi-faults" >"$log" 2>&1 || tail -n 60 "$log"
  good=$(grep -cE '^[a-z_]+: ([0-9]+) of \1 rounds passed' "$log" || true)
  # Seven faults.
  add "faults (mpi)" "$good" $((7 - good))
}
# Each fuzzer begins with its corpus of test/Fuzz, and keeps what is new in the build
# folder. An input that fails stays there, too: it belongs into the corpus once mended.
fuzzers() {
  local folder=$1/test/Fuzz name corpus new words status seconds=${FUZZ_SECONDS:-60}
  while read -r name corpus; do
    step "$name for $seconds s"
    new=$folder/$name.corpus
    mkdir -p "$new"
    words=()
    [ ! -f "$corpus.dict" ] || words=("-dict=$corpus.dict")
    inBackground "$folder/$name" "$folder/$name" "${words[@]}" -max_total_time="$seconds" -seed="${SEED:-1}" -timeout=10 \
      -rss_limit_mb=1024 -artifact_prefix="$folder/$name-" "$new" "$corpus"
  done <"$folder/fuzzers.txt"
  wait
  while read -r name _; do
    status=$(cat "$folder/$name.status")
    [ "$status" -eq 0 ] || tail -n 40 "$folder/$name.log"
    add "$name" $((status == 0)) $((status != 0))
  done <"$folder/fuzzers.txt"
}
# At least one: a process that dies names no test.
failedOf() {
  local count
  count=$(sed -n 's/^ *\([0-9]*\) FAILED TESTS*$/\1/p' "$1" | tail -n 1)
  echo "${count:-1}"
}

SECONDS=0
# Costs and analyses have no unit tests here: lit tests and mutated programs come to all
# of their code, with extreme sizes, machines and options.
if wanted address && build address "$address" braid-opt BraidSupportTests BraidScheduleTests BraidRuntimeTests \
  BraidRuntimeConformanceTests braid-fuzzers; then
  # What needs another tool, or a program in Python, is no test of braid-opt alone. One test
  # takes all the steps that a verification may take, a minute without optimization.
  cd "$ROOT"
  mapfile -t tests < <(git ls-files -- 'test/*.mlir' 'test/*.test' | xargs grep -l 'RUN:.*braid-opt')
  all=${#tests[@]}
  mapfile -t tests < <(printf '%s\n' "${tests[@]}" | grep -v '/Verify/loop-bounds.mlir$' |
    xargs grep -LE '(RUN|DEFINE):.*(braid-(run|compile|lsp-server)|mlir-opt|libBraid|%(python|cxx|cc|cmake|braid_))')
  shards=${LIT_SHARDS:-1} shard=${LIT_SHARD:-1}
  step "part $shard of $shards of ${#tests[@]} lit tests with braid-opt (of $all; the others need other tools)"
  results=$address/test-results.json
  rm -f "$results"
  lit=$(sed -n 's/^LLVM_EXTERNAL_LIT:[A-Z]*=//p' "$address/CMakeCache.txt")
  [ ${#tests[@]} -eq 0 ] ||
    "$lit" -sv -j "$JOBS" --num-shards "$shards" --run-shard "$shard" --output "$results" "${tests[@]/#/$address/}" \
      </dev/null || true
  read -r litPassed _ litFailed _ < <(python3 "$ROOT/tools/dev/summary.py" "$results" || true)
  # Without a result there is nothing to read.
  add "lit tests" "${litPassed:-0}" "${litFailed:-1}"

  # A test compares with all orders of many problems, a third of the time; what it runs, others run.
  GTEST_FILTER="-ResourcePlan.OrderAndPlanTogetherAreTheBestOfAll" SHARDS=$JOBS \
    unitTests "$address/test/Unit/Schedule/BraidScheduleTests" "$address/test/Unit/Support/BraidSupportTests"

  programs=${PROGRAMS:-250}
  step "$programs mutated programs"
  log=$address/mutations.log status=0
  "$ROOT/test/Dev/mutate_programs.py" --tool "$address/bin/braid-opt" --programs "$programs" \
    --seed "${SEED:-1}" --jobs "$JOBS" --output "$address/mutations" </dev/null 2>&1 | tee "$log" || status=1
  findings=$(sed -n 's/^.*: \([0-9]*\) findings$/\1/p' "$log")
  if [ $status -eq 0 ]; then
    add "mutated programs" "$programs" 0
  else
    add "mutated programs" 0 "${findings:-1}"
  fi

  runs=$((programs / 10))
  step "$runs runs with odd options"
  if "$ROOT/test/Dev/mutate_options.py" --tool "$address/bin/braid-opt" --runs "$runs" --seed "${SEED:-1}" \
    --jobs "$JOBS" --time-limit 60 </dev/null; then
    add "odd options" "$runs" 0
  else
    add "odd options" 0 1
  fi

  # Tests ask for more memory than there is.
  export ASAN_OPTIONS+=":allocator_may_return_null=1"
  startFaults "$address"
  unitTests "$address/test/Unit/Runtime/BraidRuntimeConformanceTests" "$address/test/Unit/Runtime/BraidRuntimeTests"
  faults "$address" address
  fuzzers "$address"
  [ -z "${MPI_FAULTS:-}" ] || mpiFaults "$address"
fi
if wanted thread && build thread "$thread" BraidRuntimeTests BraidRuntimeConformanceTests BraidRuntimeCUDADeviceTests \
  BraidRuntimeCUDAEngineTests; then
  startFaults "$thread"
  unitTests "$thread/test/Unit/Runtime/BraidRuntimeConformanceTests" "$thread/test/Unit/Runtime/BraidRuntimeTests" \
    "$thread/test/Unit/Runtime/CUDAEngine/BraidRuntimeCUDAEngineTests" \
    "$thread/test/Unit/Runtime/CUDA/BraidRuntimeCUDADeviceTests"
  faults "$thread" thread
fi
finish
