"""Where images and conditions come from. Import a world here, or `build` it by its name."""

from conceptlab.worlds.base import Factors, RenderedWorld, Samples, World, class_index, derived_seed
from conceptlab.worlds.celeba import CelebA
from conceptlab.worlds.circles import Circles
from conceptlab.worlds.discs import Discs
from conceptlab.worlds.dsprites import DSprites
from conceptlab.worlds.folder import Folder
from conceptlab.worlds.labelled import LabelledWorld
from conceptlab.worlds.objects import ObjectWorld
from conceptlab.worlds.opening import DataOptions, open_data
from conceptlab.worlds.registry import build, names, register
from conceptlab.worlds.scenes import Scenes
from conceptlab.worlds.shapes import OKAWA2023, OKAWA2023_BACKGROUND, QUICKSTART, Shapes
from conceptlab.worlds.shapes3d import Shapes3D
from conceptlab.worlds.signal import Signal, concept_signal

__all__ = [
    "OKAWA2023",
    "OKAWA2023_BACKGROUND",
    "QUICKSTART",
    "CelebA",
    "Circles",
    "DSprites",
    "DataOptions",
    "Discs",
    "Factors",
    "Folder",
    "LabelledWorld",
    "ObjectWorld",
    "RenderedWorld",
    "Samples",
    "Scenes",
    "Shapes",
    "Shapes3D",
    "Signal",
    "World",
    "build",
    "class_index",
    "concept_signal",
    "derived_seed",
    "names",
    "open_data",
    "register",
]
