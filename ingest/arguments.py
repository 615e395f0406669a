"""Arguments out of the logs again: whole, and as they were written, where the facts keep a kilobyte in canonical form.

The record is read by the reader that read it first, and the call found by its fingerprint: so no format needs code of its own
here, and a log that has changed since is noticed.
"""

from __future__ import annotations

from collections.abc import Mapping

from ingest.packed import CannotUnpack, is_packed, plain_blocks
from ingest.readers.base import FingerprintFunction, Reader
from ingest.records import Place

_BLOCK = 1 << 20
_KEPT = 512
"""Records whose arguments are kept: a call is compared again and again with the first of its id."""


class ArgumentsGone(Exception):
    """The log cannot be read any more, or says something else; the text tells which."""


class LoggedArguments:
    def __init__(self, readers: Mapping[str, type[Reader]], fingerprint: FingerprintFunction) -> None:
        """readers: of each source, by its path as stored."""
        self._readers = readers
        self._fingerprint = fingerprint
        self._kept: dict[tuple[str, int], dict[bytes, object]] = {}

    def read(self, place: Place, fingerprint: bytes) -> object:
        """Raises ArgumentsGone."""
        key = (place.source, place.offset)
        found = self._kept.pop(key, None)
        if found is None:
            found = self._of_record(place)
        self._kept[key] = found
        if len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        if fingerprint not in found:
            raise ArgumentsGone(f"{place.source} does not hold the call any more at byte {place.offset}")
        return found[fingerprint]

    def _of_record(self, place: Place) -> dict[bytes, object]:
        found: dict[bytes, object] = {}

        def keep(tool: str, args: object, /) -> tuple[bytes, bytes]:
            digest, canonical = self._fingerprint(tool, args)
            found[digest] = args
            return digest, canonical

        reader_type = self._readers.get(place.source)
        if reader_type is None:
            raise ArgumentsGone(f"{place.source} is no source of the store")
        reader = reader_type(place.source, keep)
        for _ in (*reader.feed(_bytes_at(place) + b"\n"), *reader.finish()):
            pass
        return found


def _bytes_at(place: Place) -> bytes:
    """Offsets are those of the plain bytes; a packed file is unpacked up to there."""
    try:
        with open(place.source, "rb", buffering=0) as stream:
            head = stream.read(_BLOCK)
            if not is_packed(head):
                stream.seek(place.offset)
                return stream.read(place.length) or b""
            found, offset = b"", 0
            for block in plain_blocks(head, stream, _BLOCK):
                if offset + len(block) > place.offset:
                    found += block[max(0, place.offset - offset) : place.offset + place.length - offset]
                offset += len(block)
                if offset >= place.offset + place.length:
                    break
    except OSError as e:
        raise ArgumentsGone(f"{place.source} cannot be read any more: {e.strerror or e}") from e
    except CannotUnpack as e:
        raise ArgumentsGone(f"{place.source} cannot be unpacked any more: {e}") from e
    return found
