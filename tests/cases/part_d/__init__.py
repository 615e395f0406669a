"""Part D of the cases: logs that were damaged, doubled, packed or linked. The damage must change nothing but what it destroyed.

The values are the cases'. Line numbers count from 1 in `HEALTHY`, whose record n stands on line n.
"""

from __future__ import annotations

from tests.cases.part_d.broken_lines import BROKEN_LINES
from tests.cases.part_d.copies import COPIES
from tests.cases.part_d.odd_records import ODD_RECORDS

PART_D = (*BROKEN_LINES, *ODD_RECORDS, *COPIES)
