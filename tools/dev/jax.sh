#!/usr/bin/env bash
# Makes the virtual environment of the tests of braid.jax, in the build folder:
# the version of JAX that they are written for, from the Python package index.
# Nothing to do when it is there. Status 1, and nothing left, when it cannot be had.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

VERSION=0.10.2
# What the documentation draws with, and packages whose functions the tests call.
PACKAGES="matplotlib flax equinox flatbuffers"
WANTED="$VERSION $PACKAGES"
folder=$BUILD/jax
stamp=$folder/.installed
[ "$(cat "$stamp" 2>/dev/null)" != "$WANTED" ] || exit 0
[ -z "${BRAID_NO_SETUP:-}" ] || exit 1

log=$BUILD/jax.log
say "installing JAX $VERSION in $folder (log: $log)"
rm -rf "$folder"
# Tests compile what they import (test/lit.cfg.py).
# Debian's Python has its NumPy beside it; JAX brings a newer one.
if ! { /usr/bin/python3 -m venv "$folder" &&
  "$folder/bin/pip" install --quiet --no-compile --timeout 30 --retries 1 "jax==$VERSION" $PACKAGES; } >"$log" 2>&1; then
  rm -rf "$folder"
  exit 1
fi
printf '%s' "$WANTED" >"$stamp"
