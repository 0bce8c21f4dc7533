# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ops of DeepSpeed's DeepCompile (namespace dc) do, as csrc/compile of DeepSpeed 0.19 has them.

Their schemas hide all of it: ops share a registry of parameters, one NCCL communicator and buckets of gradients.

*   ``allgather_param(shard, graph, id)`` begins to gather a parameter. It communicates unless the parameter is there already, and
    `wait_allgather` has the stream of compute wait for it.
*   ``prefetch_params_fused(graph, shards, ids)`` begins to gather several; the `allgather_param` of each returns what it gathers.
*   ``release_param(result, graph, id, users)`` returns `result`, that of a user of the parameter, and counts: the last of all users
    frees the parameter. So releases may stand in any order, and neither gather nor prefetch of the same parameter passes one.
*   ``reduce_grad(gradient, graph, id)`` copies a gradient to a bucket, and communicates when the bucket is full. Which gradients
    share a bucket changes no bit: each is reduced by a call of its own. Two of one parameter are added in their order.
*   ``end_backward(results, ...)`` reduces what is left, waits for it, and marks all parameters as not gathered. Nothing passes it.
*   ``free_tensors(tensors)`` takes the memory of activations from their readers.
*   `offload_tensor` and `reload_tensor` begin to copy an activation to the host and back, `wait_offload` and `wait_reload` wait for
    it. `offload_parameter` and `reload_parameter` do so with the shard that `allgather_param` reads.

Gathers and reductions are issued to one communicator, so that all ranks have to issue them in one order.
"""

from . import _torch, _torch_costs, _torch_ops
from ._torch_ops import Behaviour

#: The key of `meta` of a node that names the process group of its communicator; the default group without it.
GROUP = "braid_group"

#: Bytes per second between a GPU and its host: PCIe 4.0 with 16 lanes.
_HOST_RATE = 25e9

_GATHERS = ("allgather_param", "prefetch_params_fused")
_COLLECTIVES = (*_GATHERS, "reduce_grad")
_COPIES = {
    "offload_tensor": "offload",
    "reload_tensor": "reload",
    "offload_parameter": "offload",
    "reload_parameter": "reload",
}

#: All ops but `end_backward` read this state, which that op writes.
_STEP = "step"


def _get_name(node):
    return _torch_ops.get_name(node.target)[1]


def _get_ids(node):
    """The parameters, or the activation, of an op."""
    ids = node.args[2]
    return [ids] if isinstance(ids, int) else list(ids)


def _get_bytes(node):
    value = node.meta.get("val")
    return _torch_costs.get_hint(value.numel()) * value.element_size() if hasattr(value, "numel") else 0


def _find(node, name):
    """The nodes of the graph of `node` whose op is dc::`name`."""
    return [other for other in node.graph.nodes if other.op == "call_function" and _get_name(other) == name]


class DeepCompileOps(_torch_ops.OpFamily):
    def is_collective(self, op):
        return _torch_ops.get_name(op)[1] in _COLLECTIVES

    def get_behaviour(self, node):
        name = _get_name(node)
        if name == "end_backward":
            return Behaviour("wait", writes=(_STEP,))
        if name == "free_tensors":
            return Behaviour(writes_operands=True, reads=(_STEP,))
        states = [] if name not in _STATES else [f"{_STATES[name]} {number}" for number in _get_ids(node)]
        if name in _GATHERS or name in ("reduce_grad", *_COPIES):
            return Behaviour("start", reads=(_STEP,), writes=tuple(states))
        if name in ("wait_allgather", "wait_offload", "wait_reload"):
            return Behaviour("wait", reads=(_STEP, *states))
        if name == "release_param":
            return Behaviour(reads=(_STEP, *states))
        # One of a later version: nothing passes it.
        return Behaviour("effect", writes_operands=True, is_fence=True, writes=(_STEP,))

    def get_group(self, node):
        name = _get_name(node)
        if name in _COPIES:
            return f"{_COPIES[name]} stream"
        return node.meta.get(GROUP) or _torch.get_default_group_name() or "unknown group"

    def describe(self, node):
        return f"{_get_name(node)} {' '.join(map(str, _get_ids(node)))}"

    def get_cost(self, node, machine, groups):
        name = _get_name(node)
        if name in _COPIES:
            return max(map(_get_bytes, (node, node.args[0]))) / _HOST_RATE * 1e9, None, None
        group = self.get_group(node)
        if name not in _COLLECTIVES or group == "unknown group":
            return 0, None, None
        kind, size = self._get_transfer(node)
        if not size:
            return 0, None, None
        ranks, nodes = groups.describe(group)
        shard = -(-size // ranks)
        sizes = {"all_gather": (shard, size), "reduce_scatter": (size, shard), "all_reduce": (size, size)}[kind]
        time = machine.collective(kind, *sizes, ranks=ranks, nodes=nodes)
        return time.ns, time, "inter-node" if nodes > 1 else "intra-node"

    def _get_transfer(self, node):
        """(kind, bytes of the whole tensors); no bytes for a gather of what is fetched before."""
        name = _get_name(node)
        if name == "reduce_grad":
            # With ZeRO 1 and 2 nothing is gathered in the graph, and each rank gets all gradients.
            gathers = any(_find(node, gather) for gather in _GATHERS)
            return "reduce_scatter" if gathers else "all_reduce", _get_bytes(node.args[0])
        if name == "prefetch_params_fused":
            return "all_gather", sum(map(_get_bytes, self._get_gathers(node)))
        number = node.args[2]
        is_fetched = any(number in _get_ids(other) for other in _find(node, "prefetch_params_fused"))
        return "all_gather", 0 if is_fetched else _get_bytes(node)

    @staticmethod
    def _get_gathers(prefetch):
        numbers = set(_get_ids(prefetch))
        return [other for other in _find(prefetch, "allgather_param") if other.args[2] in numbers]

    def get_hidden_buffer(self, node):
        if _get_name(node) != "prefetch_params_fused":
            return 0, ()
        gathers = self._get_gathers(node)
        return sum(map(_get_bytes, gathers)), gathers


#: What an op's number stands for.
_STATES = {
    **dict.fromkeys((*_GATHERS, "wait_allgather", "release_param", "offload_parameter", "reload_parameter"), "parameter"),
    **dict.fromkeys(("offload_tensor", "reload_tensor", "wait_offload", "wait_reload"), "activation"),
    "reduce_grad": "gradient",
}

_torch_ops.add_family("dc", DeepCompileOps())
