# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists the ops of a module."""

from jaxlib.mlir import ir


def walk(module, name_prefix="", order=ir.WalkOrder.POST_ORDER):
    """The ops of a module, by default inner ones before those around them."""
    found = []

    def visit(op):
        if op.name.startswith(name_prefix):
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, order)
    return found


def terminator_of(block):
    """The last op of a block."""
    operations = block.operations
    return operations[len(operations) - 1].operation


def ops_of(block):
    """The ops of a block, without those inside them.

    `block.operations` makes a view of each op, for which jaxlib looks through all of `sys.path` each time where it has no
    Python module of the dialect, such as tensor's and linalg's.
    """
    found, owner = [], block.owner.operation

    def visit(op):
        if op == owner:
            return ir.WalkResult.ADVANCE
        if op.block == block:
            found.append(op)
        return ir.WalkResult.SKIP

    owner.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
