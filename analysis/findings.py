"""What analysis says of a session: plain rows, one type a table of the store.

Field names are the column names and the order does not matter to the store, so a new finding is a field here, a column in
`ingest/store/findings.sql` and nothing in between. Times are microseconds since the epoch in UTC.
"""

from __future__ import annotations

from msgspec import Struct


class SessionRow(Struct, kw_only=True):
    session_id: str
    kind: str
    parent_session_id: str | None = None
    forked_from: str | None = None
    client: str
    client_version: str | None = None
    entry_point: str
    entry_point_confidence: str
    guard_in_force: str
    cwd: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    same_response_duplicates: int | None = None
    """Calls beyond the first of their id in a response; None where no evidence could show them."""
    loop_detection: str = "unknown"
    """`on` or `off`: the client's own detector."""


class TurnRow(Struct, kw_only=True):
    session_id: str
    turn_no: int
    prompt_id: str | None = None
    origin: str
    started_at: int | None = None
    ended_at: int | None = None
    model: str | None = None
    client_version: str | None = None
    entry_point: str
    guard_in_force: str
    responses: int
    calls: int
    verdict: str
    """Never `running`: the view computes that from `open_ended`, `ended_at` and the clock."""
    reason: str
    confidence: str
    evidence: list[str]
    open_ended: bool = False
    """The log ends in the middle of this turn: while it is fresh, the turn is running."""
    progressed_at: int | None = None
    """When the conversation last moved, bookkeeping aside."""
    stale_at: int | None = None
    """From when on silence is a reason to doubt that the turn runs; None where it is not open-ended."""
    rests_on_a_limit: bool = False
    """Whether verdict or `stale_at` would be others if a tool of this corpus took longer."""
    context_kept: bool | None = None
    """Whether the model was told that the turn had been stopped; None where no evidence says."""
    looping: str | None = None
    inherited: bool = False


class ResponseRow(Struct, kw_only=True):
    session_id: str
    turn_no: int
    response_no: int
    ts: int | None = None
    model: str | None = None
    provider: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    stop_reason: str | None = None
    calls: int
    has_text: bool


class CallRow(Struct):
    session_id: str
    turn_no: int
    response_no: int
    call_no: int
    tool: str
    id_source: str
    call_class: str
    outcome: str
    args_json: str
    args_bytes: int
    args_state: str
    part: int
    source_path: str
    source_line: int
    ts: int | None = None
    model: str | None = None
    recorded_id: str | None = None
    provider_id: str | None = None
    fingerprint: bytes | None = None
    class_reason: str | None = None
    """What a person must know beside the class; for `unknown` why it is."""
    class_by_call_half: str | None = None
    """Class keyed on the call half of a composite id `CALL|ITEM`; None for other ids."""
    result_status: str | None = None
    error_class: str | None = None
    result_digest: bytes | None = None
    duration_ms: float | None = None
    uuid: str | None = None
    inherited: bool = False


class DeadCallRow(Struct, kw_only=True):
    session_id: str
    ts: int | None = None
    model: str | None = None
    tool: str
    recorded_id: str | None = None
    fingerprint: bytes | None = None
    args_json: str
    args_bytes: int
    source_path: str
    source_line: int


class OrphanRow(Struct, kw_only=True):
    """A result whose call is missing from the log: a hole in the log, shown among the problems."""

    session_id: str
    turn_no: int
    recorded_id: str | None = None
    source_path: str
    byte_offset: int
    line: int


class GuardRow(Struct, kw_only=True):
    guard: str
    about: str
    source: str


class DecisionRow(Struct, kw_only=True):
    """An exception: what no row says was `execute`."""

    guard: str
    session_id: str
    turn_no: int
    response_no: int
    call_no: int
    decision: str


class DivergenceRow(Struct, kw_only=True):
    guard: str
    session_id: str
    turn_no: int
    response_no: int
    call_no: int


class TripRow(Struct, kw_only=True):
    guard: str
    session_id: str
    turn_no: int
    response_no: int
    provider_id: str | None = None
    tool: str | None = None
    model: str | None = None
    basis: str
    recorded: bool
    told_user: bool | None = None
    telemetry: str
    trip_class: str | None = None
    """Class of the call that fired: `replay` (rightly stopped) or `collision` (a fresh call was killed)."""


class LoopEventRow(Struct, kw_only=True):
    session_id: str
    prompt_id: str | None = None
    turn_no: int | None = None
    loop_type: str
    ts: int | None = None
    model: str | None = None
    explained_by: str


class FindingRow(Struct, kw_only=True):
    finding_id: str
    kind: str
    session_id: str
    turn_no: int | None = None
    severity: int
    """1 is worst."""
    reason: str
    confidence: str
    evidence: list[str]
    what_to_try: str
    wasted_calls: int | None = None
    wasted_seconds: float | None = None
    wasted_tokens: int | None = None


class CardRow(Struct, kw_only=True):
    """A card that an interface shows which adds one at every start."""

    session_id: str
    interface_no: int
    """Each source of card events is an interface of its own, and each new beginning within one."""
    search: str
    """By which search an update finds its card: `reverse` or `forward`. Each card has a row for both."""
    card_no: int
    card_id: str | None = None
    """The call's id as the interface was told it."""
    surface: str
    tool: str | None = None
    round_no: int | None = None
    turn_no: int | None = None
    """With response_no and call_no the recorded call that the card stands for."""
    response_no: int | None = None
    call_no: int | None = None
    starts: int
    """Start events: several where one call was told again and again while it was streamed."""
    completions: int
    nth_of_id: int
    cards_of_id: int
    started_at: int | None = None
    finished_at: int | None = None
    state: str
    """In the source's own words."""
    result_lines: int
    is_stuck: bool
    ends_right: bool
    cause: str | None = None
    cause_is_certain: bool
    reason: str | None = None
    trip_guard: str | None = None
    trip_turn_no: int | None = None
    trip_response_no: int | None = None
    fixed_by: list[str]
    source_path: str
    source_line: int
    finished_line: int | None = None


class CardRemedyRow(Struct, kw_only=True):
    """What one remedy makes of one interface; the remedy `none` is the interface as it is."""

    session_id: str
    interface_no: int
    surface: str
    source_path: str
    search: str
    remedy: str
    about: str
    cards: int
    waiting: int
    wrong: int
    swallowed_calls: int
    """Genuine calls that no card shows."""
    run_again: int
    """Copies of a call that did not run and would."""
    loses: str | None = None


class OddCopyRow(Struct, kw_only=True):
    session_id: str
    kind: str
    """`divergent-copy`: from here on it goes another way. `differing-record`: this one record says something else."""
    source_path: str
    byte_offset: int
    line: int


class SessionFindings(Struct, kw_only=True):
    """The rows of one session. `session` is None where there is no prompt and no call: such logs make no session."""

    session: SessionRow | None = None
    turns: list[TurnRow] = []
    responses: list[ResponseRow] = []
    calls: list[CallRow] = []
    dead_calls: list[DeadCallRow] = []
    orphans: list[OrphanRow] = []
    odd_copies: list[OddCopyRow] = []
    decisions: list[DecisionRow] = []
    divergences: list[DivergenceRow] = []
    trips: list[TripRow] = []
    loop_events: list[LoopEventRow] = []
    findings: list[FindingRow] = []
    cards: list[CardRow] = []
    card_remedies: list[CardRemedyRow] = []
