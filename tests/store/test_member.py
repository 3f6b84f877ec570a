"""Reading a member while it is being written."""

from __future__ import annotations

from conceptlab.store import Member, Store
from tests.figures import synthetic


def test_files_that_are_still_being_written_are_not_read(tmp_path):
    recipe = synthetic.recipe(0)
    synthetic.member(Store(tmp_path), recipe, status="unfinished", steps=(50, 100))
    member = Member(tmp_path / "members" / recipe.hash)
    rows = len(member.metrics)
    # As `write_atomically` names what it has not finished.
    (member.path / "metrics" / ".00000150.parquet.x7.parquet").write_bytes(b"half")
    (member.path / "samples" / ".00000150.png.x7.png").write_bytes(b"half")
    assert len(member.metrics) == rows
    assert member.sample_steps == [50, 100]
