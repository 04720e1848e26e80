"""The parts of a long computation on an executor: the same answers in the same order, whoever computes them.

An executor is any `concurrent.futures.Executor`: a pool of processes, a cluster's (Dask: `client.get_executor()`), or
None for this process. A part must not depend on the others or on who computes it; its function and arguments are
pickled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import TypeVar

Progress = Callable[[int, int], None]
"""Called with what is done and what is wanted."""

Part = TypeVar("Part")
Answer = TypeVar("Answer")

_AHEAD = 256
"""Parts handed out before the first of their answers is there: enough for a large cluster, and a bound on memory."""


def in_order(
    function: Callable[[Part], Answer], parts: Iterable[Part], executor: Executor | None = None
) -> Iterator[Answer]:
    """`map(function, parts)`: each answer as soon as it and all before it are there.

    `parts` are taken as they are handed out. Leaving early cancels what was not begun.

    Raises:
        ChildProcessError: a process of the executor ended abruptly, and the executor does not replace it. What
            `function` raises is raised too.

    >>> list(in_order(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    if executor is None:
        yield from map(function, parts)
        return
    waiting: deque[Future[Answer]] = deque()
    try:
        for part in parts:
            waiting.append(executor.submit(function, part))
            if len(waiting) >= _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenExecutor as error:
        raise ChildProcessError(
            "a worker process ended abruptly: killed, or out of memory; try fewer workers"
        ) from error
    finally:
        for future in waiting:
            future.cancel()
