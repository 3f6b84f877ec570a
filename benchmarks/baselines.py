"""The two loops that the engine is compared with. Frozen: never edited for speed, in either direction.

a0  the loop as the authors of the papers write it: one model, a DataLoader with workers, eager float32, gradient
    clipping, the loss read at every step.
a1  the best a careful person gets for one model: data on the device, bfloat16, compiled, the whole step in one CUDA
    graph.

Both train the same plain network on the same images as the engine. Dropout is torch's own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from conceptlab.denoisers import KeyedDropout
from conceptlab.denoisers import build as build_denoiser
from conceptlab.diffusion import build as build_process
from conceptlab.diffusion import mse, noisy
from conceptlab.recipe import Recipe
from conceptlab.training.data import training_set
from conceptlab.worlds import build as build_world

Step = Callable[[], None]


def plain_model(recipe: Recipe, device: str) -> tuple[nn.Module, nn.Module]:
    world = build_world(**recipe.world)
    denoiser = build_denoiser(
        image_shape=world.image_shape, condition_shape=world.condition_shape, seed=0, **recipe.denoiser
    )
    for module in list(denoiser.modules()):
        for name, child in module.named_children():
            if isinstance(child, KeyedDropout):
                setattr(module, name, nn.Dropout(0.1))
    return denoiser.to(device).train(), build_process(**recipe.process).to(device)


def loss_of(
    model: nn.Module, process: nn.Module, recipe: Recipe, images: Tensor, conditions: Tensor
) -> Tensor:
    x0 = images * 2 - 1 if recipe.pixels == "symmetric" else images
    noise = torch.randn_like(x0)
    t = process.times(torch.rand(len(x0), device=x0.device))
    alpha, sigma = process.alpha_sigma(t)
    output = model(noisy(x0, noise, alpha, sigma), process.network_time(t), conditions).float()
    return mse(recipe.prediction, output, x0, noise, alpha, sigma).mean()


def authors_loop(recipe: Recipe, device: str, workers: int = 4) -> Step:
    """a0."""
    model, process = plain_model(recipe, device)
    samples = training_set(recipe)
    loader = DataLoader(
        TensorDataset(samples.images, samples.conditions),
        batch_size=recipe.batch,
        shuffle=True,
        drop_last=True,
        num_workers=workers,
        persistent_workers=workers > 0,
    )
    batches = itertools.chain.from_iterable(itertools.repeat(loader))
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.optimiser.learning_rate, weight_decay=0.01)

    def step() -> None:
        images, conditions = next(batches)
        loss = loss_of(model, process, recipe, images.to(device), conditions.to(device))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), recipe.optimiser.clip or 1.0)
        optimiser.step()
        loss.item()

    return step


def in_memory_loop(recipe: Recipe, device: str) -> Step:
    """For a CPU: one model after another over tensors in memory, with all threads, otherwise like a0."""
    model, process = plain_model(recipe, device)
    samples = training_set(recipe)
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.optimiser.learning_rate, weight_decay=0.01)

    def step() -> None:
        index = torch.randint(len(samples), (recipe.batch,))
        loss = loss_of(model, process, recipe, samples.images[index], samples.conditions[index])
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), recipe.optimiser.clip or 1.0)
        optimiser.step()

    return step


def careful_loop(recipe: Recipe, device: str = "cuda") -> Step:
    """a1."""
    model, process = plain_model(recipe, device)
    samples = training_set(recipe)
    images, conditions = samples.images.to(device), samples.conditions.to(device)
    rate = torch.tensor(recipe.optimiser.learning_rate, device=device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01, capturable=True, fused=True)
    fast = torch.compile(model, dynamic=False)

    def step() -> None:
        index = torch.randint(len(images), (recipe.batch,), device=device)
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = loss_of(fast, process, recipe, images[index], conditions[index])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), recipe.optimiser.clip or 1.0, foreach=True)
        optimiser.step()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()

    def replay() -> None:
        graph.replay()

    # What the graph reads must outlive it: a graph holds addresses, not tensors.
    replay.reads = (model, process, optimiser, images, conditions)  # pyright: ignore[reportFunctionMemberAccess]
    return replay


def eager_sampler(recipe: Recipe, device: str, images: int, steps: int) -> Step:
    """Sampling as a plain loop: one model, eager float32, the same batch size."""
    model, process = plain_model(recipe, device)
    model.eval()
    world = build_world(**recipe.world)
    condition = torch.stack([world.condition(cls) for cls in world.space])[: images or 1]
    conditions = condition.repeat(-(-images // len(condition)), 1)[:images].to(device)

    @torch.no_grad()
    def draw() -> None:
        z = torch.randn(images, *world.image_shape, device=device)
        times = torch.linspace(1, 1 / steps, steps, device=device)
        for i in range(steps):
            alpha, sigma = process.alpha_sigma(times[i])
            eps = model(z, times[i].expand(images), conditions)
            x0 = (z - sigma * eps) / alpha
            last = i == steps - 1
            next_alpha, next_sigma = (1.0, 0.0) if last else process.alpha_sigma(times[i + 1])
            z = next_alpha * x0 + next_sigma * eps
        z.cpu()

    return draw
