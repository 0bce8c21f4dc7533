# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The private names of JAX and jaxlib that braid.jax uses, and what changed when.

    0.8 to 0.9    classes of HLO in jaxlib._jax
    0.10          classes of HLO in jaxlib._hlo; computations have instructions
    0.11          HloSharding.v3_to_v2_sharding: propagation gives shardings with the names
                  of axes, which have no tiles
"""

import contextlib

from .versions import VersionError

try:
    from jaxlib import _jax
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext, _mosaic_gpu_ext
    try:
        from jaxlib import _hlo
    except ImportError:
        _hlo = _jax
except ImportError as error:
    raise VersionError(f"braid.jax needs a name that this jaxlib lacks: {error}") from error


def _need(owner, *names):
    """The names of a module or class, of which this jaxlib has to have each."""
    for name in names:
        if not hasattr(owner, name):
            raise VersionError(f"braid.jax needs {getattr(owner, '__name__', type(owner).__name__)}.{name}, which this jaxlib lacks")
    found = [getattr(owner, name) for name in names]
    return found[0] if len(found) == 1 else found


make_client, CompileOptions, DeviceList, CompileError = _need(
    _jax, "get_tfrt_cpu_client", "CompileOptions", "DeviceList", "JaxRuntimeError")
_HloModule, _HloSharding = _need(_hlo, "HloModule", "HloSharding")
read_hlo = _need(_HloModule, "from_serialized_hlo_module_proto")
_hlo_to_stablehlo, _refine = _need(_need(_jax, "mlir"), "hlo_to_stablehlo", "refine_polymorphic_shapes")
register_dialects = _need(_jax_mlir_ext, "register_dialects")
register_inliner = _need(_mosaic_gpu_ext, "register_inliner_extensions")


def to_stablehlo(hlo):
    """The StableHLO of an HloModule, serialized or as text."""
    return _hlo_to_stablehlo(hlo.as_serialized_hlo_module_proto())


def refine_shapes(bytecode):
    """The bytecode of a module whose functions have the shapes that the arguments of `main` give them."""
    return _refine(mlir_module=bytecode, enable_shape_assertions=True, validate_static_shapes=True, enable_shardy=True)


def read_sharding(given):
    """An HloSharding of its protocol buffer or its text, with tiles."""
    read = _HloSharding.from_string if isinstance(given, str) else _HloSharding.from_proto
    sharding = read(given)
    convert = getattr(_HloSharding, "v3_to_v2_sharding", None)
    return convert(sharding) if convert else sharding


def fused_attention():
    """What `attention.without_gpu` changes: the module of JAX that calls cuDNN's attention, and the
    primitive of partitionings. None where this JAX has other ones."""
    try:
        from jax._src.cudnn import fused_attention_stablehlo as module
        from jax._src.custom_partitioning import custom_partitioning_p
    except ImportError:
        return None
    names = ("cuda_versions", "check_cudnn_version", "check_compute_capability", "_dot_product_attention_fwd_p",
             "_dot_product_attention_bwd_p", "_dot_product_attention_fwd_cuda_lowering",
             "_dot_product_attention_bwd_cuda_lowering")
    return (module, custom_partitioning_p) if all(hasattr(module, name) for name in names) else None


@contextlib.contextmanager
def lowered_by(rules):
    """In this context JAX lowers these primitives on the CPU by these rules."""
    # The process of the partitioner does without JAX.
    from jax.interpreters import mlir
    try:
        from jax._src.interpreters.mlir import _platform_specific_lowerings as lowerings
    except ImportError:
        yield
        return
    lowerings = lowerings["cpu"]
    before = dict(lowerings)
    try:
        for primitive, rule in rules.items():
            mlir.register_lowering(primitive, rule, platform="cpu")
        yield
    finally:
        for primitive in rules:
            lowerings.pop(primitive, None)
        lowerings.update(before)


def coordinator():
    """The host of the coordinator of `jax.distributed`, and this process's client of its store of texts."""
    try:
        from jax._src.distributed import global_state as state
    except ImportError as error:
        raise VersionError(f"braid.jax needs a name that this JAX lacks: {error}") from error
    address, client = _need(state, "coordinator_address", "client")
    _need(client, "key_value_set", "blocking_key_value_get")
    return address.rpartition(":")[0].strip("[]"), client


def kept_arguments(lowered, count):
    """The numbers of the arguments that JAX has not dropped as unused, of `count`."""
    lowering = getattr(lowered, "_lowering", None)
    given = getattr(lowering, "compile_args", None)
    if given is None:
        raise VersionError("braid.jax needs jax.stages.Lowered._lowering.compile_args, which "
                           "this JAX lacks")
    return sorted(given.get("kept_var_idx", range(count)))
