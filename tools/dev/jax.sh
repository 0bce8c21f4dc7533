#!/usr/bin/env bash
# Installs FFTW, and makes the virtual environment of the tests of braid.jax, in the build folder:
# the version of JAX that they are written for, from the Python package index.
# Status 1, and nothing left, when it cannot be had. A folder in it has the oldest
# version that braid.jax takes, for PYTHONPATH, as far as it can be had. The newest one has
# an environment of its own, where this machine has a Python that is new enough for it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

VERSION=0.10.2
OLDEST=0.8.3
NEWEST=0.12.0.1
"$ROOT/tools/dev/setup.sh" jax || say "no FFTW: the tests of Fourier transforms are skipped"
# Behind JAX: what the documentation draws with, and packages whose functions the tests call.
makeEnvironment jax "JAX $VERSION" "jax==$VERSION" matplotlib flax equinox flatbuffers || exit 1

# XLA calls programs through a library that needs its headers.
if [ -f "$BUILD/CMakeCache.txt" ]; then
  headers=$("$BUILD/jax/bin/python" -c 'import jax.ffi; print(jax.ffi.include_dir())')
  cmake -DBRAID_XLA_INCLUDE_DIR="$headers" "$BUILD" >"$BUILD/jax.log" 2>&1 &&
    cmake --build "$BUILD" --target braid_jax >>"$BUILD/jax.log" 2>&1 || {
    tail -n 15 "$BUILD/jax.log" >&2
    fail "could not build the library that XLA calls (log: $BUILD/jax.log)"
  }
fi

oldest=$BUILD/jax/oldest
if [ "$(cat "$oldest/.installed" 2>/dev/null)" != "$OLDEST" ] && [ -z "${BRAID_NO_SETUP:-}" ]; then
  rm -rf "$oldest"
  if "$BUILD/jax/bin/pip" install --quiet --no-compile --no-deps --timeout 30 --retries 1 \
    --target "$oldest" "jax==$OLDEST" "jaxlib==$OLDEST" >>"$BUILD/jax.log" 2>&1; then
    printf '%s' "$OLDEST" >"$oldest/.installed"
  else
    rm -rf "$oldest"
    say "no JAX $OLDEST: its test is skipped"
  fi
fi

# Debian 12 has Python 3.11; pyenv keeps others.
for python in python3.14 python3.13 python3.12 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9].*/bin/python3; do
  "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 || continue
  PYTHON=$python makeEnvironment jax-newest "JAX $NEWEST" "jax==$NEWEST" flatbuffers && break
done
[ -f "$BUILD/jax-newest/.installed" ] || say "no JAX $NEWEST, or no Python 3.12 for it: its test is skipped"
