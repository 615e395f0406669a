"""How many examples the slower property tests try: LOOPSCOPE_FUZZ=N for a longer search by hand."""

from __future__ import annotations

import os

EXAMPLES = int(os.environ.get("LOOPSCOPE_FUZZ", "25"))  # taken now: the tests run without settings of the person's
