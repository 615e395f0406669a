from dashboard.args_compare import Difference, compared


def test_keys_that_differ_come_first() -> None:
    assert compared('{"dir":"/a","command":"ls"}', '{"dir":"/a","command":"make"}') == [
        Difference("command", '"ls"', '"make"', True),
        Difference("dir", '"/a"', '"/a"', False),
    ]


def test_a_key_that_one_call_lacks_is_told_from_an_empty_value() -> None:
    assert compared('{"a":""}', "{}") == [Difference("a", '""', "", True)]


def test_numbers_are_compared_as_written() -> None:
    # Read as numbers both would be 1e+16 and the calls would look alike.
    assert compared('{"n":10000000000000001}', '{"n":10000000000000002}') == [
        Difference("n", "10000000000000001", "10000000000000002", True)
    ]


def test_nested_values_are_text() -> None:
    (row,) = compared('{"a":[1,{"b":null}]}', '{"a":[1,{"b":true}]}') or []
    assert (row.first, row.second, row.differs) == ('[1, {"b": null}]', '[1, {"b": true}]', True)


def test_cut_arguments_cannot_be_compared() -> None:
    assert compared('{"content":"xxxx', '{"content":"xxxx"}') is None
    assert compared("[1]", "{}") is None
    assert compared("[" * 100_000, "{}") is None
