"""Packed records come back as they went in, from this version of the program and from the first that packed them."""

from __future__ import annotations

import base64
from functools import partial

from msgspec.structs import replace

from ingest.records import Call, Event, Place, Prompt, Response, SourceRecord
from ingest.store.record_pack import pack, unpack
from tests.ingest.store.records import common, every_kind, whole_card

CARD = whole_card("/a", 7)
PACKED_BY_SCHEMA_5 = """
KLUv/WAOAsUOALYaYkFAbdMGG56iOIfM1JMFR2FfpYhGvzQiyjMBBecHwCyKI3JDSukN0oRTxGZBuUCbYdDZmpHn+h1GrgO7YXD+N2uJyFMAUABRALdDBQNA
leBSv95W832Opf+eEKazQHpkZ6vOuQ8KUGF9wdrmCYoY8SidTRhuhGX6FWr7Q7nnOdSW0chcNDZGLjRMcPDxKlyJXWFtswTjo3QmZbgQFat+UUnBg98H5cRw
5LAFXLDGYG3zBCqQSDxKZxMEbhT9whe9hiaPDr33dGV0bYf4fA4HyMKjapDxMjo2ZxFJm5+XtmFFqYWAkJDYOR+05n/Y+3D93EAggzUDrG2uwBOVA260d3UO
S99IJllEcz6oZSADMFhnsLaZAi1QMGy35//Vpr1RPCi58M7XjeXKkCSJXIpJ5PSjFkEjQaPVr9VBl8pYBjHiojJSxzb3yZPq6nenRxAGX4G9bbaAIaYKA24k
IrLJL39Y80F5qUdpeQV5MXRLH1pMOAqEkvvxq2ly5/XNMNfsyVh2Sx+zXi0ZHgBJhAMahEjdXAnzEuxxhBG+BLIDDKvVAAkgfg5Trro43mO0AzHTGkAXiP+Z
QfDsDpgBMDQIcRomHoEL7UFnuzO0UF0rwDUBOiMuoaI=
"""


def everything() -> list[SourceRecord]:
    return [*every_kind("/a"), CARD]


def nothing_refused(record: SourceRecord, name: str, value: object) -> None:
    raise AssertionError((record, name, value))


def places(records: list[SourceRecord]) -> list[Place]:
    return [record.place for record in records]


def test_every_field_of_every_type_comes_back() -> None:
    packed, kept = pack(everything(), nothing_refused)
    assert list(kept) == unpack(packed) == everything()
    assert places(unpack(packed)) == places(everything())


def test_what_an_earlier_program_packed_is_still_read() -> None:
    """A failure here is no reason to renew the text: stores hold such bytes, and their logs may be gone."""
    stored = unpack(base64.b64decode(PACKED_BY_SCHEMA_5))
    assert stored == everything()
    assert places(stored) == places(everything())


def test_a_lone_surrogate_is_spelled_out_wherever_it_stands() -> None:
    prompt = Prompt(**common("/a", 1, session_id="\ud800"))
    response = Response(**common("/a", 2), calls=(Call("\udc00", "t", 0, args_json='"é"'),))
    event = Event(**common("/a", 3), channel="log", name="n", attributes={"k\ud83d": "v\udfff"})
    packed, kept = pack([prompt, response, event], nothing_refused)
    assert (
        unpack(packed)
        == list(kept)
        == [
            replace(prompt, session_id="\\ud800"),
            replace(response, calls=(Call("\\udc00", "t", 0, args_json='"é"'),)),
            replace(event, attributes={"k\\ud83d": "v\\udfff"}),
        ]
    )


def told(refused: list[tuple[SourceRecord, str, object]], record: SourceRecord, name: str, value: object) -> None:
    refused.append((record, name, value))


def test_an_integer_that_no_column_holds_is_left_empty_and_told() -> None:
    largest = 2**63 - 1
    for value, is_kept in (largest, True), (-largest, True), (2**63, False), (2**64 - 1, False), (10**30, False):
        refused: list[tuple[SourceRecord, str, object]] = []
        record = Response(**common("/a", 2), tokens_out=value, tokens_in=5)
        packed, _ = pack([record], partial(told, refused))
        (stored,) = unpack(packed)
        assert isinstance(stored, Response)
        assert (stored.tokens_in, stored.tokens_out) == (5, value if is_kept else None)
        assert refused == ([] if is_kept else [(record, "tokens_out", value)])
