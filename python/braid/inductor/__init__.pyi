import os
from collections.abc import Callable
from typing import Any, Literal

from ..schedule import Machine, Schedule

class Call:
    name: str
    changed: bool
    why: str | None
    before: int | None
    after: int | None
    bound: int | None
    exposed: int | None
    peaks: tuple[int, int] | None
    machine: str | None
    notes: tuple[str, ...]
    has_lanes: bool

class CompiledGraph:
    number: int
    name: str
    collectives: int | None
    calls: list[Call]
    why: str | None
    @property
    def called(self) -> bool: ...
    @property
    def changed(self) -> bool: ...

class Explanation(list[CompiledGraph]): ...

class Overlap:
    options: dict[str, Any]
    last: Schedule | None
    before: Schedule | None
    reason: str | None
    def __init__(self, **options: Any) -> None: ...
    def with_options(self, *, estimates: Literal["auto", "inductor", "braid"] | Callable[[Any], float | None] = ..., machine: Machine | str | None = ..., contention: bool | None = ..., margin: float | None = ..., min_gain: float | Literal["auto"] = ..., memory_budget: float | None = ..., max_memory: int | str | None = ..., max_in_flight: int | None = ..., keep_order: bool | None = ..., deterministic: bool | None = ..., algorithm: str | None = ..., effort: Literal["low", "default", "high"] = ..., agree: bool = ..., report: str | None = ..., profile: str | None = ..., lanes: bool | dict[str, int | Literal["copy"]] | None = ...) -> Overlap: ...
    def __call__(self, snodes: list[Any]) -> list[Any]: ...

class KernelTimes:
    times: dict[str, int]
    missing: dict[str, Any]
    def __init__(self) -> None: ...
    def get(self, snode: Any) -> int | None: ...
    def measure(self) -> int: ...
    def get_digest(self) -> str: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def load(self, path: str | os.PathLike[str]) -> None: ...

overlap: Overlap
kernel_times: KernelTimes

def options(*, cuda_graphs: bool = False, reassociate: bool = False, **pass_options: Any) -> dict[str, Any]: ...
def tune(step: Callable[..., Any], *inputs: Any, rounds: int = 3, path: str | os.PathLike[str] | None = None) -> KernelTimes: ...
def explain() -> Explanation: ...
