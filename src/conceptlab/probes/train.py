"""Making a probe for a world."""

from __future__ import annotations

from conceptlab.concepts import Split
from conceptlab.errors import InputError, unknown
from conceptlab.probes.analytic import AnalyticProbe
from conceptlab.probes.base import Probe
from conceptlab.probes.detector import Detector
from conceptlab.probes.learned import Fitting, LearnedProbe
from conceptlab.probes.networks import READOUTS
from conceptlab.worlds import Samples, World, derived_seed

KINDS = ("analytic", "detector", *READOUTS)


def train_probe(
    world: World,
    kind: str = "cnn",
    seed: int = 0,
    images_per_class: int = 768,
    fitting: Fitting | None = None,
) -> Probe:
    """A probe of a world's concepts. Learned kinds see real images of every class; analytic ones see none."""
    if kind not in KINDS:
        raise unknown("probe", kind, KINDS)
    if images_per_class < 1:
        raise InputError(f"a probe cannot learn from {images_per_class} images per class; use 1 or more")
    if kind == "analytic":
        return AnalyticProbe(world)
    learned = Detector if kind == "detector" else LearnedProbe
    probe = learned(kind, world.space, world.image_shape, fitting or Fitting(), seed)
    probe.fit(real_images(world, images_per_class, seed, "train"))
    return probe


def real_images(world: World, images_per_class: int, seed: int, purpose: str) -> Samples:
    """Real images of every class that has any; two purposes never share a draw, nor an image where images are
    finite."""
    own = world.reserved(purpose)
    if not own.seen:
        raise InputError(f"no images are left for a probe's part '{purpose}'; collect more of each class")
    everything = Split(world.space, dict.fromkeys(own.seen, images_per_class))
    return own.dataset(everything, derived_seed(seed, f"probes/{purpose} images"))
