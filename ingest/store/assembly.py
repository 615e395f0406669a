"""One session's facts from what its sources tell of it.

A session's records may come from several files, which `copies` makes into one log. Telemetry has no uuid: delivered twice it is
equal in all but place, whatever the source, while two prompts in the same millisecond differ and stay two.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from operator import itemgetter

from msgspec import Struct

from ingest.records import AnyRecord, CardEvent, Event, SessionFacts, SourceRecord
from ingest.store.copies import merge

SUB_AGENT = "/agent-"
"""Stands between a parent's session id and the rest of its sub-agent's."""


_AGENT = re.compile("#[^#]+#")
"""Within a prompt id, an agent's."""


class Told(Struct, gc=False):
    """What one source says of one session."""

    source_path: str
    source_bytes: int
    client: str
    records: Sequence[SourceRecord]
    """In the order in which they were read."""


class Parent(Struct, gc=False):
    """What a sub-agent's parent says that concerns its sub-agents."""

    uuids: Collection[str]
    """Of its records: what launched an agent is copied into the agent's log, and stays the parent's."""
    events: Sequence[Event]


NO_PARENT = Parent((), ())


def parent_of(session_id: str) -> str | None:
    """None of a session that is no sub-agent's."""
    parent, separator, _ = session_id.partition(SUB_AGENT)
    return parent if separator else None


def what_parent_tells(told: Sequence[Told]) -> Parent:
    records = [record for source in _longest_first(told) for record in source.records]
    events = [record for record in records if isinstance(record, Event) and _is_of_an_agent(record)]
    return Parent({record.uuid for record in records if record.uuid is not None}, events)


def session_facts(session_id: str, told: Sequence[Told], parent: Parent = NO_PARENT) -> SessionFacts:
    """A session of which no source says anything any more comes empty. parent: given for a sub-agent's session."""
    chains: list[list[AnyRecord]] = []
    cards: list[list[CardEvent]] = []
    events: list[Event] = []
    clients: list[tuple[int, str]] = []
    for source in _longest_first(told):
        chain, beside, shown = _sorted_out(source.records)
        clients.append((0 if chain else 1 if beside else 2, source.client))
        chains.append([record for record in chain if record.uuid not in parent.uuids] if parent.uuids else chain)
        events.extend(beside)
        cards.append(shown)
    _, is_sub_agent, agent = session_id.partition(SUB_AGENT)
    events.extend(event for event in parent.events if _concerns(event, agent))
    log = merge([chain for chain in chains if chain])
    return SessionFacts(
        session_id=session_id,
        kind="sub-agent" if is_sub_agent else "main",
        parent_session_id=parent_of(session_id),
        # Of the longest source that tells of the conversation itself, if one does.
        client=min(clients, key=itemgetter(0), default=(0, "unknown"))[1],
        records=log.records,
        events=tuple(_in_time(events)),
        cards=merge([shown for shown in cards if shown]).records,
        differing_copies=log.differing,
        divergent_copies=log.divergent,
    )


def _longest_first(told: Sequence[Told]) -> Sequence[Told]:
    if len(told) < 2:
        return told
    return sorted(told, key=lambda source: (-source.source_bytes, source.source_path))


def _sorted_out(records: Sequence[SourceRecord]) -> tuple[list[AnyRecord], list[Event], list[CardEvent]]:
    """The source's part of the chain, telemetry and the like, and the cards."""
    chain: list[AnyRecord] = []
    beside: list[Event] = []
    cards: list[CardEvent] = []
    # By place, not by when it was read: a record that another one was written into is read after it.
    for record in sorted(records, key=_offset):
        if isinstance(record, CardEvent):
            cards.append(record)
        elif isinstance(record, Event) and record.channel != "log":
            beside.append(record)
        else:
            chain.append(record)
    return chain, beside, cards


def _offset(record: SourceRecord) -> int:
    return record.place.offset


def _is_of_an_agent(event: Event) -> bool:
    """Whether it concerns any sub-agent; `_concerns` tells which. Nearly all events of a parent concern none."""
    return event.name == "subagent_execution" or _AGENT.search(event.prompt_id or "") is not None


def _concerns(event: Event, agent: str) -> bool:
    return event.name == "subagent_execution" or f"#{agent}#" in (event.prompt_id or "")


def _in_time(events: Sequence[Event]) -> list[Event]:
    """By time, those without one last; equal times keep the order of their sources."""
    return sorted(dict.fromkeys(events), key=lambda event: (event.ts is None, event.ts or 0))
