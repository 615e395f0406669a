"""The class of an error, so that varied calls which fail for one reason are seen to."""

from __future__ import annotations

import re

from analysis.detectors.base import Step
from analysis.turn_state import JudgedCall

_SAYS_NOTHING = frozenset((None, "", "unknown", "error", "unhandled_exception"))
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
_PATH = re.compile(r"(?:[A-Za-z]:)?[\\/][^\s:,;)]+|\b[\w.-]+/[^\s:,;)]+")
_ID = re.compile(r"\b(?=[\w-]*\d)[\w-]{8,}\b|\b0x[0-9a-fA-F]+\b")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

INVALID_PARAMETERS = "invalid_tool_params"
_REFUSED = re.compile(
    r"params must |invalid param|.*\b(?:must have required property|must be (?:string|number|array|object|boolean))\b", re.I
)


def error_class(call: JudgedCall) -> str | None:
    """The recorded error type, else the first line of the error without what names one case; None where it did not fail."""
    result = call.of_batch.call.result
    if call.outcome != "failed" or result is None:
        return None
    if result.error_class not in _SAYS_NOTHING:
        return result.error_class
    if _REFUSED.match(result.error_line or ""):
        return INVALID_PARAMETERS
    return in_general(result.error_line) if result.error_line else result.error_class or "error"


def in_general(line: str) -> str:
    """The line with quotations, paths, ids and numbers taken out."""
    for pattern, word in ((_QUOTED, "'...'"), (_PATH, "PATH"), (_ID, "ID"), (_NUMBER, "N")):
        line = pattern.sub(word, line)
    return line.strip()


def classes_of_failure(step: Step) -> tuple[str, ...]:
    """The error classes of a response whose calls failed, each once; none where one did not fail.

    In the order of its calls: of two that come equally often a finding names the first, in every run of the program.
    """
    classes = dict.fromkeys(error_class(call) for call in step.calls)
    return tuple(name for name in classes if name is not None) if None not in classes else ()
