"""The demo's logs differ from the recordings in time and ids, and in nothing else."""

import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from cli.demo import DATA, DAYS, FIRST_DAY, LABEL, UPGRADE_DAY, NoRecordings, Recording, build_demo, month, read_recordings
from cli.engine import run_ingest

DAY = 24 * 3600
SESSION = "4191c254-44cb-43f8-8cac-7831fd65ec9f"


@pytest.fixture(scope="module")
def recordings() -> list[Recording]:
    return read_recordings(DATA)


@pytest.fixture(scope="module")
def logs(recordings: list[Recording]) -> dict[str, bytes]:
    return dict(month(recordings))


def moved(text: str, seconds: int = DAY) -> str:
    recording = Recording("0.24.4/made-up", (("log", text.encode()),), FIRST_DAY, weight=1.0, is_old=False)
    ((_, content),) = recording.copied("a copy", seconds)
    return content.decode()


@pytest.mark.parametrize(
    ("recorded", "a_day_later"),
    [
        ('"timestamp":"2026-11-30T17:47:18.249Z"', '"timestamp":"2026-12-01T17:47:18.249Z"'),
        ('"startedAt":1796061863394', '"startedAt":1796148263394'),
        ('"_hrTime": [\n    1796061913,\n    88000000\n  ]', '"_hrTime": [\n    1796148313,\n    88000000\n  ]'),
        ('"timeUnixNano":"1796061474629000000"', '"timeUnixNano":"1796147874629000000"'),
        ('"started_at": 1796061239.163', '"started_at": 1796147639.163'),
        ('"id":"call_1796060775961_1l9dabc"', '"id":"call_1796147175961_1l9dabc"'),
        ('"prompt_id":"compress-1796061812526"', '"prompt_id":"compress-1796148212526"'),
    ],
)
def test_every_way_of_writing_a_time_moves_and_fractions_stay(recorded: str, a_day_later: str) -> None:
    assert moved(recorded) == a_day_later


@pytest.mark.parametrize(
    "text",
    [
        '"duration_ms":855',
        '"traceId": "ddd1796061913ba28c2060b968758c5e"',
        '"_performanceOffset": -0.1796061913',
        '"args":{"n":123456789012345680000}',
        '"version":"0.24.4"',
    ],
)
def test_what_is_no_time_stays(text: str) -> None:
    assert moved(text) == text


def test_an_id_becomes_another_and_the_same_one_everywhere_in_a_copy() -> None:
    text = moved(f'{{"sessionId":"{SESSION}","prompt_id":"{SESSION}########1"}}')
    session_id, prompt_id = json.loads(text).values()
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", session_id)
    assert session_id != SESSION
    assert prompt_id == f"{session_id}########1"


