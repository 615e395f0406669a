"""What a typed place means, against a store of three ids."""

import pytest

from analysis.typed_place import Meant, meant

IDS = ["75ddaeed-1", "75ddaeed-2", "functions.edit:0"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("75ddaeed-1", Meant("75ddaeed-1", ["75ddaeed-1"], None)),
        ("75ddaeed-1:2", Meant("75ddaeed-1", ["75ddaeed-1"], 2)),
        ("75ddaeed-1:12.3.4", Meant("75ddaeed-1", ["75ddaeed-1"], 12)),
        ("75ddaeed:2", Meant("75ddaeed", ["75ddaeed-1", "75ddaeed-2"], 2)),
        ("functions.edit:0", Meant("functions.edit:0", ["functions.edit:0"], None)),
        ("functions.edit:0:3", Meant("functions.edit:0", ["functions.edit:0"], 3)),
        ("75ddaeed-1:2.3.4.5", Meant("75ddaeed-1:2.3.4.5", [], None)),
        ("75ddaeed-1:two", Meant("75ddaeed-1:two", [], None)),
        (":2", Meant(":2", [], None)),
        ("75ddaeed-1:" + "9" * 5000, Meant("75ddaeed-1:" + "9" * 5000, [], None)),
    ],
)
def test_an_id_is_looked_for_as_a_whole_and_then_as_a_place(text: str, expected: Meant) -> None:
    assert meant(text, lambda beginning: [known for known in IDS if known.startswith(beginning)]) == expected
