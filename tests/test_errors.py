from __future__ import annotations

import pytest

from conceptlab.errors import first_line


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("no header\nat byte 3"), "no header"),
        (OSError("\n  cut short  \n"), "cut short"),
        (ConnectionError(), "ConnectionError"),  # a library need not say anything
        (KeyError("a" * 500), "'" + "a" * 159),
    ],
)
def test_what_a_library_says_is_one_line(error, told):
    assert first_line(error) == told
