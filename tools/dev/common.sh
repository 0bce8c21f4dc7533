# What the scripts of this folder share; sourced, never run.
# Sets ROOT, BUILD and JOBS, whatever folder the caller stands in.

set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
BUILD=${BRAID_BUILD_DIR:-$ROOT/build}
export LC_ALL=C.UTF-8

say() { printf '%s\n' "$*"; }
step() { printf '== %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '       %s\n' "$@" >&2
  exit 1
}

# Compiling against MLIR takes up to 1.5 GiB a process.
defaultJobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1572864)}' /proc/meminfo)
  [ "${memory:-1}" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}
JOBS=${BRAID_JOBS:-$(defaultJobs)}
case $JOBS in
'' | *[!0-9]* | 0) fail "JOBS=$JOBS: expected a number of processes, 1 or more" ;;
esac

# makeEnvironment NAME TITLE PACKAGE...: makes the virtual environment NAME in the
# build folder, with these packages from the Python package index. Nothing to do when
# it is there with these packages. Status 1, and nothing left, when it cannot be had.
# PYTHON is the interpreter, by default Debian's.
makeEnvironment() {
  local folder=$BUILD/$1 log=$BUILD/$1.log title=$2 wanted=${*:3}
  [ "$(cat "$folder/.installed" 2>/dev/null)" != "$wanted" ] || return 0
  [ -z "${BRAID_NO_SETUP:-}" ] || return 1
  say "installing $title in $folder (log: $log)"
  rm -rf "$folder"
  # Tests compile what they import (test/lit.cfg.py).
  # Debian's Python has its NumPy beside it; a package may bring a newer one.
  if ! { "${PYTHON:-/usr/bin/python3}" -m venv "$folder" &&
    "$folder/bin/pip" install --quiet --no-compile --timeout 30 --retries 1 "${@:3}"; } >"$log" 2>&1; then
    rm -rf "$folder"
    return 1
  fi
  printf '%s' "$wanted" >"$folder/.installed"
}
