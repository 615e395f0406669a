"""Putting a copy of a file in another's place, whole or not at all, and putting a damaged one out of the way."""

from __future__ import annotations

import errno
import os
import shutil
from itertools import count
from pathlib import Path

_AT_ONCE = 1 << 30
_NOT_HERE = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM)
"""What a file system says that cannot copy by itself."""


def copy_into_place(source: Path, target: Path) -> None:
    """On the disk when it returns, and not only in its cache. Raises OSError."""
    copy = target.with_name(target.name + ".new")
    try:
        copy.unlink(missing_ok=True)  # of a run that was killed; its mode may be another
        _copy(source, copy)
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


def _copy(source: Path, target: Path) -> None:
    """By the file system itself where it can: some share the blocks of both files, none carries them through this process."""
    if not hasattr(os, "copy_file_range"):
        shutil.copyfile(source, target)
        return
    try:
        with source.open("rb") as read, target.open("wb") as written:
            while os.copy_file_range(read.fileno(), written.fileno(), _AT_ONCE):
                pass
    except OSError as e:
        if e.errno not in _NOT_HERE:
            raise
        shutil.copyfile(source, target)


def set_aside(*paths: Path) -> Path | None:
    """Renames those that are there, each with one number behind its name; the first one's new name."""
    number = next(n for n in count(1) if not any(_aside(path, n).exists() for path in paths))
    there = [path for path in paths if path.exists()]
    for path in there:
        path.rename(_aside(path, number))
    return _aside(there[0], number) if there else None


def _aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.damaged-{number}")
