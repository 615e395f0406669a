"""Spans and counters around a run, for whoever runs it under OpenTelemetry. What they are called: docs/observing.md.

An SDK that is to hear of us is set up before we run, by `opentelemetry-instrument` or by the program that calls us; then its
API is imported already. Where nobody imported it, nobody listens, and importing it would cost a small run a tenth of its time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingest.summary import Summary

_NAME = "loopscope"


@contextmanager
def run() -> Iterator[None]:
    with _span("loopscope.ingest"):
        yield


@contextmanager
def stage(name: str) -> Iterator[None]:
    """A part of a run, timed: `discover`, `plan`, `read`, `analyse`, `publish`."""
    started = time.monotonic()
    with _span(f"loopscope.{name}"):
        yield
    if _is_heard():
        _seconds().record(time.monotonic() - started, {"stage": name})


def count(summary: Summary) -> None:
    """What one run did. Findings are those of the whole store."""
    if not _is_heard():
        return
    files = {
        "read": summary.read,
        "unchanged": summary.unchanged,
        "gone": summary.gone,
        "skipped": len(summary.skipped),
        "unreadable": len(summary.unreadable),
    }
    for outcome, number in files.items():
        _counter("files", "{file}").add(number, {"outcome": outcome})
    _counter("bytes", "By").add(summary.bytes_read)
    _counter("records", "{record}").add(summary.records)
    _counter("calls", "{call}").add(summary.calls)
    _counter("problems", "{problem}").add(summary.problems)
    _counter("sessions", "{session}").add(summary.sessions_analysed, {"outcome": "analysed"})
    _counter("sessions", "{session}").add(len(summary.failed), {"outcome": "failed"})
    for kind, number in summary.findings.items():
        _gauge("findings", "{finding}").set(number, {"kind": kind})


@contextmanager
def _span(name: str) -> Iterator[None]:
    if not _is_heard():
        yield
        return
    from opentelemetry import trace

    with trace.get_tracer(_NAME).start_as_current_span(name):
        yield


def _is_heard() -> bool:
    return "opentelemetry" in sys.modules


def _meter() -> Any:
    from opentelemetry import metrics

    return metrics.get_meter(_NAME)


@cache
def _seconds() -> Any:
    return _meter().create_histogram("loopscope.stage.duration", "s", "How long each part of a run takes.")


@cache
def _counter(name: str, unit: str) -> Any:
    return _meter().create_counter(f"loopscope.{name}", unit)


@cache
def _gauge(name: str, unit: str) -> Any:
    return _meter().create_gauge(f"loopscope.{name}", unit)
