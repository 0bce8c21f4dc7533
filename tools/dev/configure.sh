#!/usr/bin/env bash
# Makes the build folder ready for Ninja; nothing to do when it is already.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

LLVM=22
arguments=(
  -G Ninja
  -DCMAKE_BUILD_TYPE=Release
  "-DCMAKE_C_COMPILER=clang-$LLVM"
  "-DCMAKE_CXX_COMPILER=clang++-$LLVM"
  -DLLVM_USE_LINKER=lld
)
# A test machine may have no unit-test library: a demo does without.
[ -e /usr/include/gtest/gtest.h ] || arguments+=(-DBRAID_INCLUDE_TESTS=OFF)
if command -v ccache >/dev/null && [ -z "${CCACHE_DISABLE:-}" ]; then
  arguments+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
read -r -a more <<<"${BRAID_CMAKE_ARGS:-}"
arguments+=("${more[@]}")

# The folder is as we left it, unless it was moved or its cache is gone.
stamp=$BUILD/.configured
wanted="$ROOT ${arguments[*]}"
if [ -f "$BUILD/build.ninja" ] && [ -f "$BUILD/CMakeCache.txt" ] &&
  [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
  exit 0
fi

mkdir -p "$BUILD"
log=$BUILD/configure.log
fresh=()
if [ -f "$BUILD/CMakeCache.txt" ] || [ -d "$BUILD/CMakeFiles" ]; then
  fresh=(--fresh) # another generator, compiler or source folder: begin anew
fi
step "configuring in $BUILD"
rm -f "$stamp"
if ! cmake "${fresh[@]}" -S "$ROOT" -B "$BUILD" "${arguments[@]}" >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  fail "CMake could not configure $BUILD (log: $log)"
fi
grep -E '^-- (MLIR|OpenBLAS|BLAS) ' "$log" || true
printf '%s' "$wanted" >"$stamp"
