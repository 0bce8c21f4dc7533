from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from .. import mlir
from ..errors import BraidError

_Choice = Literal["recognize", "as written"]

class PartitionError(BraidError):
    location: mlir.Location | None
    details: str
    def __init__(self, reason: str, details: str = "") -> None: ...

class UnsupportedError(BraidError):
    op: str
    location: mlir.Location | None
    primitive: str | None
    reason: str
    details: str
    def __init__(self, op: Any, reason: str) -> None: ...
    def to_json(self) -> list[Any]: ...
    @classmethod
    def from_json(cls, given: list[Any]) -> UnsupportedError: ...

class VersionError(BraidError, ImportError): ...

class Attention:
    location: mlir.Location | None
    origin: Literal["call", "recognized"]
    causal: bool
    window: int | None
    bias: bool
    gradient: bool
    def __init__(self, location: mlir.Location | None, origin: str, causal: bool, window: int | None, bias: bool, gradient: bool) -> None: ...
    @classmethod
    def of(cls, op: Any, *facts: Any) -> Attention: ...

class Recurrence:
    location: mlir.Location | None
    length: int
    gradient: bool
    def __init__(self, location: mlir.Location | None, length: int, gradient: bool) -> None: ...

class Sharding:
    axes: list[list[str] | None]
    def __init__(self, axes: list[list[str] | None], parts: list[int], tiles: Any = None) -> None: ...
    @classmethod
    def along(cls, mesh: Any, axes: list[list[str]]) -> Sharding: ...
    @classmethod
    def read(cls, attribute: Any, meshes: dict[str, Any]) -> Sharding | None: ...
    @classmethod
    def from_tiles(cls, rank: int, given: dict[str, Any] | None, meshes: dict[str, Any]) -> Sharding: ...
    @classmethod
    def replicated(cls, rank: int) -> Sharding: ...
    def parts(self) -> list[int]: ...
    def part(self, shape: tuple[int, ...], rank: int) -> tuple[slice, ...]: ...

class Program(mlir.Program):
    ranks: int
    in_shardings: list[Sharding]
    out_shardings: list[Sharding]
    attentions: list[Attention]
    recurrences: list[Recurrence]
    def __init__(self, lowered: Any, attention: _Choice = "recognize", recurrence: _Choice = "recognize") -> None: ...
    @classmethod
    def from_module(cls, module: Any, in_tree: Any = None, out_tree: Any = None, kept: Any = None, attention: _Choice = "recognize", recurrence: _Choice = "recognize") -> Program: ...
    def shard(self, *args: Any, **kwargs: Any) -> list[list[np.ndarray[Any, Any]]]: ...
    def unshard(self, results: list[list[np.ndarray[Any, Any]]]) -> Any: ...

class Function:
    program: Program
    executable: mlir.Executable
    def __init__(self, program: Program, executable: mlir.Executable) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

def compile(fn: Callable[..., Any], *args: Any, mesh: Any = None, passes: str | None = None, attention: _Choice = "recognize", recurrence: _Choice = "recognize", **kwargs: Any) -> Function: ...
def from_stablehlo(module: Any, attention: _Choice = "recognize", recurrence: _Choice = "recognize") -> Program: ...
def export(fn: Callable[..., Any], *args: Any, mesh: Any = None, attention: _Choice = "recognize", recurrence: _Choice = "recognize", **kwargs: Any) -> Program: ...
