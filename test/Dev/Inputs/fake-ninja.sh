#!/bin/sh
# Builds nothing, successfully.
[ "$1" != --version ] || echo 1.11.1
