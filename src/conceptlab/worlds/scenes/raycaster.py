"""The built-in renderer: one ray for each of four places within a pixel, three lamps with shadows, rubber and metal.

Everything is done for many scenes at once, on a GPU where there is one. A ray meets the nearest solid or the ground;
each lamp adds light where no solid stands between, falling with the squared distance. Rubber scatters light evenly;
metal mirrors the ground, the lamps and a dim sky in its own colour. The four rays of a pixel see the lamps from four
places on them, which makes the edges of shadows soft.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from conceptlab.worlds.base import Factors
from conceptlab.worlds.objects import palette
from conceptlab.worlds.scenes.camera import Camera
from conceptlab.worlds.scenes.renderers import register
from conceptlab.worlds.scenes.solids import FAR, half_height, meet, normal

# Rays × objects in one piece: what fits a cache on a CPU, and keeps a GPU busy.
_PIECE = {"cpu": 1 << 20, "cuda": 1 << 24}
_WITHIN = ((0.25, 0.375), (0.75, 0.125), (0.375, 0.875), (0.875, 0.625))
_LAMP_WIDTH = 0.35
_POWER = torch.tensor((16.0, 5.25, 6.0))  # key, fill, back
_AMBIENT = 0.3
_GROUND = 0.8  # light enough for a small grey solid (.34) to stand out also far from the lamps
_SHARPNESS = torch.tensor((12.0, 120.0))  # of highlights on rubber and metal
_SHINE = torch.tensor((0.12, 1.1))
_MIRROR = torch.tensor((0.0, 0.62))  # how much of a material's light is mirrored
_SKY = 0.75
_GAMMA = 1 / 2.2
_CLEAR = 1e-3  # how far a shadow ray starts from the surface it leaves


@register("raycaster")
class RayCaster:
    """Images of the central square of CLEVR's frame."""

    def __call__(self, factors: Factors, resolution: int) -> Tensor:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        objects = max(1, int(factors["count"].max()))
        scenes = max(1, _PIECE[device.type] // (resolution**2 * objects))
        pieces = range(0, len(factors["count"]), scenes)
        images = [
            _render(_piece(factors, slice(start, start + scenes), objects, device), resolution).cpu()
            for start in pieces
        ]
        return torch.cat(images) if images else torch.zeros(0, 3, resolution, resolution)


def _piece(factors: Factors, scenes: slice, objects: int, device: torch.device) -> Factors:
    """Some of the scenes, with as many objects as any scene of the whole call has."""
    per_object = ("ground", "size", "angle", "shape", "material", "colour")
    found = {name: factors[name][scenes] for name in ("count", "camera", "lamps", *per_object)}
    found |= {name: found[name][:, :objects] for name in per_object}
    return {
        name: (part.float() if part.is_floating_point() else part).to(device) for name, part in found.items()
    }


def _render(scene: Factors, resolution: int) -> Tensor:
    camera = Camera.at(scene["camera"])
    solids = Solids(scene)
    light = torch.zeros(len(scene["count"]), resolution**2, 3, device=scene["camera"].device)
    for number, within in enumerate(_WITHIN):
        light += _look(solids, camera, camera.rays(resolution, within), _lamps(scene["lamps"], number))
    image = (light / len(_WITHIN)).clamp(min=0).pow(_GAMMA).clamp(max=1)
    return image.mT.reshape(-1, 3, resolution, resolution)


def _lamps(lamps: Tensor, number: int) -> Tensor:
    """Another corner of each square lamp for each of a pixel's rays."""
    x, y = ((-1, -1), (1, -1), (1, 1), (-1, 1))[number]
    return lamps + _LAMP_WIDTH * torch.tensor((x, y, 0.0), device=lamps.device)


class Solids:
    """The objects of n scenes: their frames, and where rays meet them."""

    def __init__(self, scene: Factors) -> None:
        self.shape = scene["shape"]
        self.height = half_height(self.shape, scene["size"])
        self.centre = torch.cat((scene["ground"], self.height[..., None]), -1)
        cosine, sine = scene["angle"].cos(), scene["angle"].sin()
        zero, one = torch.zeros_like(cosine), torch.ones_like(cosine)
        turn = torch.stack((cosine, sine, zero, -sine, cosine, zero, zero, zero, one), -1)
        self.turn = turn.unflatten(-1, (3, 3))
        self.there = torch.arange(self.shape.shape[1], device=self.shape.device) < scene["count"][:, None]
        self.colour = palette(8).to(self.shape.device)[scene["colour"].long()]
        self.material = scene["material"].long()

    def distances(self, origin: Tensor, direction: Tensor) -> Iterator[Tensor]:
        """The distance of every solid along rays (n, P, 3), solid by solid: (n, P)."""
        for m in range(self.shape.shape[1]):
            turn, height = self.turn[:, m], self.height[:, m, None, None]
            start = torch.einsum("nij,npj->npi", turn, origin - self.centre[:, m, None]) / height
            way = torch.einsum("nij,npj->npi", turn, direction) / height
            met = meet(self.shape[:, m, None], start, way)
            yield torch.where(self.there[:, m, None], met, FAR)

    def nearest(self, origin: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
        """The distance of the nearest solid and its number."""
        best = torch.full(direction.shape[:2], FAR, device=direction.device)
        which = torch.zeros_like(best, dtype=torch.int64)
        for number, distance in enumerate(self.distances(origin, direction)):
            which = torch.where(distance < best, number, which)
            best = torch.minimum(best, distance)
        return best, which

    def blocks(self, origin: Tensor, direction: Tensor, length: Tensor) -> Tensor:
        """Whether any solid stands within a length (n, P) along rays."""
        blocked = torch.zeros(direction.shape[:2], dtype=torch.bool, device=direction.device)
        for distance in self.distances(origin, direction):
            blocked |= distance < length
        return blocked

    def of(self, part: Tensor, which: Tensor) -> Tensor:
        """A property (n, M, …) of the solid each ray met, (n, P, …)."""
        index = which.view(*which.shape, *(1 for _ in part.shape[2:])).expand(*which.shape, *part.shape[2:])
        return part.gather(1, index)

    def normals(self, points: Tensor, which: Tensor) -> Tensor:
        turn = self.of(self.turn, which)
        local = (turn @ (points - self.of(self.centre, which))[..., None])[..., 0]
        local = local / self.of(self.height, which)[..., None]
        return (turn.mT @ normal(self.of(self.shape, which), local)[..., None])[..., 0]


def _look(solids: Solids, camera: Camera, direction: Tensor, lamps: Tensor) -> Tensor:
    """The light (n, P, 3) that comes along rays from the camera."""
    origin = camera.position[:, None].expand_as(direction)
    distance, which = solids.nearest(origin, direction)
    ground = camera.position[:, None, 2] / (-direction[..., 2]).clamp(min=1e-4)
    on_solid = (distance < ground)[..., None]
    points = origin + torch.minimum(distance, ground)[..., None] * direction
    up = torch.zeros_like(points)
    up[..., 2] = 1
    facing = torch.where(on_solid, solids.normals(points, which), up)
    grey = torch.full_like(points, _GROUND)
    albedo = torch.where(on_solid, solids.of(solids.colour, which), grey)
    material = torch.where(on_solid[..., 0], solids.of(solids.material, which), 0)
    matte, glints = _lit(solids, points, facing, direction, lamps, material, on_solid)
    mirrored = _surroundings(direction - 2 * (direction * facing).sum(-1, keepdim=True) * facing)
    share = _MIRROR.to(points.device)[material][..., None] * on_solid
    return albedo * ((1 - share) * matte + share * mirrored) + glints


def _lit(
    solids: Solids,
    points: Tensor,
    facing: Tensor,
    direction: Tensor,
    lamps: Tensor,
    material: Tensor,
    on_solid: Tensor,
) -> tuple[Tensor, Tensor]:
    """Scattered light and highlights (n, P, 1) from all lamps, with shadows."""
    matte = torch.full_like(points[..., :1], _AMBIENT)
    glints = torch.zeros_like(matte)
    start = points + _CLEAR * facing
    for number, power in enumerate(_POWER.tolist()):
        way = lamps[:, number, None] - start
        length = way.norm(dim=-1, keepdim=True)
        way = way / length
        slope = (way * facing).sum(-1, keepdim=True).clamp(min=0)
        free = ~solids.blocks(start, way, length[..., 0])[..., None]
        strength = power / length.square() * free
        matte = matte + strength * slope
        half = way - direction
        half = half / half.norm(dim=-1, keepdim=True)
        sharpness = _SHARPNESS.to(points.device)[material][..., None]
        shine = _SHINE.to(points.device)[material][..., None] * on_solid
        glints = glints + shine * strength * (half * facing).sum(-1, keepdim=True).clamp(min=0) ** sharpness
    return matte, glints


def _surroundings(direction: Tensor) -> Tensor:
    """What a mirror sees (n, P, 1): the lit ground below, a sky that brightens upwards."""
    height = direction[..., 2:]
    return torch.where(height < 0, 0.75 + 0.25 * height, 0.2 + _SKY * height.clamp(min=0))
