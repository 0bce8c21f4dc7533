# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sizes of the models in `zoo`, which takes them when it is imported: a benchmark sets others before."""

TOKENS = 16
VOCABULARY = 128
WIDTH = 64
HEADS = 4
