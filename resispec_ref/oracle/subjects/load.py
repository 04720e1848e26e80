"""Implementations named on a command line: `path.py:name`, or `package.module:name`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache, partial, update_wrapper
from pathlib import Path
from types import ModuleType
from typing import Any


def load(place: str, *, kind: str = "verifier") -> Any:
    """What `path.py:name` or `package.module:name` names; for kind law also a rule of the registry.

    Raises:
        ValueError: no such file, module or name.
    """
    path, _, name = place.rpartition(":")
    if not path:
        if kind == "law":
            return place
        raise ValueError(f"implementation: {place!r}; write FILE.py:FUNCTION or package.module:FUNCTION")
    if path.endswith(".py"):
        if not Path(path).is_file():
            raise ValueError(f"implementation: there is no file {path}")
        sys.path.insert(0, str(Path(path).resolve().parent))  # as `python FILE.py` does, for the file's own imports
        importing = partial(_import_file, Path(path))
    else:
        importing = partial(importlib.import_module, path)
    try:
        found: Any = importing()
    except Exception as error:
        raise ValueError(f"implementation: importing {path} failed: {type(error).__name__}: {error}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            there = [k for k, v in vars(found).items() if callable(v) and not k.startswith("_")]
            raise ValueError(f"implementation: {path} has no {name!r}; it has {', '.join(there) or 'no function'}")
        found = getattr(found, part)
    return found


class Placed:
    """A function that is pickled as the place it is loaded from, so that no process needs to find it by its module."""

    def __init__(self, place: str) -> None:
        self._place, self._function = place, load(place)
        update_wrapper(self, self._function)

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return _placed, (self._place,)


@cache  # a process loads it once
def _placed(place: str) -> Placed:
    return Placed(place)


def there(place: str) -> Any:
    """What `place` names, also in a process that runs elsewhere; of a file the absolute path counts there."""
    path, _, name = place.rpartition(":")
    return _placed(f"{Path(path).resolve()}:{name}" if path.endswith(".py") else place)


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python source")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module
