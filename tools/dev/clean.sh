#!/usr/bin/env bash
# Removes the build folder, after a look that it is one.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ -e "$BUILD" ] || exit 0
if [ ! -e "$BUILD/CMakeCache.txt" ] && [ ! -e "$BUILD/setup.log" ] && [ ! -e "$BUILD/.configured" ] &&
  [ ! -d "$BUILD/CMakeFiles" ]; then
  fail "$BUILD does not look like a build folder of Braid; not removed"
fi
rm -rf "$BUILD"
say "removed $BUILD"
