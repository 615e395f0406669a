"""The same records in several places, files packed or linked, and files that nobody can read among others."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence

from backports import zstd

from tests.cases.case import FIRST, REPLAY
from tests.cases.damage_case import CHATS, DamageCase, Seen, changed, first, healthy_lines, records, whole
from tests.support.log_script import FinalAnswer, Log, Prompt, Use, answered

ONE_CALL = Log((Prompt(), answered(Use("c9", {"command": "make nine"})), FinalAnswer()))
ONE_CALL_SEEN = Seen(classes=(FIRST,), turns=1)


def _resumed_copy() -> DamageCase:
    name = "D11 resumed into a file that begins with the old one"
    old, new = healthy_lines(f"{name} A"), healthy_lines(f"{name} B", ONE_CALL)
    new[0] = changed(new[0], parentUuid=records(old)[-1]["uuid"])
    return DamageCase(
        name=name,
        reports="claude-code-log#56, #124; claude-code#5034",
        files={f"{CHATS}/A.jsonl": whole(old), f"{CHATS}/B.jsonl": whole([*old, *new])},
        sessions={" A": Seen(), " B": ONE_CALL_SEEN},
    )


def _forked_copy() -> DamageCase:
    """As Qwen Code forks: each record copied with the new session's id, its own uuid and where it came from."""
    name = "D11 forked copy"
    old = healthy_lines(f"{name} A")
    copied = [
        changed(line, sessionId=f"{name} B", forkedFrom={"sessionId": f"{name} A", "messageUuid": record["uuid"]})
        for line, record in zip(old, records(old), strict=True)
    ]
    own = healthy_lines(f"{name} B", Log((Prompt(), answered(Use("c4", {"command": "make four"})), FinalAnswer())))
    own[0] = changed(own[0], parentUuid=records(old)[-1]["uuid"])
    return DamageCase(
        name=name,
        reports="QWEN_CODE 6: what a fork handled counts in the other session, and is known to the guard here",
        files={f"{CHATS}/A.jsonl": whole(old), f"{CHATS}/B.jsonl": whole([*copied, *own])},
        sessions={" A": Seen(), " B": Seen(classes=(REPLAY,), turns=1)},
    )


def _appended_again() -> DamageCase:
    name = "D records appended again"
    lines = healthy_lines(name)
    return DamageCase(
        name=name,
        reports="github/copilot-sdk#418: a session that resumes writes its history again",
        files={f"{CHATS}/{name}.jsonl": whole([*lines[:14], *lines[:14], *lines[14:], *lines[3:9]])},
    )


def _sub_agent(name: str, echo: Callable[[bytes], bytes]) -> DamageCase:
    """The parent's first call launches the agent; the agent's log begins with a copy of the record that did."""
    launch = Use("c1", {"prompt": "look"}, "agent")
    parent = healthy_lines(name, Log((Prompt(), answered(launch), FinalAnswer())))
    agent = f"agent-general-purpose-{launch.id}"
    own = healthy_lines(f"{name} inner", Log((Prompt(), answered(launch, has_text=True), FinalAnswer())))
    inner = [
        changed(line, sessionId=name, isSidechain=True, agentId=agent.removeprefix("agent-"))
        for line in own
        if json.loads(line)["type"] != "system"
    ]
    for at, line in enumerate(inner):
        inner[at] = changed(line, parentUuid=json.loads(inner[at - 1])["uuid"] if at else None)
    copied = echo(parent[first(parent, "assistant")])
    return DamageCase(
        name=name,
        reports="vshulcz/deja-vu#1384, codeburn#974, majiayu000/ccstats#85: the agent's ids are its own",
        files={
            f"{CHATS}/{name}.jsonl": whole(parent),
            f"projects/-p/subagents/{name}/{agent}.jsonl": whole([copied, *inner]),
        },
        sessions={"": ONE_CALL_SEEN, f"/{agent}": Seen(classes=(FIRST,), turns=1, kind="sub-agent")},
    )


def _one_agent_id_under_two_parents() -> DamageCase:
    name = "D15 one agent id under two parents"
    files: dict[str, bytes] = {}
    for parent, command in (("A", "make one"), ("B", "make two")):
        session_id = f"{name} {parent}"
        inner = healthy_lines(f"{session_id} inner", Log((Prompt(), answered(Use("c1", {"command": command})), FinalAnswer())))
        inner = [changed(line, sessionId=session_id, isSidechain=True, agentId="a1b2") for line in inner]
        files[f"{CHATS}/{session_id}.jsonl"] = whole(healthy_lines(session_id, ONE_CALL))
        files[f"projects/-p/subagents/{session_id}/agent-a1b2.jsonl"] = whole(inner)
    agent = Seen(classes=(FIRST,), turns=1, kind="sub-agent")
    return DamageCase(
        name=name,
        reports="claude-code#44597",
        files=files,
        sessions={" A": ONE_CALL_SEEN, " B": ONE_CALL_SEEN, " A/agent-a1b2": agent, " B/agent-a1b2": agent},
    )


def _packed(pack: Callable[[bytes], bytes], suffix: str, *, plain_lines: int) -> DamageCase:
    """plain_lines: how many lines of the plain twin are there; 0 for no twin."""
    twin = f" beside {plain_lines} plain lines" if plain_lines else " alone"
    name = f"D17 packed as {suffix}{twin}"
    lines = healthy_lines(name)
    files = {f"{CHATS}/{name}.jsonl.{suffix}": pack(whole(lines))}
    if plain_lines:
        files[f"{CHATS}/{name}.jsonl"] = whole(lines[:plain_lines])
    return DamageCase(name=name, reports="vshulcz/deja-vu#3640; PixelPaw-Labs/codex-trace#101, #212", files=files)


