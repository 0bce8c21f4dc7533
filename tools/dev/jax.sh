#!/usr/bin/env bash
# Makes the virtual environment of the tests of braid.jax, in the build folder:
# the version of JAX that they are written for, from the Python package index.
# Status 1, and nothing left, when it cannot be had.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

VERSION=0.10.2
# Behind JAX: what the documentation draws with, and packages whose functions the tests call.
makeEnvironment jax "JAX $VERSION" "jax==$VERSION" matplotlib flax equinox flatbuffers
