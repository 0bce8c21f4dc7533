# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program of one rank of a `jax.jit` with shardings, made by XLA.

XLA's SPMD partitioner is a pass of its compiler, which can end the process: this module is
the program of another process. It compiles a module for as many devices of the host as there
are ranks, and gives the module as it stands behind the pass. The process ends before the
passes that come after, which take most of the time.
"""

import glob
import json
import os
import sys
import tempfile
import threading
import traceback

import numpy as np

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo

from . import partitioner_faults, private_names
from .errors import UnsupportedError
from .hlo_groups import read_channels
from .rewrites.tensors import replace
from .walk import walk

_PASS = "spmd-partitioning"
# The executable is not run: as little work as possible.
_OPTIONS = {"xla_dump_hlo_pass_re": _PASS, "xla_dump_hlo_as_proto": True,
            "xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
_PAUSE = 0.01  # seconds between two looks at the dumps
# What JAX says about arguments beyond their values: Braid gives each result memory of its own.
_ALIASES = ("tf.aliasing_output", "jax.buffer_donor", "mhlo.input_output_alias")


def parse(text):
    """The module of a text of StableHLO and Shardy, in a context of its own."""
    context = ir.Context()
    registry = ir.DialectRegistry()
    private_names.register_dialects(registry)
    context.append_dialect_registry(registry)
    with context:
        for dialect in (stablehlo, sdy, chlo):
            dialect.register_dialect(context)
        mhlo.register_mhlo_dialect(context)
        return ir.Module.parse(text)


def run():
    """Reads a module, the number of ranks, and which ops are to stay whole, from the standard
    input, as JSON, and writes the partitioned module with the shardings of its arguments and
    results."""
    status = 0
    try:
        given = json.load(sys.stdin)
        json.dump(_answer(parse(given["module"]), given["ranks"], given["whole"]), sys.stdout)
    except Exception:  # pylint: disable=broad-except
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    # XLA may still compile, which nothing else ends.
    os._exit(status)


def _answer(module, ranks, whole):
    with module.context:
        partitioner_faults.keep_all_whole(module, whole)
        legal = _prepare(module, ranks)
        faults, *found = _partition(module, ranks, *legal)
        if faults and partitioner_faults.repair(module, faults):
            faults, *found = _partition(module, ranks, *legal)
    if faults:
        return {"refused": faults[0].error.to_json()}
    try:
        return _read(*found, ranks)
    except UnsupportedError as error:
        return {"refused": error.to_json()}


def _prepare(module, ranks):
    """Makes the module one that XLA compiles, and tells of each argument and of each result
    whether XLA may choose its sharding: where the program gives none."""
    stablehlo.register_stablehlo_passes()
    passmanager.PassManager.parse(
        "builtin.module(func.func(chlo-legalize-to-stablehlo))").run(module.operation)
    _number_channels(module)
    partitioner_faults.number_ops(module)
    main, signature = _main(module)
    free = []
    for name, types in (("arg_attrs", signature.inputs), ("res_attrs", signature.results)):
        rows = ([_dictionary(row) for row in ir.ArrayAttr(main.attributes[name])]
                if name in main.attributes else [{} for _ in types])
        free.append([_is_open(row) for row in rows])
        main.attributes[name] = ir.ArrayAttr.get([
            ir.DictAttr.get({key: row[key] for key in row if key not in _ALIASES})
            for row in rows])
    attributes = module.operation.attributes
    if _ALIASES[-1] in attributes:
        del attributes[_ALIASES[-1]]
    i32 = ir.IntegerType.get_signless(32)
    attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(i32, ranks)
    attributes["mhlo.num_replicas"] = ir.IntegerAttr.get(i32, 1)
    return free


def _main(module):
    """The function `main` and its type."""
    main = next(op.operation for op in module.body.operations
                if op.operation.name == "func.func"
                and ir.StringAttr(op.operation.attributes["sym_name"]).value == "main")
    return main, ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)


def _dictionary(attribute):
    attribute = ir.DictAttr(attribute)
    return {attribute[i].name: attribute[i].attr for i in range(len(attribute))}


def _is_open(attributes):
    """Whether the sharding of an argument or a result is not given, or only in parts."""
    if "mhlo.sharding" in attributes:
        return False
    if "sdy.sharding" not in attributes:
        return True
    sharding = sdy.TensorShardingAttr(attributes["sdy.sharding"])
    return any(not sdy.DimensionShardingAttr(d).is_closed for d in sharding.dimension_shardings)


def _partition(module, ranks, *free):
    """Partitions a module. Gives the Faults, the module of one rank as HLO and as StableHLO,
    and the groups of its channels."""
    before, hlo = _compile(module, ranks, *free)
    after, channels = _to_module(hlo), read_channels(hlo, ranks)
    return partitioner_faults.find(_to_module(before), after, channels), hlo, after, channels


def _compile(module, ranks, free_arguments, free_results):
    """The HloModules before and behind XLA's partitioner."""
    client = private_names.make_client(num_devices=ranks)
    options = private_names.CompileOptions()
    build = options.executable_build_options
    options.num_partitions = build.num_partitions = ranks
    options.num_replicas = build.num_replicas = 1
    build.use_spmd_partitioning = True
    build.use_shardy_partitioner = any(op.operation.name == "sdy.mesh"
                                       for op in module.body.operations) or _has_shardy(module)
    build.allow_spmd_sharding_propagation_to_parameters = free_arguments
    build.allow_spmd_sharding_propagation_to_output = free_results
    devices = private_names.DeviceList(tuple(client.devices()))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options.env_option_overrides = [*_OPTIONS.items(), ("xla_dump_to", folder)]
        compiler = _Compiler(lambda: client.compile_and_load(module, devices, options))
        compiler.start()
        after = None
        while after is None:
            is_last = not compiler.is_alive()
            after = _read_dump(folder, f"*.after_{_PASS}.*.hlo.pb")
            if is_last and after is None:
                raise compiler.failure or RuntimeError(f"XLA has not run {_PASS}")
            compiler.join(_PAUSE)
        return _read_dump(folder, f"*.before_{_PASS}.hlo.pb"), after