def _packed_under_a_plain_name() -> DamageCase:
    name = "D17 packed under a plain name"
    log = gzip.compress(whole(healthy_lines(name)))
    return DamageCase(name=name, reports="codex-trace#212: the bytes tell, not the name", files={f"{CHATS}/{name}.jsonl": log})


def _packed_and_damaged() -> DamageCase:
    name = "D17 packed and damaged"
    packed = zstd.compress(whole(healthy_lines(name)))
    return DamageCase(
        name=name,
        reports="codex-trace#101: what cannot be read is listed",
        files={
            f"{CHATS}/{name}.jsonl": whole(healthy_lines(name)),
            f"{CHATS}/broken.jsonl.zst": packed[: len(packed) // 2],
            f"{CHATS}/old.jsonl.xz": b"\xfd7zXZ\x00" + packed,
        },
        statuses={f"{CHATS}/broken.jsonl.zst": "skipped", f"{CHATS}/old.jsonl.xz": "skipped"},
        skipped={f"{CHATS}/broken.jsonl.zst": "cannot be unpacked", f"{CHATS}/old.jsonl.xz": "neither gzip nor zstd"},
    )


def _packed_and_cut() -> DamageCase:
    """The second member lacks its end, as while a tool appends it: what the first held is kept, and the cut is told."""
    name = "D17 packed and cut"
    lines = healthy_lines(name)
    packed = gzip.compress(whole(lines)) + gzip.compress(b"never read")[:12]
    path = f"{CHATS}/{name}.jsonl.gz"
    return DamageCase(
        name=name,
        reports="codex-trace#101",
        files={path: packed},
        problems=[(path, 0, "not-unpacked", "break off")],
        statuses={path: "tail-pending"},
    )


def _links() -> DamageCase:
    name = "D18 links"
    return DamageCase(
        name=name,
        reports="mikehasa/agentacct#84, jhlee0409/claude-code-history-viewer#259, gi11es/deckard#51",
        files={
            f"{CHATS}/{name} A.jsonl": whole(healthy_lines(f"{name} A")),
            f"elsewhere/{name} B.jsonl": whole(healthy_lines(f"{name} B")),
        },
        links={
            "projects/same": "projects/-p",
            "projects/-p/up": ".",
            f"{CHATS}/cycle": "projects",
            f"{CHATS}/foreign.jsonl": f"elsewhere/{name} B.jsonl",
            "broken.jsonl": "nowhere.jsonl",
        },
        sessions={" A": Seen(), " B": Seen()},
        skipped={"broken.jsonl": "not there"},
    )


def _one_bad_file_among_many() -> DamageCase:
    name = "F6 one bad file among many"
    numbers = [f" {number:02}" for number in range(34)]
    files = {f"{CHATS}/{name}{number}.jsonl": whole(healthy_lines(name + number, ONE_CALL)) for number in numbers}
    bad = f"{CHATS}/{name} bad.jsonl"
    return DamageCase(
        name=name,
        reports="d-kimuson/claude-code-viewer#160, agentacct#84, claude-code-action#878",
        files={**files, bad: b"\x1f\x8b\x08\x00broken"},
        sessions=dict.fromkeys(numbers, ONE_CALL_SEEN),
        statuses={bad: "skipped"},
        skipped={bad: "cannot be unpacked"},
    )


def _two_roots(name: str, older: Sequence[bytes], *problems: tuple[str, int, str, str]) -> DamageCase:
    lines = healthy_lines(name)
    return DamageCase(
        name=name,
        reports="derived: one session, the longest consistent copy counts, never the sum",
        files={f"backup/{CHATS}/{name}.jsonl": whole(older), f"home/{CHATS}/{name}.jsonl": whole(lines)},
        problems=problems,
    )


def _parted_copies() -> DamageCase:
    """Both were written on after the backup was taken; the shorter has a call of its own."""
    name = "F11 two roots that went apart"
    lines = healthy_lines(name)
    call = changed(lines[17], uuid="own call", parentUuid=records(lines)[14]["uuid"])
    return _two_roots(
        name,
        [*lines[:15], call],
        (f"backup/{CHATS}/{name}.jsonl", 16, "divergent-copy", "another way"),
    )


COPIES: Sequence[DamageCase] = (
    _resumed_copy(),
    _forked_copy(),
    _appended_again(),
    _sub_agent("D14 echo of the launch as the parent's record", lambda line: line),
    _sub_agent("D14 echo of the launch as the agent's record", lambda line: changed(line, isSidechain=True, agentId="x")),
    _one_agent_id_under_two_parents(),
    *(
        _packed(pack, suffix, plain_lines=plain)
        for pack, suffix in ((gzip.compress, "gz"), (zstd.compress, "zst"))
        for plain in (0, 9, 22)
    ),
    _packed_under_a_plain_name(),
    _packed_and_damaged(),
    _packed_and_cut(),
    _links(),
    _one_bad_file_among_many(),
    _two_roots("F11 two roots, one older", healthy_lines("F11 two roots, one older")[:9]),
    _parted_copies(),
)
