"""What `conceptlab elicit` prints."""

from __future__ import annotations

import pandas as pd
import pytest

from conceptlab.terminal.elicit import ways_table


@pytest.mark.parametrize(("probes", "said"), [(1, "what the probe reads"), (2, "what both probes read")])
def test_the_table_speaks_of_as_many_probes_as_there_are(probes: int, said: str) -> None:
    ways = pd.DataFrame([{"step": 4, "way": "redraws", "prompt": "draw 1", "accuracy": 0.5, "read": 0.5}])
    table = ways_table(ways, "class 11", probes=probes)
    assert str(table.caption).startswith(f"held-out accuracy: {said} as the class")
