"""CelebA (Liu et al., 2015) as a world: photographs whose concepts are binary attributes (okawa2023, Fig 10).

Nothing is downloaded. The folder a user names holds the data set as it is published: `img_align_celeba/` with
`000001.jpg` … and `list_attr_celeba.txt` (a count, the attributes' names, then a line of -1 and 1 for each image).

Photographs are finite, so who uses them matters. The list is cut into three parts, in its own order: the first 80 %
train models, the next 10 % probes, the last 10 % validate probes. These are the proportions and the order of the
official partition, in which no person appears in two parts; cutting at round numbers lets at most the few people at
the two cuts cross.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from conceptlab import random
from conceptlab.concepts import Class, ConceptSpace, Variable
from conceptlab.errors import InputError, unknown
from conceptlab.worlds import checks
from conceptlab.worlds.base import Samples, World, freeze_fields
from conceptlab.worlds.registry import register

IMAGES, ATTRIBUTES = "img_align_celeba", "list_attr_celeba.txt"
SOURCE = (
    "get the aligned and cropped images and the attribute list from https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html, "
    f"unpack them to FOLDER/{IMAGES}/ and FOLDER/{ATTRIBUTES}, and add --set world.folder=FOLDER"
)

# A variable: its name and its values, each with the attribute that must hold; "-Male" means that Male must not.
Values = tuple[tuple[str, str], ...]
FIGURE_10: tuple[tuple[str, Values], ...] = (
    ("gender", (("female", "-Male"), ("male", "Male"))),
    ("smiling", (("smiling", "Smiling"), ("not smiling", "-Smiling"))),
    ("hair", (("black", "Black_Hair"), ("blond", "Blond_Hair"))),
)

_PARTS = {"model": (0.0, 0.8), "train": (0.8, 0.9), "held-out": (0.9, 1.0)}


@register("celeba")
@dataclass(frozen=True)
class CelebA(World):
    """An image belongs to a class if of every variable exactly one value holds; with black and blond hair, or neither,
    it belongs to none. `part` says which of the three parts is drawn from; models train on `model`."""

    folder: str = ""
    resolution: int = 64
    variables: tuple[tuple[str, Values], ...] = FIGURE_10
    part: str = "model"

    def __post_init__(self) -> None:
        freeze_fields(self)
        checks.whole("celeba", "resolution", self.resolution, 4)
        checks.pairs("celeba", "variables", self.variables)
        for name, values in self.variables:
            checks.pairs("celeba", f"variables[{name}]", values, least=2)
        checks.chosen("celeba", "part", (self.part,), _PARTS)

    @cached_property
    def _space(self) -> ConceptSpace:
        return ConceptSpace(
            [Variable(name, tuple(value for value, _ in values)) for name, values in self.variables]
        )

    @property
    def space(self) -> ConceptSpace:
        return self._space

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return 3, self.resolution, self.resolution

    @property
    def condition_parts(self) -> dict[str, slice]:
        ends = np.cumsum(self.space.sizes).tolist()
        return {
            name: slice(end - size, end) for name, size, end in zip(self.space.names, self.space.sizes, ends)
        }

    def condition(self, cls: Class) -> Tensor:
        """A one-hot entry for every variable."""
        return torch.cat([torch.eye(size)[value] for size, value in zip(self.space.sizes, cls, strict=True)])

    def check(self) -> None:
        self._members((0,) * len(self.space.concepts))

    def reserved(self, purpose: str) -> CelebA:
        return dataclasses.replace(self, part=purpose)

    def sample(self, cls: Class, n: int, seed: int) -> Samples:
        names = self._members(cls)
        if n > len(names) and (self.part == "model" or not names):
            raise InputError(self._lacking(cls, n, len(names)))
        order = random.uniform(random.key(seed, "worlds/celeba"), (len(names),)).argsort().tolist()
        # Probes learn from as many images of every class: the few of a rare class are shown again.
        images = torch.stack([self._image(names[order[i % len(names)]]) for i in range(n)])
        labels = torch.tensor(cls, dtype=torch.int64).repeat(n, 1)
        return Samples(images, self.condition(cls).repeat(n, 1), labels, {})

    def _lacking(self, cls: Class, n: int, there: int) -> str:
        """Why a class cannot be drawn from, and what helps: models can do with fewer images, probes not without any."""
        code = self.space.code(cls)
        named = f"class {code} ({self.space.words(cls)})"
        if self.part == "model":
            return (
                f"{self.folder} has {there} images of {named} to train a model on (the first 80 % of its list), "
                f"not {n}; ask for fewer, e.g. --set train.{code}={there}"
            )
        low, high = (f"{share:.0%}" for share in _PARTS[self.part])
        use = "train" if self.part == "train" else "validate"
        return (
            f"{self.folder} has no image of {named} between {low} and {high} of its list, the part kept to {use} "
            "probes, which need every class, trained on or not; name a folder with more images (CelebA has "
            "202,599), or commoner attributes with --set world.variables=…"
        )

    def _members(self, cls: Class) -> list[str]:
        """The files of a class in this world's part of the list."""
        if not self.folder:
            raise InputError(f"no CelebA folder is named; {SOURCE}")
        path = Path(self.folder) / ATTRIBUTES
        if not path.is_file() or not (Path(self.folder) / IMAGES).is_dir():
            raise InputError(f"{self.folder} is not a CelebA folder; {SOURCE}")
        files, names, table = read_attributes(path, path.stat().st_mtime_ns)
        low, high = (round(share * len(files)) for share in _PARTS[self.part])
        chosen = np.ones(len(files), dtype=bool)
        for (_, values), wanted in zip(self.variables, cls, strict=True):
            holds = np.stack([_holds(table, names, attribute, path) for _, attribute in values])
            chosen &= holds[wanted] & (holds.sum(0) == 1)
        return [files[i] for i in np.flatnonzero(chosen) if low <= i < high]

    def _image(self, name: str) -> Tensor:
        """The middle square, scaled: (3, H, W) in [0, 1]."""
        path = Path(self.folder) / IMAGES / name
        try:
            with Image.open(path) as picture:
                side = min(picture.size)
                left, top = ((length - side) // 2 for length in picture.size)
                square = picture.convert("RGB").crop((left, top, left + side, top + side))
        except FileNotFoundError:
            raise InputError(
                f"{path} is missing though {ATTRIBUTES} lists it; unpack all of {IMAGES}"
            ) from None
        except (OSError, SyntaxError) as error:
            raise InputError(f"{path} is damaged ({error}); unpack it from the archive again") from error
        pixels = np.asarray(square.resize((self.resolution, self.resolution), Image.Resampling.BILINEAR))
        return torch.from_numpy(pixels.copy()).permute(2, 0, 1).to(torch.float32) / 255


def _holds(table: np.ndarray, names: tuple[str, ...], attribute: str, path: Path) -> np.ndarray:
    plain = attribute.removeprefix("-")
    if plain not in names:
        raise unknown("attribute", plain, names, where=str(path))
    return (table[:, names.index(plain)] > 0) != attribute.startswith("-")


@lru_cache(maxsize=4)
def read_attributes(path: Path, changed: int) -> tuple[tuple[str, ...], tuple[str, ...], np.ndarray]:
    """Files, attribute names and the table of ±1 (images, attributes). `changed` makes an edited list be read anew."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if len(lines) < 3 or not lines[0].strip().isdecimal():
        raise InputError(f"{path}: the first line must be the number of images; {SOURCE}")
    names, rows = tuple(lines[1].split()), [line.split() for line in lines[2:] if line.strip()]
    if len(rows) != int(lines[0]):
        raise InputError(f"{path} announces {int(lines[0])} images but lists {len(rows)}; download it again")
    for number, row in enumerate(rows, start=3):
        if len(row) != len(names) + 1 or not set(row[1:]) <= {"-1", "1"}:
            raise InputError(f"{path}, line {number}: expected a file name and {len(names)} entries -1 or 1")
    table = np.array([row[1:] for row in rows], dtype=np.int8)
    return tuple(row[0] for row in rows), names, table
