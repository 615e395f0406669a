from __future__ import annotations

import gzip
import io
import random
import zlib
from collections.abc import Callable

import pytest
from backports import zstd

from ingest.packed import CannotUnpack, is_packed, plain_blocks, plain_name

NOISE = random.Random(1).randbytes(300_000)
PLAIN = NOISE + b"line\n" * 400_000
PACKINGS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd.compress}

of_each_packing = pytest.mark.parametrize("pack", PACKINGS.values(), ids=PACKINGS)


def blocks(data: bytes, size: int = 1 << 16, read: int = 4096) -> tuple[list[bytes], str | None]:
    """The blocks, and why there are no more."""
    stream = io.BytesIO(data)
    got: list[bytes] = []
    try:
        got.extend(iter_into(got, stream, size, read))
    except CannotUnpack as error:
        return got, str(error)
    return got, None


def iter_into(got: list[bytes], stream: io.BytesIO, size: int, read: int) -> list[bytes]:
    for block in plain_blocks(stream.read(read), stream, size):
        got.append(block)
    return []


@pytest.mark.parametrize("data", [b"", b"{}\n", PLAIN, b"\x1f", b"\x00" * 10])
def test_what_is_not_packed_comes_as_it_is(data: bytes) -> None:
    got, reason = blocks(data)
    assert (b"".join(got), reason) == (data, None)
    assert not is_packed(data)


@of_each_packing
@pytest.mark.parametrize("size", [1000, 1 << 16, 4 << 20])
def test_packed_bytes_come_out_in_blocks_of_the_size_asked_for_at_most(pack: Callable[[bytes], bytes], size: int) -> None:
    packed = pack(PLAIN)
    got, reason = blocks(packed, size)
    assert (b"".join(got), reason) == (PLAIN, None)
    assert max(map(len, got)) <= size
    assert is_packed(packed[:4])


@of_each_packing
def test_members_appended_later_and_padding_belong_to_it(pack: Callable[[bytes], bytes]) -> None:
    got, reason = blocks(pack(b"one\n") + pack(b"") + pack(b"two\n") + b"\0" * 5000)
    assert (b"".join(got), reason) == (b"one\ntwo\n", None)


def test_a_zstd_file_may_begin_with_a_note_of_a_tool() -> None:
    got, reason = blocks(b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zstd.compress(b"one\n"))
    assert (b"".join(got), reason) == (b"one\n", None)


@of_each_packing
@pytest.mark.parametrize("kept", [5, 100_000, 299_000])
def test_of_data_that_break_off_the_first_part_is_kept(pack: Callable[[bytes], bytes], kept: int) -> None:
    got, reason = blocks(pack(PLAIN)[:kept])
    assert reason == "the packed data break off"
    plain = b"".join(got)
    assert PLAIN.startswith(plain)
    # noise cannot be packed, so nearly each byte that is there comes out; zstd holds back a block of 128 KB
    assert len(plain) >= kept - (128 << 10) - 100


@of_each_packing
def test_damage_within_is_told_and_costs_nothing_before_it(pack: Callable[[bytes], bytes]) -> None:
    packed = bytearray(pack(PLAIN[:300_000]) + pack(PLAIN))
    packed[-20:-10] = b"\xff" * 10
    got, reason = blocks(bytes(packed))
    assert reason is not None
    assert b"".join(got).startswith(PLAIN[:300_000])


def _gzip_with_a_block_of_no_type(plain: bytes) -> bytes:
    packer = zlib.compressobj(wbits=31)
    return packer.compress(plain) + packer.flush(zlib.Z_FULL_FLUSH) + b"\x07" * 100


def _zstd_with_a_block_of_no_type(plain: bytes) -> bytes:
    packer = zstd.ZstdCompressor()
    return packer.compress(plain, packer.FLUSH_BLOCK) + b"\xff" * 100


def _gzip_of_another_checksum(plain: bytes) -> bytes:
    packed = bytearray(gzip.compress(plain))
    packed[-8] ^= 1
    return bytes(packed)


def _zstd_of_another_checksum(plain: bytes) -> bytes:
    packed = bytearray(zstd.compress(plain, options={zstd.CompressionParameter.checksum_flag: 1}))
    packed[-1] ^= 1
    return bytes(packed)


@pytest.mark.parametrize(
    "damaged",
    [_gzip_with_a_block_of_no_type, _zstd_with_a_block_of_no_type, _gzip_of_another_checksum, _zstd_of_another_checksum],
)
@pytest.mark.parametrize("plain", [b"{}\n", PLAIN], ids=["short", "long"])
@pytest.mark.parametrize("before", [b"", b"one\n"], ids=["first member", "second member"])
@pytest.mark.parametrize("read", [10, 4096, 4 << 20])
def test_all_that_comes_before_the_damage_is_given(
    damaged: Callable[[bytes], bytes], plain: bytes, before: bytes, read: int
) -> None:
    pack = gzip.compress if "gzip" in damaged.__name__ else zstd.compress
    got, reason = blocks((pack(before) if before else b"") + damaged(plain), read=read)
    assert reason is not None
    assert "damaged" in reason
    assert b"".join(got) == before + plain
    assert max(map(len, got), default=0) <= 1 << 16


@of_each_packing
def test_bytes_behind_the_packed_data_are_told(pack: Callable[[bytes], bytes]) -> None:
    got, reason = blocks(pack(b"one\n") + b"two\n")
    assert b"".join(got) == b"one\n"
    assert reason is not None
    assert "behind" in reason


def test_a_bomb_costs_time_and_no_memory() -> None:
    import tracemalloc

    packed = zstd.compress(b"\0" * (512 << 20))
    assert len(packed) < 100_000
    tracemalloc.start()
    length = sum(map(len, plain_blocks(packed, io.BytesIO(), 1 << 20)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert length == 512 << 20
    assert peak < 16 << 20


def test_names_of_what_is_packed() -> None:
    assert [plain_name(name) for name in ("a.jsonl.gz", "a.jsonl.ZST", "a.jsonl", "gz", "a.gz.jsonl", "a.log.1.gz")] == [
        "a.jsonl",
        "a.jsonl",
        "a.jsonl",
        "gz",
        "a.gz.jsonl",
        "a.log.1",
    ]