class _Compiler(threading.Thread):
    """A thread that compiles. What comes behind the partitioner may fail, such as the call of
    a library: what was raised is for the one who misses the module."""

    def __init__(self, compile):
        super().__init__(daemon=True)
        self._compile, self.failure = compile, None

    def run(self):
        try:
            self._compile()
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error


def _read_dump(folder, pattern):
    """The HloModule of the one dump with a name; None unless it is written to its end."""
    found = glob.glob(os.path.join(glob.escape(folder), pattern))
    if len(found) > 1:
        raise RuntimeError(f"XLA has run {_PASS} {len(found)} times")
    if not found:
        return None
    with open(found[0], "rb") as file:
        message = _field(file.read(), 1)
    return None if message is None else private_names.read_hlo(message)


def _has_shardy(module):
    """Whether an exported module has Shardy's attributes as those of XLA's frontend."""
    name = "mhlo.frontend_attributes"
    attributes = module.operation.attributes
    return name in attributes and "xla.sdy.meshes" in ir.DictAttr(attributes[name])


def _field(message, wanted):
    """The bytes of a field of a serialized protocol buffer: the dump is an HloProto, of which
    the module is field 1. None where the message ends before the field does."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    try:
        while True:
            key = number()
            if key & 7 != 2:
                raise RuntimeError(f"the dump of XLA has a field of wire type {key & 7}")
            size = number()
            if key >> 3 == wanted:
                return message[at:at + size] if at + size <= len(message) else None
            at += size
    except IndexError:
        return None


def _to_module(hlo):
    return parse(private_names.to_stablehlo(hlo))


def _read(hlo, module, channels, ranks):
    """What the other process wants to know of a partitioned module."""
    with module.context:
        partitioner_faults.drop_numbers(module)
        _normalize(module, channels)
        text = module.operation.get_asm(enable_debug_info=True)
        signature = _main(module)[1]
    arguments, results = hlo.spmd_parameters_shardings or [], hlo.spmd_output_sharding
    return {"module": text, "arguments": _pair(signature.inputs, arguments, ranks),
            "results": _pair(signature.results, results.tuple_shardings or [results], ranks)}


def _number_channels(module):
    """Gives each collective a channel of its own, by which its groups are found again: in
    JAX, those of several manual computations may have the same one."""
    collectives = [op for op in walk(module) if "channel_handle" in op.attributes]
    for number, op in enumerate(collectives, 1):
        type = stablehlo.ChannelHandle(op.attributes["channel_handle"]).channel_type
        op.attributes["channel_handle"] = stablehlo.ChannelHandle.get(number, type)


def _normalize(module, channels):
    """Makes ops that JAX makes, too, of those that come from HLO alone, and gives the
    collectives their groups, of which the conversion loses a part."""
    for op in walk(module):
        for name in ("result_layout", "xla_shape"):
            if name in op.attributes:
                del op.attributes[name]
        if op.name == "mhlo.copy":
            replace(op, op.operands[0])
        elif op.name == "stablehlo.dot":
            _generalize(op)
        elif op.name == "stablehlo.custom_call":
            _open_tuple(op)
        elif "replica_groups" in op.attributes and "channel_handle" in op.attributes:
            channel = stablehlo.ChannelHandle(op.attributes["channel_handle"]).handle
            lists = channels[channel]
            size = max(map(len, lists), default=0)
            rows = [members + [-1] * (size - len(members)) for members in lists]
            op.attributes["replica_groups"] = ir.DenseElementsAttr.get(
                np.array(rows, np.int64).reshape(len(rows), size))


def _generalize(op):
    """Makes a `dot_general` of a `dot`."""
    contracted = ir.RankedTensorType(op.operands[0].type).rank - 1
    attributes = {name: op.attributes[name] for name in op.attributes}
    attributes["dot_dimension_numbers"] = stablehlo.DotDimensionNumbers.get(
        [], [], [contracted], [0])
    with ir.InsertionPoint(op), op.location:
        new = ir.Operation.create("stablehlo.dot_general", results=[op.results[0].type],
                                  operands=list(op.operands), attributes=attributes)
    replace(op, new.results[0])


def _open_tuple(op):
    """Gives a call that has a tuple of results these results."""
    if len(op.results) != 1 or not isinstance(op.results[0].type, ir.TupleType):
        return
    tuple_type = ir.TupleType(op.results[0].type)
    types = [tuple_type.get_type(number) for number in range(tuple_type.num_types)]
    with ir.InsertionPoint(op), op.location:
        new = ir.Operation.create(op.name, results=types, operands=list(op.operands),
                                  attributes={name: op.attributes[name] for name in op.attributes})
    for use in list(op.results[0].uses):
        reader = use.owner.operation
        if reader.name != "stablehlo.get_tuple_element":
            raise UnsupportedError(op, f"{reader.name} takes its results as one")
        number = ir.IntegerAttr(reader.attributes["index"]).value
        replace(reader, new.results[number])
    op.erase()


def _pair(types, shardings, ranks):
    """For each value the number of its dimensions, and how the ranks share it."""
    shardings = list(shardings)
    if len(types) == 0:
        return []
    if len(types) != len(shardings):
        raise RuntimeError(f"{len(types)} values have {len(shardings)} shardings")
    return [(ir.RankedTensorType(type).rank, _to_tiles(sharding, ranks))
            for type, sharding in zip(types, shardings)]


def _to_tiles(sharding, ranks):
    """A sharding as the number of parts of each dimension, and for each rank its part in
    each dimension; None where every rank has all."""
    sharding = private_names.read_sharding(sharding)
    if sharding.is_replicated():
        return None
    if not sharding.is_tiled() or "unreduced" in str(sharding):
        raise RuntimeError(f"an argument or a result has the sharding {sharding}")
    shape = list(sharding.tile_assignment_dimensions())
    # Dimensions behind those of the array count ranks that have the same part.
    count = len(shape) - len(sharding.subgroup_types()) - sharding.replicate_on_last_tile_dim()
    tiles = np.empty((ranks, count), np.int64)
    devices = np.reshape(sharding.tile_assignment_devices(), shape)
    for position, rank in np.ndenumerate(devices):
        tiles[rank] = position[:count]
    return {"parts": shape[:count], "tiles": tiles.tolist()}
