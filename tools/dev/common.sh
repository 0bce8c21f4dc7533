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
