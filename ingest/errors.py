"""What can go wrong for a whole run, as opposed to in one piece of a log (that is a `Problem`, and the run goes on).

    LoopscopeError          anything we can explain; the message says what, where and what to try
    +-- NoStore             nothing was ingested yet, or `--db` points elsewhere
    +-- StoreBusy           another process writes
    +-- StoreDamaged        the file is there and cannot be read as a store
    |   +-- ForeignFile     it is whole and somebody else's: nobody may rename or replace it
    |   +-- WorkingFileDamaged  only the writer's own file, which was set aside: another attempt starts from the published one
    +-- StoreTooNew         a later version of this program made it
    +-- StoreUnwritable     the folder or the disk does not let us write

A message is complete sentences for the person at the terminal: the front ends print it as it is and add nothing.
"""

from __future__ import annotations


class LoopscopeError(Exception):
    """Base of all errors that are shown without a traceback."""


class NoStore(LoopscopeError):
    """There is no store at the path."""


class StoreBusy(LoopscopeError):
    """Another process holds the writer's lock."""


class StoreDamaged(LoopscopeError):
    """The file is no store, or its content does not fit together."""


class ForeignFile(StoreDamaged):
    """A DuckDB database that another program made."""


class WorkingFileDamaged(StoreDamaged):
    """The writer's own file was damaged, and is out of the way now."""


class StoreTooNew(LoopscopeError):
    """The store's schema or file format is later than this program knows."""


class StoreUnwritable(LoopscopeError):
    """The operating system refused to write the store: permissions, a full disk, a path that is no folder."""
