"""The object detector: where are the centres of the objects in an image, and how many are there?

A convolutional network gives a heat map of centres at half the image's resolution and, at each place, where within it
the centre lies (Zhou, Wang, Krähenbühl, "Objects as points", 2019). Peaks of the map are objects. It learns from real
images of every number of objects, and is validated on held-out ones before it judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from conceptlab.concepts import ConceptSpace
from conceptlab.errors import InputError
from conceptlab.probes.learned import Fitting, LearnedProbe
from conceptlab.worlds import Samples

STRIDE = 2
THRESHOLD = 0.5
"""The heat above which a peak counts as an object."""
FEW, LEAST_FEW, LEAST_MANY = 6, 0.99, 0.95
"""A detector may judge if it counts 99 % of the images of each number of objects up to six exactly, and 95 % of each
larger number."""
# Standard deviation of a centre in the map it learns, in places of the map. So wide that a place beside the centre is
# hardly punished: with .7 a centre between two places split its heat, and many objects stayed just above the threshold.
_SPREAD = 1.0
_CHUNK = 512


@dataclass(frozen=True)
class Found:
    """Peaks of n images, the hottest first: centres in pixels (n, P, 2), heat (n, P)."""

    centres: Tensor
    heat: Tensor

    def above(self, threshold: float = THRESHOLD) -> list[Tensor]:
        """The centres of each image's objects."""
        return [centres[heat >= threshold] for centres, heat in zip(self.centres, self.heat)]


class Detector(LearnedProbe):
    """As a probe it reads the number of objects; `find` tells where they are."""

    def __init__(
        self, kind: str, space: ConceptSpace, image_shape: tuple[int, int, int], fitting: Fitting, seed: int
    ) -> None:
        if space.names != ("objects",):
            raise InputError(
                f"a detector counts objects; this world has {space.order}: use a world such as 'discs'"
            )
        super().__init__(kind, space, image_shape, fitting, seed)
        self.most = space.sizes[0] - 1
        # Thousands of images are read at every evaluation: worth a GPU where there is one.
        self.to(torch.device("cuda" if torch.cuda.is_available() else "cpu"))

    def _build(self) -> nn.Module:
        return HeatMap(self.image_shape[0])

    def find(self, images: Tensor) -> Found:
        """The peaks of images in [0, 1], twice as many as there can be objects."""
        # In full precision on any device, as probes read.
        with torch.no_grad(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            parts = [self._peaks(self.network(chunk.to(self.device))) for chunk in images.split(_CHUNK)]
        return Found(torch.cat([p.centres for p in parts]), torch.cat([p.heat for p in parts]))

    def read(self, images: Tensor) -> dict[str, Tensor]:
        """More objects than there can be are no number of this world: nothing is read, wrong whatever was asked for."""
        count = (self.find(images).heat >= THRESHOLD).sum(1)
        return {"objects": F.one_hot(count, 2 * self.most + 1)[:, : self.most + 1].float()}

    def _peaks(self, output: Tensor) -> Found:
        heat, offset = output[:, 0].sigmoid(), output[:, 1:].sigmoid()
        peaks = heat * (heat == F.max_pool2d(heat[:, None], 3, 1, 1)[:, 0])
        hottest, place = peaks.flatten(1).topk(2 * self.most)
        width = heat.shape[2]
        corner = torch.stack((place % width, place // width), -1)
        within = offset.flatten(2).gather(2, place[:, None].expand(-1, 2, -1)).mT
        return Found(((corner + within) * STRIDE).cpu(), hottest.cpu())

    def _targets(self, samples: Samples) -> Tensor:
        """Centres and whether there is an object: (n, most, 3)."""
        there = torch.arange(self.most) < samples.factors["count"][:, None]
        return torch.cat((samples.factors["centres"], there[..., None]), -1)

    def _loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The penalty-reduced focal loss of the heat (Zhou et al. Eq. 1) and the distance of the centres."""
        centres, there = labels[..., :2] / STRIDE, labels[..., 2]
        side = logits.shape[2]
        corner = centres.floor().clamp(0, side - 1)
        place = (corner[..., 1] * side + corner[..., 0]).long()
        grid = torch.arange(side, device=logits.device)
        along = (grid - corner[..., None]).square()
        apart = along[..., 0, None, :] + along[..., 1, :, None]
        wanted = ((-apart / (2 * _SPREAD**2)).exp() * there[..., None, None]).amax(1)
        heat = logits[:, 0]
        hot = wanted == 1
        likely = -F.logsigmoid(heat) * heat.sigmoid().neg().add(1).square()
        unlikely = -F.logsigmoid(-heat) * heat.sigmoid().square() * (1 - wanted) ** 4
        objects = there.sum().clamp(min=1)
        within = logits[:, 1:].sigmoid().flatten(2).gather(2, place[:, None].expand(-1, 2, -1)).mT
        missed = ((within - (centres - corner)).abs().sum(-1) * there).sum()
        return (torch.where(hot, likely, unlikely).sum() + missed) / objects


def shortfall(exact: Mapping[str, float]) -> str | None:
    """Why a detector with these shares of exact counts, by number of objects, may not judge; None if it may."""
    # Number by number: a mean over them would let one fail that the others make up for.
    for count, share in sorted(exact.items(), key=lambda of: int(of[0])):
        least = LEAST_FEW if int(count) <= FEW else LEAST_MANY
        if share < least:
            objects = "object" if int(count) == 1 else "objects"
            return f"counts {share:.1%} of images with {count} {objects} right, less than {least:.0%}"
    return None


class HeatMap(nn.Module):
    """From an image to heat and two offsets at every second pixel; it sees about 30 pixels around each."""

    def __init__(self, colours: int, width: int = 48) -> None:
        super().__init__()
        self.network = nn.Sequential(
            *_layer(colours, width // 2),
            *_layer(width // 2, width, stride=STRIDE),
            *_layer(width, width),
            *_layer(width, width, dilation=2),
            *_layer(width, width),
            *_layer(width, width, dilation=2),
            *_layer(width, width),
            nn.Conv2d(width, 3, 1),
        )
        last = self.network[-1]
        assert isinstance(last, nn.Conv2d)
        assert last.bias is not None
        # Few places are centres: starting from a cool map keeps the first steps from being all about that.
        nn.init.constant_(last.bias, 0.0)
        with torch.no_grad():
            last.bias[0] = -2.2

    def forward(self, images: Tensor) -> Tensor:
        return self.network(((images - 0.5) * 4).contiguous(memory_format=torch.channels_last))


def _layer(inputs: int, outputs: int, stride: int = 1, dilation: int = 1) -> tuple[nn.Module, ...]:
    convolution = nn.Conv2d(inputs, outputs, 3, stride, padding=dilation, dilation=dilation, bias=False)
    nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
    return convolution, nn.BatchNorm2d(outputs), nn.ReLU()
