#!/usr/bin/env bash
# Runs clang-tidy over the sources of lib/ and tools/ (and the headers they
# include), or over the files named.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

LLVM=22
"$ROOT/tools/dev/setup.sh" build test lint
# A folder of its own, without precompiled headers: clang-tidy walks all that they hold,
# for each source, which takes twice as long as to read what the source includes. And a
# missing include shows.
headers=("$BUILD"/jax/lib/python3*/site-packages/jaxlib/include)
export BRAID_BUILD_DIR=$BUILD/tidy CCACHE_DISABLE=1
export BRAID_CMAKE_ARGS="${BRAID_CMAKE_ARGS:-} -DBRAID_PRECOMPILED_HEADERS=OFF -DBRAID_UNITY_BUILD=OFF"
# Without JAX's headers (tools/dev/jax.sh) what needs them is left out.
needs_headers=lib/Runtime/JAX/
if [ -d "${headers[0]}" ]; then
  BRAID_CMAKE_ARGS+=" -DBRAID_XLA_INCLUDE_DIR=${headers[0]}"
  needs_headers=
fi
BUILD=$BRAID_BUILD_DIR
"$ROOT/tools/dev/configure.sh"
cd "$ROOT"
# Headers that TableGen writes must be there.
ninja -C "$BUILD" -j "$JOBS" --quiet braid-headers

if [ $# -eq 0 ]; then
  mapfile -t sources < <(git ls-files -- 'lib/*.cpp' 'tools/*.cpp')
  set -- "${sources[@]}"
fi
if [ -n "$needs_headers" ]; then
  mapfile -t sources < <(printf '%s\n' "$@" | grep -v "^$needs_headers")
  set -- "${sources[@]}"
fi
log=$BUILD/tidy.log
status=0
printf '%s\0' "$@" |
  xargs -0 -n 1 -P "$JOBS" "clang-tidy-$LLVM" -p "$BUILD" --quiet >"$log" 2>/dev/null || status=1
grep -E '(warning|error):' "$log" | sed "s|^$ROOT/||" | sort -u || true
say "clang-tidy: $# files"
exit $status
