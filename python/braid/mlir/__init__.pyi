from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np

from ..errors import BraidError as BraidError
from ..schedule import Slice

class ArgumentError(BraidError, ValueError): ...
class NotFoundError(BraidError): ...

class Location:
    file: str
    line: int
    column: int
    def __init__(self, file: str, line: int | str, column: int | str) -> None: ...

class Diagnostic:
    severity: str
    location: Location | None
    message: str
    op: str | None
    def __init__(self, severity: str, location: Location | None, message: str) -> None: ...

class ToolError(BraidError):
    tool: str
    status: int
    stderr: str
    diagnostics: list[Diagnostic]
    location: Location | None
    op: str | None
    def __init__(self, tool: str, status: int, stderr: str) -> None: ...

class RankFailure:
    rank: int
    message: str
    secondary: bool
    location: Location | None
    label: str | None
    op: str | None
    def __init__(self, rank: int, text: str, secondary: bool) -> None: ...

class RankError(BraidError):
    failures: list[RankFailure]
    rank: int
    location: Location | None
    label: str | None
    op: str | None
    def __init__(self, failures: list[RankFailure]) -> None: ...

class Timeline:
    name: str
    makespan: int
    timeline: list[Slice]
    def __init__(self, function: dict[str, Any]) -> None: ...
    def plot(self, axes: Any = None) -> Any: ...

class DeviceArray:
    device: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    def numpy(self) -> np.ndarray[Any, Any]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any: ...

class MPIWorld:
    rank: int
    size: int
    def __init__(self, timeout: float = 30.0) -> None: ...

class ReorderedSum:
    operation: str
    reason: str
    location: Location | None
    members: int | None

class Numerics:
    reordered_sums: list[ReorderedSum]
    def may_reorder(self, ranks: int) -> list[ReorderedSum]: ...
    def has_same_bits(self, ranks: int) -> bool: ...

class Executable:
    target: Literal["host", "cuda"]
    entries: list[str]
    numerics: Numerics | None
    copied_bytes: int
    elapsed_ns: int
    device_ns: int
    def __init__(self, path: str | PathLike[str]) -> None: ...
    def signature(self, entry: str | None = None) -> tuple[list[str], list[str]]: ...
    def run(self, arguments: Sequence[Sequence[Any]], entry: str | None = None, donate: bool = False, timeout: float = 30.0, world: MPIWorld | None = None) -> list[list[Any]]: ...

class Program:
    text: str
    def __init__(self, text: str) -> None: ...
    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Program: ...
    def run_passes(self, passes: str) -> Program: ...
    def report(self, format: Literal["text", "json", "trace", "html"] = "text", passes: str | None = None, output: str | PathLike[str] | None = None, **options: Any) -> Any: ...
    def compile(self, target: Literal["host", "cuda"] = "host", passes: str | None = None, output: str | None = None, chip: str | None = None, verify: Literal["error", "warning", "off", "each"] | None = None, attention: Literal["library", "decompose"] | None = None, convolution: Literal["library", "decompose"] | None = None) -> Any: ...

def empty(shape: Sequence[int], dtype: Any) -> np.ndarray[Any, Any]: ...
def find_runtime() -> str: ...
def find_tool(name: str) -> str: ...
def from_dlpack(tensor: Any) -> np.ndarray[Any, Any]: ...
def to_dlpack(array: np.ndarray[Any, Any]) -> Any: ...
