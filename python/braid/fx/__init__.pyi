from collections.abc import Callable
from typing import Any, Literal

from ..schedule import Machine, Schedule

class Overlap:
    options: dict[str, Any]
    last: Schedule | None
    before: Schedule | None
    reason: str | None
    def __init__(self, **options: Any) -> None: ...
    def with_options(self, *, estimates: Literal["auto", "inductor", "braid"] | Callable[[Any], float | None] = ..., machine: Machine | str | None = ..., contention: bool | None = ..., margin: float | None = ..., min_gain: float | Literal["auto"] = ..., memory_budget: float | None = ..., max_memory: int | str | None = ..., max_in_flight: int | None = ..., keep_order: bool | None = ..., deterministic: bool | None = ..., algorithm: str | None = ..., effort: Literal["low", "default", "high"] = ..., agree: bool = ..., report: str | None = ...) -> Overlap: ...
    def __call__(self, graph: Any) -> None: ...
    def uuid(self) -> bytes | None: ...

overlap: Overlap
