"""Calling foreign code: its exceptions and its silence become reports, and the audit goes on."""

from __future__ import annotations

import ctypes
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

_ORACLE = Path(__file__).resolve().parents[1]
Problem = Literal["exception", "shape", "dtype", "token out of range", "time limit", "protocol"]


class CallError(Exception):
    """What went wrong in a call of the implementation, and the input that caused it."""

    def __init__(self, problem: Problem, message: str, given: dict[str, Any] | None = None, trace: str = ""):
        assert problem in get_args(Problem)
        super().__init__(message)
        self.problem, self.message, self.given, self.trace = problem, message, given or {}, trace
        self.case: int | None = None
        """Which of several cases the call was of, where that is one."""


def foreign_trace(error: BaseException) -> str:
    """The traceback of an exception from where foreign code begins."""
    frames = list(traceback.extract_tb(error.__traceback__))
    own = [i for i, frame in enumerate(frames) if Path(frame.filename).is_relative_to(_ORACLE)]
    frames = frames[max(own, default=-1) + 1 :]
    return "".join(traceback.format_list(frames)).rstrip() or type(error).__name__


class _Abandoned(BaseException):
    """Raised inside a call that took too long, so that a loop in Python ends."""


class Clock:
    """When the call that is running began, and what it was given."""

    def __init__(self) -> None:
        self.began, self.given = time.monotonic(), dict[str, Any]()

    def start(self, given: dict[str, Any]) -> None:
        self.began, self.given = time.monotonic(), given


def guarded(job: Callable[[Clock], Any], limit: float) -> Any:
    """`job(clock)`, in a thread of its own; `job` tells the clock before each call of foreign code.

    Raises:
        CallError: a call took longer than `limit` seconds (it is told to stop, and left behind if it does not), or what
            `job` raised.

    >>> guarded(lambda clock: 1 + 1, limit=5.0)
    2
    """
    clock, answer = Clock(), dict[str, Any]()

    def work() -> None:
        try:
            answer["value"] = job(clock)
        except _Abandoned:
            pass
        except BaseException as error:
            answer["error"] = error

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(max(0.01, limit - (time.monotonic() - clock.began)))
        if thread.is_alive() and time.monotonic() - clock.began > limit:
            given = clock.given
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Abandoned))
            thread.join(0.5)
            raise CallError("time limit", f"a call did not return within {limit:g} s", given)
    if "error" in answer:
        raise answer["error"]
    return answer["value"]
