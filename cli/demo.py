"""The demo's logs: the real recordings in data/, replayed over thirty days.

The recordings span one afternoon, and a dashboard of one afternoon shows nothing. So each day gets copies of them whose time
stamps are moved and whose ids are new; nothing else in a log changes, since what the client wrote is the point. Which recording
comes how often is drawn: ordinary sessions mostly, and on UPGRADE_DAY the old client with its silent stops gives way to the
new one. The draw is seeded and the end date fixed, so that two machines see the same month; whoever shows it says so (LABEL).
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from ingest.errors import LoopscopeError

SEED = 9436
LABEL = f"Demo: real recordings replayed over thirty days of shifted time stamps (seed {SEED})"
DAYS = 30
FIRST_DAY = datetime(2026, 11, 1, tzinfo=UTC)
UPGRADE_DAY = 18
DATA = Path(__file__).parent.parent / "data"

_UUID = re.compile(rb"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])")
_ISO_TIME = re.compile(rb"(?<!\d)(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?=(?:\.\d+)?Z)")
# Seconds since the epoch, alone (span and log times) or followed by milli- or nanoseconds. Everything in a recording that
# looks like one is one, the milliseconds inside a client-made call id included, and those have to stay alike everywhere.
_EPOCH = re.compile(rb"(?<![0-9a-f.])(1[789]\d{8})((?:\d{3}|\d{9})?)(?![0-9a-f])")


class NoRecordings(LoopscopeError):
    """The program runs from where data/ is not."""


class FolderTaken(LoopscopeError):
    """What stands where the demo's logs go is not the demo's, and nothing of it may be deleted."""


@dataclass(frozen=True)
class Recording:
    name: str
    files: tuple[tuple[str, bytes], ...]
    """Path below the recording's folder, and content."""
    started_at: datetime
    weight: float
    is_old: bool
    """A client from before the upgrade."""

    def copied(self, copy: str, seconds: int) -> Iterator[tuple[str, bytes]]:
        """The files moved by whole seconds, which leaves all fractions as recorded, with ids that belong to `copy` alone."""

        def new_id(match: re.Match[bytes]) -> bytes:
            digest = hashlib.blake2b(match[0], key=copy.encode(), digest_size=16).digest()
            return str(UUID(bytes=digest, version=4)).encode()

        def moved_iso(match: re.Match[bytes]) -> bytes:
            moment = datetime.fromisoformat(match[1].decode()) + timedelta(seconds=seconds)
            return moment.isoformat().encode()

        def moved_epoch(match: re.Match[bytes]) -> bytes:
            return str(int(match[1]) + seconds).encode() + match[2]

        for path, content in self.files:
            path = _UUID.sub(new_id, path.encode()).decode()
            yield path, _EPOCH.sub(moved_epoch, _ISO_TIME.sub(moved_iso, _UUID.sub(new_id, content)))


def build_demo(target: Path) -> Path:
    """The folder of logs below `target`, made anew only when it is not what this version would make. Raises FolderTaken."""
    recordings = read_recordings(DATA)
    logs, stamp = target / "logs", target / "logs-made-from"
    key = _key(recordings)
    if logs.is_dir() and stamp.is_file() and stamp.read_text(encoding="utf-8") == key:
        return logs
    if logs.exists() and not stamp.is_file():
        raise FolderTaken(f"{logs} is there already and is not of a demo. Move it away, or name another folder with --folder.")
    target.mkdir(parents=True, exist_ok=True)
    stamp.write_text("not yet whole", encoding="utf-8")
    shutil.rmtree(logs, ignore_errors=True)
    for path, content in month(recordings):
        file = logs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    stamp.write_text(key, encoding="utf-8")
    return logs


def month(recordings: list[Recording]) -> Iterator[tuple[str, bytes]]:
    """Path and content of every log of the month, in the order of time."""
    chance = random.Random(SEED)
    for day in range(DAYS):
        date = FIRST_DAY + timedelta(days=day)
        weights = [recording.weight * _share(recording, day) for recording in recordings]
        sessions = 5 + int(chance.random() * 6) if date.weekday() >= 5 else 12 + int(chance.random() * 10)
        starts = sorted(8 * 3600 + int(chance.random() * 10 * 3600) for _ in range(sessions))
        for number, start in enumerate(starts):
            (recording,) = chance.choices(recordings, weights)
            copy = f"{date:%Y-%m-%d}/{number:02}-{recording.name.replace('/', '-')}"
            shift = date + timedelta(seconds=start) - recording.started_at
            for path, content in recording.copied(copy, int(shift.total_seconds())):
                yield f"{copy}/{path}", content


def _share(recording: Recording, day: int) -> float:
    """Some stay on the old client for a few days longer."""
    old = 1.0 if day < UPGRADE_DAY else max(0.0, 0.3 - 0.05 * (day - UPGRADE_DAY))
    return old if recording.is_old else 1.0 - old


def read_recordings(data: Path) -> list[Recording]:
    """Raises NoRecordings."""
    try:
        expected = json.loads((data / "expected.json").read_bytes())["recordings"]
    except FileNotFoundError:
        raise NoRecordings(f"The demo needs the recordings in {data}, which come with the source. Try a clone of it.") from None
    return [_read_recording(data / "recordings" / name, name, truth) for name, truth in expected.items()]


def _read_recording(folder: Path, name: str, truth: dict[str, Any]) -> Recording:
    files = tuple((str(path.relative_to(folder)), path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file())
    times = (match[1] for path, content in files if path.endswith(".jsonl") for match in _ISO_TIME.finditer(content))
    first = datetime.fromisoformat(min(times).decode()).replace(tzinfo=UTC)
    return Recording(name, files, first, _weight(truth), is_old=tuple(map(int, name.split("/")[0].split("."))) < (0, 24))


def _weight(truth: dict[str, Any]) -> float:
    """How common a session like this is, which is made up: plain work most, then silent stops, then the rest."""
    batches = [batch for turn in truth["turns"] for batch in turn["responses"]]
    verdicts = {turn["verdict"] for turn in truth["turns"]}
    if verdicts == {"completed"} and len(batches) <= 8 and not any("dup" in batch for batch in batches):
        return 10.0
    return 3.0 if "silent-hang" in verdicts else 1.0


def _key(recordings: list[Recording]) -> str:
    """Names what the logs are made from: the recordings and this module, with the seed, dates and weights in it."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for recording in recordings:
        for path, content in recording.files:
            digest.update(f"{recording.name}/{path}".encode() + content)
    return digest.hexdigest()
