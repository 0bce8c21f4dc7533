#!/usr/bin/env bash
# Sets up, configures and builds.
#
#   build.sh all | TARGET...       builds these Ninja targets
#   build.sh install PREFIX        builds everything and installs it
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

sets=${BRAID_SETUP_SETS:-build test}
[ "${1:-}" != install ] || [ $# -eq 2 ] || fail "build.sh install: expected the folder to install to"
# shellcheck disable=SC2086
"$ROOT/tools/dev/setup.sh" $sets
configuration=()
[[ " $sets " != *" test "* ]] || configuration=(--tests)
"$ROOT/tools/dev/configure.sh" "${configuration[@]}"

export NINJA_STATUS='[%f/%t, %es] '
if [ "${1:-}" = install ]; then
  ninja -C "$BUILD" -j "$JOBS" all
  cmake --install "$BUILD" --prefix "$2" >"$BUILD/install.log" || {
    tail -n 15 "$BUILD/install.log" >&2
    fail "could not install to $2 (log: $BUILD/install.log)"
  }
  say "installed $(grep -c -- '-- \(Installing\|Up-to-date\)' "$BUILD/install.log") files below $2"
else
  ninja -C "$BUILD" -j "$JOBS" "$@"
fi
