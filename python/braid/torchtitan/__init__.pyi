from typing import Any

from .._compiled_graphs import explain as explain

PASS_NAME: str

def register(name: str = "braid", **options: Any) -> None: ...
