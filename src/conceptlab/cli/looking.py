"""The commands that look at what is there: lists, verdicts, reports, images, speed, the live page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from conceptlab.cli.console import ERR, OUT, print_json
from conceptlab.errors import InputError

if TYPE_CHECKING:
    from conceptlab.store import Member


def list_(options: argparse.Namespace) -> int:
    from conceptlab.terminal.listing import listing, listing_table

    if options.json:
        print_json(listing())
    else:
        OUT.print(listing_table())
    return 0


def verdict(options: argparse.Namespace) -> int:
    from conceptlab.claims import render_verdicts, to_json
    from conceptlab.store import find_figures
    from conceptlab.studies import in_order
    from conceptlab.terminal.signatures import signature_table
    from conceptlab.terminal.unfinished import unfinished_lines

    runs = in_order(find_figures(options.path))
    verdicts = [verdict for run in runs for verdict in run.verdicts]
    unfinished = unfinished_lines(runs)
    if unfinished and not verdicts:
        first, *others = unfinished
        more = f"; {len(others)} more {'run is' if len(others) == 1 else 'runs are'} not finished"
        raise InputError(first + (more if others else ""))
    for line in unfinished:
        ERR.print(line)
    if options.json:
        print_json(to_json(verdicts))
    else:
        OUT.print(render_verdicts(verdicts, title=str(options.path), width=OUT.width))
        if signatures := signature_table(runs):
            OUT.print(signatures)
    return 0


def report(options: argparse.Namespace) -> int:
    from conceptlab.cli.destination import destination
    from conceptlab.report import report as write
    from conceptlab.store import find_figures

    # What is damaged has its place on the page, where it says so.
    runs = {run.path: run for path in options.paths for run in find_figures(path, damaged=True)}
    with destination(options.out, "report.html") as out:
        page = write(list(runs.values()), out)
    OUT.print(f"report: {page}")
    return 0


def sample(options: argparse.Namespace) -> int:
    import torch

    from conceptlab.cli.destination import check_destination, destination
    from conceptlab.executors import draw, parse_prompt
    from conceptlab.store.files import write_sheet
    from conceptlab.terminal.progress import showing_images

    if options.n < 1:
        raise InputError(f"--n {options.n}: at least one image is needed")
    member = _first_member(options.path)
    texts = options.prompt or [member.world.space.code(cls) for cls in member.world.space]
    prompts = [parse_prompt(member.world, text, options.n) for text in texts]
    check_destination(options.out, "samples.png")
    with showing_images(options.n * len(prompts), ERR) as tell:
        drawn = draw(member, prompts, options.step, options.weights, tell)
    images = (drawn.clamp(0, 1) * 255).round().byte()
    with destination(options.out, "samples.png") as out:
        write_sheet(out, torch.from_numpy(member.world.on_paper(images.numpy())) / 255)
    step = options.step or member.checkpoint_steps[-1]
    OUT.print(f"{out}: seed {member.recipe.seed}, step {step}, a row for each of {', '.join(texts)}")
    return 0


def elicit(options: argparse.Namespace) -> int:
    from conceptlab.cli.destination import check_destination, destination
    from conceptlab.executors import elicit as ask
    from conceptlab.figures import labelled_sheet
    from conceptlab.store.files import write_atomically
    from conceptlab.terminal.elicit import ways_table

    member = _first_member(options.path)
    check_destination(options.out, "elicit.png")
    with ERR.status("loading") as waiting:
        found = ask(member, options.cls, options.n, options.weights, waiting.update)
    title = f"class {found.code}, member {member.id}, seed {member.recipe.seed}"
    OUT.print(ways_table(found.ways, title, probes=1 + (member.recipe.evaluation.second_probe is not None)))
    OUT.print(found.sentence)
    pictures = (found.images.clamp(0, 1) * 255).round().byte().numpy()
    labels = [found.label(name) for name in found.shown]
    heading = f"Class {found.code}, asked in {len(labels)} ways (95% intervals over images, each by itself)"
    page = labelled_sheet(member.world.on_paper(pictures), labels, heading)
    with destination(options.out, "elicit.png") as out:
        write_atomically(out, lambda path: page.savefig(path, format="png"))
    OUT.print(f"{out}: what the last checkpoint draws, a row for each way of asking")
    return 0


def _first_member(path: Path) -> Member:
    from conceptlab.store import find_members

    for member in find_members(path, begun=True):
        return member
    raise InputError(
        f"{path} holds no trained model yet; run its study, or name a figure that trains some or a member's folder"
    )


def diff(options: argparse.Namespace) -> int:
    from conceptlab.terminal.diff import diff as compare

    OUT.print(compare(*options.paths))
    return 0


def studio(options: argparse.Namespace) -> int:
    try:
        from conceptlab.studio import Studio, serve
    except ModuleNotFoundError as error:
        if error.name not in ("dash", "flask", "werkzeug"):
            raise
        raise InputError("the studio needs dash; install it with: pip install 'conceptlab[studio]'") from None

    default = [Path("runs")] if Path("runs").is_dir() else []
    studio = Studio.of(options.paths or default)
    serve(studio, options.port, lambda address: OUT.print(f"studio: {address} (Ctrl-C ends it)"))
    return 0


def bench(options: argparse.Namespace) -> int:
    from conceptlab.bench import bench_sample, bench_table, bench_train, case_line
    from conceptlab.executors import choose_device

    device = choose_device(options.device)
    networks = options.network or (["park2024", "okawa2023"] if device.type == "cuda" else ["quickstart"])
    members = options.members or ([8, 16] if device.type == "cuda" else [4])
    measure = bench_train if options.what == "train" else bench_sample
    result = measure(networks, members, device, lambda case: ERR.print(case_line(case)))
    if options.json:
        print_json(result)
    else:
        OUT.print(bench_table(result))
    return 0