def skeleton(content: bytes) -> bytes:
    """The content with all its digits and ids blanked."""
    return re.sub(rb"\d", b"0", re.sub(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", b"ID", content))


def test_each_file_is_its_recording_but_for_times_and_ids(logs: dict[str, bytes], recordings: list[Recording]) -> None:
    recorded: dict[str, set[bytes]] = {}
    for recording in recordings:
        name = recording.name.replace("/", "-")
        recorded[name] = {skeleton(content) for _, content in recording.files}
    for path, content in logs.items():
        name = path.split("/")[1].split("-", 1)[1]
        assert skeleton(content) in recorded[name], path


def test_every_time_lies_in_the_thirty_days_and_each_day_has_sessions(logs: dict[str, bytes]) -> None:
    end = FIRST_DAY + timedelta(days=DAYS)
    days = set()
    for path, content in logs.items():
        for text in re.findall(rb'timestamp": ?"([^"]+)"', content):
            moment = datetime.fromisoformat(text.decode())
            assert FIRST_DAY <= moment < end, path
            assert f"{moment:%Y-%m-%d}" == path.split("/")[0]
            days.add(moment.date())
        for seconds in re.findall(rb'[tT]ime": ?\[\s*(\d+)', content):
            assert FIRST_DAY <= datetime.fromtimestamp(int(seconds), UTC) < end, path
    assert len(days) == DAYS


def test_no_two_copies_share_a_session_and_records_still_name_their_parents(logs: dict[str, bytes]) -> None:
    sessions = [path for path in logs if re.search(r"/chats/[0-9a-f-]{36}\.jsonl$", path)]
    names = [path.rsplit("/", 1)[1] for path in sessions]
    assert len(set(names)) == len(names)
    assert 300 <= len(names) <= 600
    seen: set[str] = set()
    for path in sessions:
        records = [json.loads(line) for line in logs[path].split(b"\n") if line]
        assert {record["sessionId"] for record in records} == {path.rsplit("/", 1)[1].removesuffix(".jsonl")}
        own = [record["uuid"] for record in records]
        assert {record["parentUuid"] for record in records} <= {*own, None}
        assert seen.isdisjoint(own)
        seen.update(own)


def test_the_old_client_leaves_after_the_upgrade(logs: dict[str, bytes]) -> None:
    days_of: dict[str, set[int]] = {"0.21.10": set(), "0.24.4": set()}
    for path in logs:
        day, copy = path.split("/")[:2]
        version = copy.split("-")[1]
        days_of.setdefault(version, set()).add((datetime.fromisoformat(day).replace(tzinfo=UTC) - FIRST_DAY).days)
    assert min(days_of["0.24.4"]) == UPGRADE_DAY
    assert max(days_of["0.21.10"]) < UPGRADE_DAY + 6


def test_two_builds_give_the_same_bytes(tmp_path: Path) -> None:
    def digest(folder: Path) -> str:
        total = hashlib.sha256()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            total.update(str(path.relative_to(folder)).encode() + path.read_bytes())
        return total.hexdigest()

    assert digest(build_demo(tmp_path / "one")) == digest(build_demo(tmp_path / "two"))


def test_logs_that_stand_are_left_alone_and_those_of_another_version_made_again(tmp_path: Path) -> None:
    logs = build_demo(tmp_path)
    extra = logs / "left-by-hand"
    extra.touch()
    build_demo(tmp_path)
    assert extra.exists()
    (tmp_path / "logs-made-from").write_text("another version's")
    build_demo(tmp_path)
    assert not extra.exists()


def turns_of(db: Path) -> dict[str, list[object]]:
    """What the store says of each main session's turns, by session."""
    query = """
        SELECT t.session_id, list([t.origin, t.entry_point, t.verdict, CAST(t.calls AS VARCHAR)] ORDER BY t.turn_no)
        FROM turns t JOIN sessions s USING (session_id) WHERE s.kind = 'main' GROUP BY ALL
    """
    with duckdb.connect(str(db), read_only=True) as store:
        return dict(store.execute(query).fetchall())


def test_a_copy_is_judged_as_its_recording_and_the_store_bears_the_label(tmp_path: Path) -> None:
    """What the recordings themselves come to is held against the truth in tests/conformance."""
    logs, demo, original = build_demo(tmp_path), tmp_path / "demo.duckdb", tmp_path / "original.duckdb"
    summary = run_ingest([logs], demo, label=LABEL)
    assert (summary.problems, summary.skipped, summary.unreadable) == (0, [], [])
    run_ingest([DATA / "recordings"], original)
    with duckdb.connect(str(demo), read_only=True) as store:
        assert store.execute("SELECT value FROM store WHERE key = 'label'").fetchall() == [(LABEL,)]

    recorded, copied = turns_of(original), turns_of(demo)
    sessions = {
        log.relative_to(DATA / "recordings").parts[:2]: log.stem
        for log in DATA.glob("recordings/*/*/qwen-home/projects/*/chats/*.jsonl")
        if "." not in log.stem
    }
    copies = [log for log in logs.glob("*/*/qwen-home/projects/*/chats/*.jsonl") if "." not in log.stem]
    assert {log.stem for log in copies} == set(copied)
    for log in copies:
        _, version, scenario = log.relative_to(logs).parts[1].split("-", 2)
        assert copied[log.stem] == recorded[sessions[version, scenario]], log


def test_without_the_recordings_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(NoRecordings, match=re.escape(str(tmp_path))):
        read_recordings(tmp_path)
