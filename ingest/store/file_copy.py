"""Putting a copy of a file in another's place: whole or not at all, on the disk and not only in its cache."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def copy_into_place(source: Path, target: Path) -> None:
    copy = target.with_name(target.name + ".new")
    try:
        copy.unlink(missing_ok=True)  # of a run that was killed; its mode may be another
        shutil.copyfile(source, copy)
        with copy.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(copy, target)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
