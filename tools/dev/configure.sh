#!/usr/bin/env bash
# Makes the build folder ready for Ninja; nothing to do when it is already.
#
#   configure.sh [--tests]     with --tests, and ever after it, the tests too
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

LLVM=22
arguments=(
  -G Ninja
  -DCMAKE_BUILD_TYPE=Release
  "-DCMAKE_C_COMPILER=clang-$LLVM"
  "-DCMAKE_CXX_COMPILER=clang++-$LLVM"
  -DLLVM_USE_LINKER=lld
)
# The demo does without the packages of the tests. Tests that are on stay on, so
# that commands in any order configure once.
tests=OFF
if [ "${1:-}" = --tests ] || grep -qsx 'BRAID_INCLUDE_TESTS:BOOL=ON' "$BUILD/CMakeCache.txt"; then
  tests=ON
fi
arguments+=("-DBRAID_INCLUDE_TESTS=$tests")
# Headers that are compiled once, and sources that are compiled together, take a third of
# the time of the first build of a folder. ccache knows such headers by their folder alone,
# and those who edit compile one source at a time: with ccache, a build does without both.
# A folder that has begun with ccache stays with it.
ccache=${BRAID_CCACHE:-}
if grep -qsx 'CMAKE_CXX_COMPILER_LAUNCHER:[A-Z]*=ccache' "$BUILD/CMakeCache.txt"; then
  ccache=1
fi
if [ -n "$ccache" ] && [ -z "${CCACHE_DISABLE:-}" ]; then
  command -v ccache >/dev/null || fail "CCACHE=1, but ccache is not installed"
  arguments+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DBRAID_PRECOMPILED_HEADERS=OFF -DBRAID_UNITY_BUILD=OFF)
else
  arguments+=(-DCMAKE_C_COMPILER_LAUNCHER= -DCMAKE_CXX_COMPILER_LAUNCHER= -DBRAID_PRECOMPILED_HEADERS=ON -DBRAID_UNITY_BUILD=ON)
fi
read -r -a more <<<"${BRAID_CMAKE_ARGS:-}"
arguments+=("${more[@]}")

# The folder is as we left it, unless it was moved or its cache is gone.
stamp=$BUILD/.configured
wanted="$ROOT ${arguments[*]}"
if [ -f "$BUILD/build.ninja" ] && [ -f "$BUILD/CMakeFiles/rules.ninja" ] && [ -f "$BUILD/CMakeCache.txt" ] &&
  [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
  exit 0
fi

mkdir -p "$BUILD"
log=$BUILD/configure.log
# Another generator, compiler or source folder, or half a folder: begin anew. What
# is compiled already stays where it is of use.
fresh=()
cached() { grep -qx "$1:[A-Z]*=$2" "$BUILD/CMakeCache.txt" 2>/dev/null; }
if ! cached CMAKE_GENERATOR Ninja || ! cached CMAKE_HOME_DIRECTORY "$ROOT" ||
  ! cached CMAKE_CXX_COMPILER ".*clang++-$LLVM"; then
  [ ! -e "$BUILD/CMakeCache.txt" ] && [ ! -e "$BUILD/CMakeFiles" ] || fresh=(--fresh)
fi
step "configuring in $BUILD"
rm -f "$stamp"
configure() { cmake "$@" -S "$ROOT" -B "$BUILD" "${arguments[@]}" >"$log" 2>&1; }
if ! configure "${fresh[@]}" && ! { [ -z "${fresh[*]}" ] && configure --fresh; }; then
  tail -n 30 "$log" >&2
  fail "CMake could not configure $BUILD (log: $log)"
fi
grep -E '^-- (MLIR|OpenBLAS|BLAS) ' "$log" || true
printf '%s' "$wanted" >"$stamp"
