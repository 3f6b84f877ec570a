"""Drawing images from the members of a cohort: all members, classes and prompts in as few batches as fit."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.func import functional_call

from conceptlab import random
from conceptlab.denoisers import STATISTICS, Denoiser, Embedding
from conceptlab.diffusion import Process, sample
from conceptlab.evaluation.measurement import Prompt
from conceptlab.recipe import Recipe
from conceptlab.training import Cohort, CohortDenoiser, to_image
from conceptlab.training.accelerate import CapturedCall

# Images in one batch, all members together; memory grows with it, speed hardly does beyond this.
BATCH = {"cpu": 512, "cuda": 2304, "mps": 512}


def generate(cohort: Cohort, weights: str, prompts: Sequence[Sequence[Prompt]]) -> list[dict[str, Tensor]]:
    """Images in [0, 1] on the CPU for each member and prompt.

    `prompts[e]` are the prompts of member e. Noise depends on the member's seed, the prompt's stream and the image's
    number alone: not on the device, the batch, or the step of training, so that a picture can be followed through
    training.
    """
    even = _evened(prompts)
    embedded = [embed_prompts(cohort.member(index, weights)[0], asked) for index, asked in enumerate(even)]
    drawing = Drawing(cohort.denoiser, cohort.process, cohort.recipe)

    def draw(*batch: Tensor | Embedding | None) -> Tensor:
        return cohort.each(weights, drawing, *batch)

    seeds = [recipe.seed for recipe in cohort.recipes]
    # Elsewhere a size costs nothing, and what was drawn before must not matter.
    sizes = cohort.drawn_at_once if cohort.device.type == "cuda" else {}
    drawn = _in_batches(draw, seeds, even, embedded, cohort.dtype, sizes)
    return [{prompt.name: found[prompt.name] for prompt in asked} for asked, found in zip(prompts, drawn)]


def _evened(prompts: Sequence[Sequence[Prompt]]) -> list[list[Prompt]]:
    """The prompts of every member in one order of kinds (so many images, guided or not), and as many of each kind.
    Members that are trained on other classes may have fewer to ask for: they draw along what another asks for, without
    a name, since a cohort computes for all of them anyway."""
    if len({tuple(map(_kind, of_member)) for of_member in prompts}) == 1:
        return [list(of_member) for of_member in prompts]
    asked = [_by_kind(of_member) for of_member in prompts]
    kinds = list(dict.fromkeys(kind for table in asked for kind in table))
    longest = {kind: max((table.get(kind, []) for table in asked), key=len) for kind in kinds}
    even = []
    for table in asked:
        own = {kind: table.get(kind, []) for kind in kinds}
        spare = {kind: longest[kind][len(own[kind]) :] for kind in kinds}
        even.append([p for kind in kinds for p in (*own[kind], *(replace(s, name="") for s in spare[kind]))])
    return even


def _by_kind(prompts: Sequence[Prompt]) -> dict[tuple[int, bool], list[Prompt]]:
    found: dict[tuple[int, bool], list[Prompt]] = {}
    for prompt in prompts:
        found.setdefault(_kind(prompt), []).append(prompt)
    return found


def _kind(prompt: Prompt) -> tuple[int, bool]:
    return prompt.images, prompt.guidance is not None


def draw_one(
    denoiser: Denoiser,
    process: Process,
    recipe: Recipe,
    prompts: Sequence[Prompt],
    dtype: torch.dtype = torch.float32,
    tell: Callable[[int], object] = lambda images: None,
) -> dict[str, Tensor]:
    """Images in [0, 1] on the CPU of a single plain network, by prompt: a cohort of one, which computes in `dtype`.
    `tell` hears when it begins (0) and how many images each batch brought."""
    state = {
        # Statistics of a batch stay as they are, as in a cohort.
        f"denoiser.{name}": p[None] if name.rpartition(".")[2] in STATISTICS else p[None].to(dtype)
        for name, p in denoiser.named_parameters()
    }
    state |= {f"process.{name}": p[None, None] for name, p in process.named_parameters()}
    drawing = Drawing(CohortDenoiser(denoiser), process, recipe, stepwise=True).eval()

    def draw(*batch: Tensor | Embedding | None) -> Tensor:
        return functional_call(drawing, state, batch)

    embedded = [embed_prompts(denoiser, prompts)]
    return _in_batches(draw, [recipe.seed], [prompts], embedded, dtype, {}, tell)[0]


def embed_prompts(denoiser: Denoiser, prompts: Sequence[Prompt]) -> tuple[Embedding, Embedding]:
    """Embeddings (P, …) of a member's prompts with their edits made, and of what they are guided away from, if any
    are."""
    device = next(denoiser.parameters()).device
    with torch.no_grad():

        def embed(condition: Tensor) -> Embedding:
            return denoiser.embed(condition.to(device))

        asked = embed(torch.stack([p.condition for p in prompts]))
        others = [p.guidance.against if p.guidance else p.condition for p in prompts]
        against = embed(torch.stack(others)) if any(p.guidance for p in prompts) else {}
        for number, prompt in enumerate(prompts):
            if prompt.edit is not None:
                for name, edited in prompt.edit(embed, prompt.condition[None]).items():
                    asked[name][number] = edited[0]
    return asked, against


def _in_batches(
    draw: Callable[..., Tensor],
    seeds: Sequence[int],
    prompts: Sequence[Sequence[Prompt]],
    embedded: Sequence[tuple[Embedding, Embedding]],
    dtype: torch.dtype,
    sizes: dict[bool, int],
    tell: Callable[[int], object] = lambda images: None,
) -> list[dict[str, Tensor]]:
    """Guided and unguided images apart, since guidance doubles the work; each in batches of a size that fits."""
    first = prompts[0]
    owner = torch.cat([torch.full((p.images,), number) for number, p in enumerate(first)])
    guided = torch.tensor([p.guidance is not None for p in first])[owner]
    weights = torch.tensor([[p.guidance.weight if p.guidance else 0.0 for p in asked] for asked in prompts])
    keys = prompt_keys(seeds, prompts)
    asked, against = (_stacked([pair[i] for pair in embedded], dtype) for i in (0, 1))
    device = next(iter(asked.values())).device
    most = max(1, BATCH[device.type] // len(prompts))
    images: Tensor | None = None
    tell(0)
    for chosen, chunk in _batches(guided, most, sizes):
        # A GPU records and compiles for a size: the last, shorter batch is filled up instead of recorded again.
        spare = chunk - len(chosen) if device.type == "cuda" else 0
        taken = torch.cat((chosen, chosen[:1].expand(spare)))
        whose = owner[taken]
        batch = _chosen(asked, whose), keys[:, taken].to(device)
        if guided[chosen[0]]:
            batch += _chosen(against, whose), weights[:, whose].to(device)
        with torch.no_grad():
            drawn = draw(*batch)[:, : len(chosen)].cpu()
        if images is None:
            images = drawn.new_empty(len(prompts), len(owner), *drawn.shape[2:])
        images[:, chosen] = drawn
        tell(len(chosen))
    assert images is not None
    lengths = [prompt.images for prompt in first]
    return [
        {prompt.name: part for prompt, part in zip(asked, mine.split(lengths))}
        for asked, mine in zip(prompts, images)
    ]


def _batches(guided: Tensor, most: int, sizes: dict[bool, int]) -> Iterator[tuple[Tensor, int]]:
    """Which images to draw together, and how many such a batch holds: as few batches of about one size as can be,
    `most` images in the largest. The size found first is kept in `sizes`, by whether it is guided, for all later
    drawings that fill it, since every new one is recorded anew."""
    for kind in (False, True):
        chosen = (guided == kind).nonzero()[:, 0]
        if len(chosen) == 0:
            continue
        even = -(-len(chosen) // -(-len(chosen) // most))
        chunk = min(len(chosen), sizes.setdefault(kind, even))
        for part in chosen.split(chunk):
            yield part, chunk


def _stacked(members: Sequence[Embedding], dtype: torch.dtype) -> Embedding:
    return {name: torch.stack([member[name] for member in members]).to(dtype) for name in members[0]}


def _chosen(embedding: Embedding, prompts: Tensor) -> Embedding:
    """Embeddings (E, P, …) repeated for each image, (E, N, …)."""
    return {name: part[:, prompts.to(part.device)] for name, part in embedding.items()}


class Drawing(nn.Module):
    """The whole way from noise to images as one module, for all members of a cohort.

    With `stepwise`, a GPU records one step and replays it: for a network that draws once, or in hundreds of steps,
    which would take longer to record than to draw.
    """

    def __init__(
        self, denoiser: CohortDenoiser, process: Process, recipe: Recipe, stepwise: bool = False
    ) -> None:
        super().__init__()
        self.denoiser, self.process = denoiser, process
        self.recipe, self.stepwise = recipe, stepwise

    def forward(
        self,
        embedding: Embedding,
        keys: Tensor,
        against: Embedding | None = None,
        weight: Tensor | None = None,
    ) -> Tensor:
        """Images (E, N, C, H, W) in [0, 1] from embeddings (E, N, …) and a key for each image (E, N, 2), guided
        away from `against` with a weight for each image (E, N)."""
        recipe, shape = self.recipe, self.denoiser.image_shape

        def predict(z: Tensor, time: Tensor) -> Tensor:
            times = time[:, None].expand(z.shape[:2])
            wanted = self.denoiser.denoise(z, times, embedding).float()
            if against is None or weight is None:
                return wanted
            other = self.denoiser.denoise(z, times, against).float()
            return wanted + weight[..., None, None, None] * (wanted - other)

        def noise(number: Tensor) -> Tensor:
            return random.normal(random.fold(keys, number), shape)

        recorded = self.stepwise and keys.is_cuda
        drawn = CapturedCall(noise) if recorded else noise
        pixels = sample(
            CapturedCall(predict) if recorded else predict,
            _Columns(self.process),
            recipe.prediction,
            drawn(torch.zeros((), dtype=torch.int32, device=keys.device)),
            steps=recipe.evaluation.sampler_steps,
            method=recipe.evaluation.sampler,
            draw=lambda i: drawn(torch.full((), i + 1, dtype=torch.int32, device=keys.device)),
        )
        return to_image(pixels, recipe.pixels)


class _Columns(Process):
    """A process whose parameters are columns (E, 1), at times (S,): noise levels (S, E, 1, 1, 1, 1), one for each
    member, as they multiply images (E, N, C, H, W)."""

    def __init__(self, process: Process) -> None:
        super().__init__()
        self.process = process

    def gamma(self, t: Tensor) -> Tensor:
        return self.process.gamma(t[None]).mT[..., None, None, None, None]

    def network_time(self, t: Tensor) -> Tensor:
        return self.process.network_time(t[None]).mT

    def sampling_times(self, steps: int, device: torch.device) -> Tensor:
        return self.process.sampling_times(steps, device)


def prompt_keys(seeds: Sequence[int], prompts: Sequence[Sequence[Prompt]]) -> Tensor:
    """A key for each image of each member, (E, N, 2): seed, then stream, then number. All at once: one key takes as
    long as a thousand."""
    streams = torch.tensor([[zlib.crc32(prompt.stream.encode()) for prompt in asked] for asked in prompts])
    images = torch.tensor([prompt.images for prompt in prompts[0]])
    owner = torch.arange(len(images)).repeat_interleave(images)
    number = torch.arange(len(owner)) - (images.cumsum(0) - images)[owner]
    members = torch.stack([_member_key(seed) for seed in seeds])
    return random.fold(random.fold(members[:, None], streams)[:, owner], number)


@lru_cache
def _member_key(seed: int) -> Tensor:
    return random.key(seed, "evaluation")
