"""Who computes: this process, worker processes, or a Dask cluster, as the options of a command say."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

_ANSWER_WITHIN = 10  # seconds for a scheduler


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that choose who computes; see `chosen`."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--workers", type=int, metavar="N", help="compute in N processes; the answer is the same")
    group.add_argument(
        "--scheduler", metavar="ADDRESS", help="compute on a Dask cluster, such as tcp://host:8786; extra `cluster`"
    )


@contextmanager
def chosen(args: argparse.Namespace) -> Iterator[Executor | None]:
    """The executor that the options of `add_arguments` ask for, shut down at the end; None: this process.

    Raises:
        ValueError: fewer than one worker, or no address. OSError: no scheduler answers. ModuleNotFoundError: Dask is
            not installed.
    """
    if args.scheduler is not None:
        with _client(args.scheduler) as client:
            yield client.get_executor()
    elif args.workers is None:
        yield None
    elif args.workers < 1:
        raise ValueError(f"workers: {args.workers} compute nothing; give 1 or more")
    else:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        # fresh processes: a forked one may hang on the locks of its parent's threads
        pool = ProcessPoolExecutor(args.workers, mp_context=multiprocessing.get_context("spawn"))
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)


def _client(address: str) -> Any:
    """A connected `distributed.Client`, or an error, after which nothing keeps the process from its end."""
    try:
        from distributed import Client
        from distributed.comm import parse_address, parse_host_port
        from distributed.comm.registry import get_backend
    except ImportError:
        raise ModuleNotFoundError('--scheduler needs Dask: pip install "resispec-ref[cluster]"') from None
    try:
        scheme, place = parse_address(address)
        get_backend(scheme)
        host, port = parse_host_port(place)
        if not host or not 0 < port < 1 << 16:
            raise ValueError("no host, or no such port")
    except ValueError as error:
        raise ValueError(f"scheduler: {address!r} is no address such as tcp://host:8786 ({error})") from None
    client = Client.__new__(Client)  # made before it connects: one that fails to has to be closed
    try:
        Client.__init__(client, address, set_as_default=False, timeout=_ANSWER_WITHIN)
    except BaseException as error:
        client.close(timeout=_ANSWER_WITHIN)
        if isinstance(error, TypeError):  # TLS without keys
            raise ValueError(f"scheduler: {address!r}: {error}") from None
        raise
    return client
