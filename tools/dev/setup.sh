#!/usr/bin/env bash
# Installs what is missing, from Debian's packages and nothing else.
#
#   setup.sh build [test] [browser] [jax] [lint] [sanitize]     the sets of packages that are needed
#
# Takes some milliseconds when nothing is missing. Uses sudo when not root.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

LLVM=22
declare -A packages=(
  [build]="clang-$LLVM lld-$LLVM llvm-$LLVM-dev libmlir-$LLVM-dev mlir-$LLVM-tools
           cmake ninja-build libopenblas-dev libcli11-dev nlohmann-json3-dev"
  [test]="llvm-$LLVM-tools python3-numpy python3-psutil python3-venv libgtest-dev libgmock-dev
          libopenmpi-dev openmpi-bin pkgconf"
  [browser]="chromium"
  [jax]="python3-venv libfftw3-double3 libfftw3-single3"
  [lint]="clang-format-$LLVM clang-tidy-$LLVM"
  [sanitize]="libclang-rt-$LLVM-dev"
)

wanted=()
for set in "$@"; do
  [ -n "${packages[$set]:-}" ] || fail "setup.sh: unknown set of packages '$set' (build, test, browser, jax, lint, sanitize)"
  read -r -d '' -a names <<<"${packages[$set]}" || true
  wanted+=("${names[@]}")
done

# Another system than Debian: all that can be done is to name what is needed.
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  for program in clang-$LLVM clang++-$LLVM ld.lld-$LLVM mlir-tblgen-$LLVM cmake ninja python3; do
    command -v "$program" >/dev/null ||
      fail "$program is not installed, and this system has no apt to install it with" \
        "Braid's set-up knows Debian 12. Elsewhere install the counterparts of:" "${wanted[*]}"
  done
  exit 0
fi

missing=()
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
for name in "${wanted[@]}"; do
  grep -qxF "installed $name" <<<"$installed" || missing+=("$name")
done
[ ${#missing[@]} -gt 0 ] || exit 0

command="apt-get update && apt-get install --no-install-recommends ${missing[*]}"
say "missing Debian packages: ${missing[*]}"
if [ -n "${BRAID_NO_SETUP:-}" ]; then
  fail "NO_SETUP is set; as root, run:" "$command"
fi

root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null ||
    fail "installing them needs root, and there is no sudo; as root, run:" "$command"
  if ! sudo -n true 2>/dev/null; then
    [ -t 0 ] || fail "installing them needs root, and sudo asks for a password but there is no terminal;" \
      "run 'sudo -v' first, or as root:" "$command"
    say "installing them needs root: sudo may ask for your password"
    sudo -v || fail "sudo refused; as root, run:" "$command"
  fi
  root=(sudo)
fi

mkdir -p "$BUILD"
log=$BUILD/setup.log
: >"$log"
# Waits for another apt (a fresh machine may be updating itself); asks nothing.
apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3)

# runApt arguments...: apt's output goes to the log, a line a few seconds here.
runApt() {
  say "+ apt-get $* (log: $log)"
  "${apt[@]}" "$@" </dev/null 2>&1 | tee -a "$log" |
    awk '
      BEGIN { "date +%s" | getline last; close("date +%s") }
      /^Need to get / { print "  " $0; fflush() }
      /^Get:/ { got++; what = "fetched" }
      /^Unpacking / { unpacked++; what = "unpacked" }
      /^Setting up / { set_up++; what = "set up" }
      what != "" && ++lines % 25 == 0 {
        printf "  fetched %d, unpacked %d, set up %d\n", got, unpacked, set_up; fflush()
      }'
}
knowsAll() {
  local name
  for name in "${missing[@]}"; do
    apt-cache show --no-all-versions "$name" >/dev/null 2>&1 || return 1
  done
}
failApt() {
  say "---- the end of $log" >&2
  tail -n 25 "$log" >&2
  fail "$1" "${@:2}"
}

updated=
if ! knowsAll; then
  runApt update || failApt "apt-get update failed"
  updated=1
  if ! knowsAll; then
    unknown=()
    for name in "${missing[@]}"; do
      apt-cache show --no-all-versions "$name" >/dev/null 2>&1 || unknown+=("$name")
    done
    release=$(. /etc/os-release 2>/dev/null && echo "${PRETTY_NAME:-unknown}") || release=unknown
    fail "apt does not know: ${unknown[*]}" "this system is $release; Braid's set-up knows Debian 12 (bookworm)" \
      "LLVM $LLVM comes from Debian's security archive; /etc/apt/sources.list needs the line" \
      "deb http://deb.debian.org/debian-security bookworm-security main"
  fi
fi
# Lists that are old name versions that the archive no longer has: update, try again.
if ! runApt install --no-install-recommends "${missing[@]}"; then
  [ -z "$updated" ] || failApt "apt-get install failed"
  runApt update || failApt "apt-get update failed"
  runApt install --no-install-recommends "${missing[@]}" || failApt "apt-get install failed"
fi
say "installed ${#missing[@]} packages and what they need"
