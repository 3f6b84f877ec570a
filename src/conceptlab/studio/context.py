"""What all pages work with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conceptlab.errors import InputError
from conceptlab.store.pretrained import SHIPPED
from conceptlab.studio.catalogue import Catalogue
from conceptlab.studio.live import Cache
from conceptlab.studio.worker import Worker


@dataclass
class Studio:
    """What the pages work with; one for a server, shared by all viewers."""

    catalogue: Catalogue
    worker: Worker = field(default_factory=Worker)
    cache: Cache = field(default_factory=Cache)

    @classmethod
    def of(cls, folders: Sequence[Path | str]) -> Studio:
        """A studio of the given run folders and of the models that ship with the package."""
        for folder in folders:
            if not Path(folder).is_dir():
                raise InputError(f"{folder} is not a folder; `conceptlab run` makes run folders")
        return cls(Catalogue([Path(folder) for folder in folders], shipped=[SHIPPED]))
