"""Faulty verifiers, each a small function that shares no code with the package, and sound ones that look suspicious."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Subject:
    """An implementation as `audit` is given it, and the name of the known fault that the diagnosis must find."""

    function: Callable[..., Any]
    kind: str
    diagnosis: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.kind}: {self.function.__name__}"
