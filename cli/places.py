"""Evidence lines for the eye: the end of a path tells a person enough, and a table has no room for more."""

from __future__ import annotations

from collections.abc import Sequence

KEPT_PARTS = 2


def short_place(place: str) -> str:
    """`/home/x/.qwen/projects/p/chats/S.jsonl:14` as `.../chats/S.jsonl:14`; JSON and CSV keep the whole."""
    parts = place.replace("\\", "/").split("/")
    return place if len(parts) <= KEPT_PARTS + 1 else ".../" + "/".join(parts[-KEPT_PARTS:])


def short_places(places: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(short_place(place) for place in places[:most])
    return f"{shown} and {len(places) - most} more" if len(places) > most else shown or "-"
