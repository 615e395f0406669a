"""`make oracle`: ask the real client's functions, and say whether this project answers the same.

    python -m tests.oracle.run [--seed N] [--values N] [--sessions N] [--record FILE]

Exit code 1 where anything differs; the smallest differences are shown. --record writes a sample of the answers, small enough
for the ordinary tests.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.oracle import decisions, keys
from tests.oracle.client import ask
from tests.oracle.sessions import session_question
from tests.oracle.values import questions as value_questions
from tests.support.npm_packages import NoClient

NEW_GUARD, OLD_GUARD = "0.24.4", "0.21.10"
AT_ONCE = 10_000
"""Questions to one node process: bounds what is held in memory."""
SHOWN = 3
RECORDED_VALUES, RECORDED_SESSIONS = 3_000, 200
LONGEST_RECORDED = 160

Difference = tuple[str, str]


def batches(total: int, size: int = AT_ONCE) -> Iterator[int]:
    for start in range(0, total, size):
        yield min(size, total - start)


def compare_keys(rng: Random, total: int, told: Counter[str], record: list[Any]) -> Iterator[Difference]:
    for count in batches(total):
        asked = list(value_questions(rng, count))
        answers = ask(NEW_GUARD, asked)
        yield from keys.differences(asked, answers)
        told["values"] += len(asked)
        told.update("same twins" if same else "other twins" for same in keys.twins(asked, answers))
        record += [
            {"tool": question["tool"], "text": question["text"], "key": answer["key"][:16]}
            for question, answer in zip(asked, answers, strict=True)
            if len(question["text"]) <= LONGEST_RECORDED
        ][: max(0, RECORDED_VALUES - len(record))]


def compare_sessions(rng: Random, version: str, total: int, told: Counter[str], record: list[Any]) -> Iterator[Difference]:
    for count in batches(total, AT_ONCE // 10):
        asked = [session_question(rng) for _ in range(count)]
        answers = ask(version, asked)
        for question, answer in zip(asked, answers, strict=True):
            for difference in decisions.differences(answer):
                yield json.dumps(question, ensure_ascii=False), f"{version}: {difference}"
            told["sessions"] += 1
            told["calls"] += len(answer["decisions"])
            told.update(call["decision"] for call in answer["decisions"])
        record += answers[: max(0, RECORDED_SESSIONS - len(record))]


def write_record(target: Path, values: Sequence[Any], sessions: Sequence[Any]) -> None:
    lines = [json.dumps(answer, separators=(",", ":")) for answer in (*values, *sessions)]
    with gzip.GzipFile(target, "wb", mtime=0) as file:
        file.write("".join(line + "\n" for line in lines).encode())


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make oracle")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--values", type=int, default=200_000)
    parser.add_argument("--sessions", type=int, default=5_000, help="of each of the two versions")
    parser.add_argument("--record", type=Path)
    options = parser.parse_args(arguments)
    rng, told = Random(options.seed), Counter[str]()
    values: list[Any] = []
    sessions: dict[str, list[Any]] = {NEW_GUARD: [], OLD_GUARD: []}
    try:
        found = list(compare_keys(rng, options.values, told, values))
        for version, record in sessions.items():
            found += compare_sessions(rng, version, options.sessions, told, record)
    except NoClient as error:
        print(error, file=sys.stderr)
        return 1
    if options.record is not None:
        write_record(options.record, values, [answer for record in sessions.values() for answer in record])
    for question, difference in sorted(found, key=lambda pair: len(pair[0]))[:SHOWN]:
        print(f"DIFFERENCE in {difference}\n  asked: {question}")
    print(
        f"oracle: compared {told['values']:,} argument values with {NEW_GUARD} (of near twins it takes {told['same twins']:,} "
        f"for the same and {told['other twins']:,} not) and {told['sessions']:,} sessions with {NEW_GUARD} and {OLD_GUARD}: "
        f"{told['calls']:,} calls, {told['execute']:,} executed, {told['suppress']:,} answered, {told['trip']:,} trips; "
        f"{len(found)} differences"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
