from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, Literal

class BraidError(Exception): ...
class ScheduleError(BraidError, ValueError): ...
class CycleError(ScheduleError): ...
class UnknownNameError(ScheduleError, KeyError): ...

class MemoryLimitError(ScheduleError):
    excess: int
    least_peak: int
    proven: bool
    node: str

class Node:
    graph: Graph
    index: int
    name: str
    kind: Literal["compute", "start", "wait", "opaque"]
    cost: int
    lane: str | None
    bytes: int
    awaits: tuple[int, ...]
    output: bool

_Nodes = Node | Iterable[Node]
_Demand = Mapping[str, float] | CollectiveTime | MatmulTime

class Graph:
    nodes: list[Node]
    live_bytes: int
    def __init__(self, live_bytes: float = 0) -> None: ...
    def __len__(self) -> int: ...
    def compute(self, name: object, cost: float, *, bytes: float = 0, after: _Nodes = (), order_after: _Nodes = (), awaits: Iterable[Node] = (), output: bool = False, demand: _Demand | None = None) -> Node: ...
    def opaque(self, name: object, cost: float = 0, *, bytes: float = 0, after: _Nodes = (), order_after: _Nodes = (), awaits: Iterable[Node] = (), output: bool = False, demand: _Demand | None = None) -> Node: ...
    def start(self, name: object, cost: float, *, lane: str = "lane", link: Literal["own", "intra-node", "inter-node", "spine"] | None = None, bytes: float = 0, after: _Nodes = (), order_after: _Nodes = (), output: bool = False, demand: _Demand | None = None) -> Node: ...
    def wait(self, name: object, start: _Nodes, *, after: _Nodes = (), order_after: _Nodes = (), output: bool = False) -> Node: ...
    def order(self, before: Node, after: Node) -> None: ...
    def buffer(self, bytes: float, users: Iterable[Node], *, escapes: bool = False) -> None: ...
    def transient(self, node: Node, bytes: float) -> None: ...
    @classmethod
    def from_networkx(cls, digraph: Any, *, live_bytes: float = 0) -> Graph: ...

class CollectiveTime:
    ns: float
    memory_bytes: int
    link_bytes: int
    multiprocessors: int
    exact: bool
    measured: bool
    blocks: int
    one_way: bool
    link: Literal["intra-node", "inter-node", "spine"]

class MatmulTime:
    ns: float
    arithmetic_ns: int
    tiles: int
    memory_bytes: int
    blocks: int
    measured: bool

class Machine:
    name: str
    peaks: dict[str, float]
    memory_bandwidth: float
    memory_bytes: int
    ranks_per_node: int
    multiprocessors: int
    launch_ns: int
    is_shared: bool
    def __init__(self, name: str | PathLike[str], profile: str | PathLike[str] | None = "auto") -> None: ...
    def collective(self, kind: str, input_bytes: int | str, output_bytes: int | str | None = None, *, ranks: int | None = None, nodes: int | None = None, stride: int | None = None, model: str | None = None, max_ctas: int = 0, transport: str | None = None) -> CollectiveTime: ...
    def matmul(self, rows: int, columns: int, depth: int, element: str = "bf16", *, batch: int = 1, multiprocessors: int = 0, transposed: Literal["none", "left", "right", "both"] = "none") -> MatmulTime: ...

class Slice:
    name: str
    kind: Literal["compute", "start", "wait", "opaque"]
    lane: str | None
    issued: int
    start: int
    end: int
    lost: int
    exposed: int

class Reason:
    name: str
    exposed: int
    kind: str
    node: str | None
    gain: int
    excess: int
    sentence: str

class Schedule:
    graph: Graph
    machine: Machine | None
    order: list[int]
    makespan: int
    compute: int
    communication: int
    exposed: int
    hidden: int
    peak: int
    method: str
    @property
    def optimal(self) -> bool: ...
    @property
    def bound(self) -> int: ...
    @property
    def bound_reason(self) -> str: ...
    @property
    def gap(self) -> float | None: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def timeline(self) -> list[Slice]: ...
    @property
    def memory(self) -> list[int]: ...
    @property
    def reasons(self) -> list[Reason]: ...
    @property
    def program(self) -> Schedule: ...
    def to_html(self, path: str | PathLike[str] | None = None) -> str: ...
    def to_perfetto(self, path: str | PathLike[str] | None = None) -> str: ...
    def plot(self, axes: Any = None) -> Any: ...

class Progress:
    steps: int
    max_steps: int
    makespan: int
    bound: int

def machines() -> dict[str, str]: ...
def algorithms() -> list[str]: ...
def schedule(graph: Any, machine: Machine | str | PathLike[str] | None = None, *, max_memory: int | str | None = None, max_in_flight: int | None = None, effort: Literal["low", "default", "high"] = "default", keep_order: bool = False, algorithm: str | None = None, steps: int | None = None, seed: int = 0, progress: Callable[[Progress], object] | None = None) -> Schedule: ...
def compare(graph: Any, machine: Machine | str | PathLike[str] | None = None, **limits: Any) -> dict[str, Schedule]: ...
