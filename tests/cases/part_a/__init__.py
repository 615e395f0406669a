"""Part A of the cases: id collisions and replays. One entry a form of a case; a case of several forms has several.

The values are the cases'. Where a case says nothing, they are its defaults: every call a first use and executed, no guard
predicts anything, the session completed, no damage, no note.

What the cases A12, A15, A16, A28 and A29 say of the id scheme stands here in `id_schemes` and is not asserted yet: the view of
that name comes with a later issue.
"""

from __future__ import annotations

from tests.cases.case import Case
from tests.cases.part_a import arguments, broken_ids, id_schemes, one_response, repeated_calls

PART_A: tuple[Case, ...] = (
    *repeated_calls.CASES,
    *one_response.CASES,
    *broken_ids.CASES,
    *id_schemes.CASES,
    *arguments.CASES,
)
