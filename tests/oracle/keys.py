"""This project's key of a call, the way an ingested log comes by it, against the client's.

Each question's arguments are compared as they were sent and as the client would log them (JavaScript writes its own numbers):
the session log's reader with the key's short cut has to find the client's key, and the slow decoder (for what the fast one
refuses) with the key's exact path what the client hashes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from analysis.fingerprint import canonical_json, exact_canonical_json, fingerprint
from ingest.readers import lenient_json
from ingest.readers.qwen_chat import QwenChatReader
from ingest.records import Response

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def differences(questions: Sequence[dict[str, Any]], answers: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """(the question's text, in what it differs)"""
    tools = [question["tool"] for question in questions]
    sent = [question["text"] for question in questions]
    logged = [
        answer.get("logged", text) if _can_stand_in_a_log(tool, text) else text
        for answer, tool, text in zip(answers, tools, sent, strict=True)
    ]
    for form, texts in (("sent", sent), ("logged", logged)):
        for tool, text, answer, found in zip(tools, texts, answers, _keys_read(tools, texts), strict=True):
            if found is None or not found.startswith(answer["key"]):
                yield text, f"as {form}, tool {tool!r}: key {found}, the client's {answer['key']} of {answer.get('canonical')}"
            exact = exact_canonical_json(_arguments(text))
            if "canonical" in answer and exact.decode() != answer["canonical"]:
                yield text, f"as {form}, exact path: {exact!r}, the client's {answer['canonical']!r}"
            elif "canonical" not in answer and exact != canonical_json(_arguments(text)):
                yield text, f"as {form}, exact path: {exact!r}, short cut {canonical_json(_arguments(text))!r}"


def _keys_read(tools: Sequence[str], texts: Sequence[str]) -> Iterator[str | None]:
    """The key that the reader finds for each call; None where it finds no such call."""
    reader = QwenChatReader("/chats/asked.jsonl", fingerprint)
    calls = list(zip(map(str, range(len(texts))), tools, texts, strict=True))
    lines = b"".join(_line(*call) for call in calls if _can_stand_in_a_log(call[1], call[2]))
    found = {row.uuid: row for row in (*reader.feed(lines), *reader.finish()) if isinstance(row, Response)}
    for uuid, tool, text in calls:
        if _can_stand_in_a_log(tool, text):
            digest = found[uuid].calls[0].fingerprint if uuid in found else None
            yield digest.hex() if digest is not None else None
        else:
            yield fingerprint(tool, _arguments(text))[0].hex()


def _can_stand_in_a_log(tool: str, text: str) -> bool:
    """Arguments are objects before they are logged. A name with half a surrogate pair is one the reader stores otherwise."""
    return text.startswith("{") and not _HALF_A_PAIR.search(tool)


def _line(uuid: str, tool: str, text: str) -> bytes:
    call = f'{{"functionCall":{{"id":"c","name":{json.dumps(tool)},"args":{text}}}}}'
    common = f'"uuid":"{uuid}","parentUuid":null,"sessionId":"asked","type":"assistant","version":"0.24.4"'
    return f'{{{common},"message":{{"role":"model","parts":[{call}]}}}}\n'.encode()


def _arguments(text: str) -> Any:
    value = lenient_json.loads(text.encode())
    return {} if value is None else value


def twins(questions: Sequence[dict[str, Any]], answers: Sequence[dict[str, Any]]) -> Iterable[bool]:
    """Of each pair that is nearly the same, whether to the client it is the same."""
    for before, question, first, second in zip(questions, questions[1:], answers, answers[1:], strict=False):
        if question.get("twin") and before["tool"] == question["tool"]:
            yield first["key"] == second["key"]
