from typing import Any

from .. import fx
from .._compiled_graphs import explain as explain

class Overlap:
    overlap: fx.Overlap
    def __init__(self, **options: Any) -> None: ...
    def __call__(self, gm: Any, graph_id: int, graph_order: Any, profiling_results: Any, create_inputs_fn: Any, mem_budget: float, param_manager: Any, bwd: bool) -> None: ...

def register(name: str = "braid", **options: Any) -> Overlap: ...
