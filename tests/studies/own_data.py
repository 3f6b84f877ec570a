"""What tests of one's own data share."""

from __future__ import annotations

from pathlib import Path

import pytest

from conceptlab import plugins

# What the page's commands leave out, to be quick: the pipeline is the same.
FEWER = (
    "denoiser.channels=[8,16]",
    "evaluation.final_images=4",
    "evaluation.images=2",
    "evaluation.sampler_steps=2",
)
SMALL = [word for setting in FEWER for word in ("--set", setting)] + ["--seeds", "1", "--device", "cpu"]


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """Import it, and every test of a module works with a cache and plug-ins of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCEPTLAB_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv(plugins.VARIABLE, "")
        yield


def state_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
