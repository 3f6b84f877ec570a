"""The command line: parses, calls, prints. What it does lies in the rooms it calls."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console

import conceptlab
from conceptlab import plugins
from conceptlab.errors import InputError

if TYPE_CHECKING:
    from conceptlab.executors import Place
    from conceptlab.store import Store
    from conceptlab.studies import Figure, Order, Study
    from conceptlab.worlds import DataOptions

# Rich takes a pipe or a log for 80 columns wide; tables of claims need more.
OUT = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 140)
ERR = Console(stderr=True, highlight=False, soft_wrap=True)


class _Parser(argparse.ArgumentParser):
    """Bad usage is one line and exit code 2, like any other bad input."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see `{self.prog} --help`")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done; 2 bad input; 3 a claim was not reproduced under --strict; 130 interrupted; 1 our bug."""
    try:
        options = _parser().parse_args(arguments)
        plugins.add(options.plugin)
        return options.command(options)
    except InputError as error:
        ERR.print(f"conceptlab: {error}", markup=False, style="bold red")
        return 2
    except KeyboardInterrupt:
        ERR.print("interrupted; the same command continues where it stopped")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="conceptlab", description=conceptlab.__doc__)
    parser.add_argument("--version", action="version", version=conceptlab.__version__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)

    listing = commands.add_parser("list", help="every study and figure: what it shows, its claims, its cost")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(command=_list)

    run = commands.add_parser("run", help="train what is missing, draw the figures, judge the claims")
    run.add_argument("study", metavar="STUDY[.FIGURE]")
    run.add_argument("--scale", choices=("tiny", "small", "paper"), default="small")
    run.add_argument("--seeds", type=int, metavar="N", help="how many seeds (0 … N-1)")
    run.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto")
    run.add_argument("--out", type=Path, default=Path("runs"), metavar="FOLDER")
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change any setting")
    run.add_argument("--executor", choices=("local", "ray"), default="local", help="where cohorts run")
    run.add_argument("--address", metavar="HOST:PORT", help="of a Ray cluster; without it, this machine")
    run.add_argument(
        "--gpus", type=float, default=1.0, metavar="SHARE", help="of a GPU for each cohort under Ray"
    )
    run.add_argument(
        "--cohort", type=int, metavar="N", help="members to train at once on a GPU; as fit if not given"
    )
    run.add_argument(
        "--piece", metavar="K/N", help="train one of N shares of the members, and judge nothing yet"
    )
    run.add_argument("--plan", action="store_true", help="print what would run and what it costs")
    run.add_argument("--strict", action="store_true", help="exit with 3 if a claim is not reproduced")
    own = run.add_argument_group("for `run custom`, a study of your own data or world")
    own.add_argument("--data", type=Path, metavar="PATH", help="images with a table, an .npz or .h5 file")
    own.add_argument("--world", metavar="NAME", help="a world by name, e.g. of your --plugin")
    own.add_argument("--train", nargs="+", default=[], metavar="CLASS[:N]", help="what the model is shown")
    own.add_argument("--test", nargs="+", default=[], metavar="CLASS", help="what it is asked for unseen")
    _add_data_options(own)
    run.set_defaults(command=_run)

    inspect = commands.add_parser("inspect", help="what a labelled image set can and cannot teach")
    inspect.add_argument("data", type=Path, metavar="DATA")
    inspect.add_argument("--out", type=Path, default=Path("inspection.html"), metavar="FILE")
    inspect.add_argument("--json", action="store_true")
    _add_data_options(inspect)
    inspect.set_defaults(command=_inspect)

    verdict = commands.add_parser("verdict", help="the claims of a finished run")
    verdict.add_argument("path", type=Path)
    verdict.add_argument("--json", action="store_true")
    verdict.set_defaults(command=_verdict)

    report = commands.add_parser("report", help="one self-contained HTML page of one or many runs")
    report.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    report.add_argument("--out", type=Path, default=Path("report.html"), metavar="FILE")
    report.set_defaults(command=_report)

    sample = commands.add_parser("sample", help="images from any checkpoint and any prompt")
    sample.add_argument("path", type=Path)
    sample.add_argument("--step", type=int)
    sample.add_argument("--weights", choices=("raw", "ema"), default="raw")
    sample.add_argument("--prompt", action="append", metavar="CLASS[;VARIABLE=NUMBERS]", help="repeatable")
    sample.add_argument("--n", type=int, default=8, metavar="N")
    sample.add_argument("--out", type=Path, default=Path("samples.png"), metavar="FILE")
    sample.set_defaults(command=_sample)

    elicit = commands.add_parser(
        "elicit", help="can a run draw a class already, since when, asked in which way"
    )
    elicit.add_argument("path", type=Path)
    elicit.add_argument("--class", dest="cls", required=True, metavar="CLASS", help="e.g. 11")
    elicit.add_argument("--weights", choices=("raw", "ema"), default="raw")
    elicit.add_argument("--n", type=int, default=32, metavar="N", help="images for each way of asking")
    elicit.add_argument("--out", type=Path, default=Path("elicit.png"), metavar="FILE")
    elicit.set_defaults(command=_elicit)

    bench = commands.add_parser("bench", help="speed against the plain loop, in one run")
    bench.add_argument("what", choices=("train", "sample"))
    bench.add_argument("--network", action="append", metavar="NAME", help="park2024, okawa2023 or quickstart")
    bench.add_argument("--members", type=int, nargs="+", default=None, metavar="N")
    bench.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    bench.add_argument("--json", action="store_true")
    bench.set_defaults(command=_bench)

    studio = commands.add_parser("studio", help="a live page on this machine: browse, watch, prompt, design")
    studio.add_argument("paths", type=Path, nargs="*", metavar="PATH", help="run folders (default: runs)")
    studio.add_argument("--port", type=int, default=8050)
    studio.set_defaults(command=_studio)

    diff = commands.add_parser("diff", help="two runs: configuration, curves, verdicts")
    diff.add_argument("paths", type=Path, nargs=2, metavar="PATH")
    diff.set_defaults(command=_diff)
    for command in commands.choices.values():
        command.add_argument(
            "--plugin",
            action="append",
            default=[],
            metavar="FILE",
            help="a Python file with parts of your own",
        )
    return parser


def _add_data_options(parser: argparse._ActionsContainer) -> None:
    """How to read labelled images; what is left out is found out."""
    parser.add_argument(
        "--variables", nargs="+", default=[], metavar="COLUMN[=VALUES]", help="see docs/own_data.md"
    )
    parser.add_argument("--continuous", nargs="+", default=[], metavar="COLUMN", help="conditions as numbers")
    parser.add_argument(
        "--resolution", type=int, default=0, metavar="N", help="crop to a square, scale to N×N"
    )
    parser.add_argument("--mode", choices=("L", "RGB", "RGBA"), default="")
    parser.add_argument("--table", default="", metavar="NAME", help="the table, where a folder has several")
    parser.add_argument("--files", default="", metavar="COLUMN", help="the column that names the images")


# Imports lie inside the commands: `conceptlab --help` answers at once, without loading torch.


def _list(options: argparse.Namespace) -> int:
    from conceptlab.terminal.listing import listing, listing_table

    if options.json:
        print(json.dumps(listing(), indent=1, ensure_ascii=False))
    else:
        OUT.print(listing_table())
    return 0


def _run(options: argparse.Namespace) -> int:
    from conceptlab import executors, studies
    from conceptlab.claims import render_verdicts
    from conceptlab.recipe import parse_settings
    from conceptlab.report import report
    from conceptlab.store import Store
    from conceptlab.terminal.listing import plan_table
    from conceptlab.terminal.progress import showing_progress

    settings = parse_settings(options.set)
    if options.study == "custom":
        study, figures = _custom(options, settings)
    else:
        if options.data or options.world or options.train or options.test:
            raise InputError(
                f"--data, --world, --train and --test are for `run custom`, not for {options.study}"
            )
        study, figures = studies.find(options.study)
    seeds = studies.parse_seeds(study, options.scale, options.seeds)
    order = studies.Order(study, figures, options.scale, seeds, settings)
    where = executors.place(options.executor, options.device, options.address, options.gpus, options.cohort)
    store = Store(options.out)
    if options.piece:
        return _piece(options, order, where, store)
    if options.plan:
        OUT.print(plan_table(order, order.all_recipes(), store, where))
        return 0
    with showing_progress(order.all_recipes(), store, ERR) as tell:
        runs = studies.run(order, store, where.device, tell, where.train)
    verdicts = [verdict for run in runs for verdict in run.verdicts]
    OUT.print(
        render_verdicts(verdicts, title=f"{options.study} at {options.scale} scale, {len(seeds)} seeds")
    )
    page = report(runs, store.root / study.name / options.scale / "report.html")
    OUT.print(f"report: {page}", markup=False)
    failed = any(verdict.verdict == "not reproduced" for verdict in verdicts)
    return 3 if options.strict and failed else 0


def _piece(options: argparse.Namespace, order: Order, where: Place, store: Store) -> int:
    from conceptlab import executors
    from conceptlab.terminal.listing import plan_table
    from conceptlab.terminal.progress import showing_progress

    number, count = executors.parse_piece(options.piece)
    recipes = order.all_recipes()
    share = executors.piece(recipes, number, count)
    if options.plan:
        OUT.print(plan_table(order, share, store, where))
        return 0
    with showing_progress(share, store, ERR) as tell:
        where.train(share, store, where.device, tell)
    OUT.print(
        f"piece {number} of {count}: {len(share)} of {len(recipes)} members are done. Put the folders in "
        f"{store.root / 'members'} of all pieces together, then run this without --piece.",
        markup=False,
    )
    return 0


def _custom(options: argparse.Namespace, settings: dict[str, Any]) -> tuple[Study, tuple[Figure, ...]]:
    from conceptlab.studies import custom
    from conceptlab.worlds import build, open_data

    if (options.data is None) == (options.world is None):
        raise InputError("run custom needs either --data PATH or --world NAME; see docs/own_data.md")
    if options.data is not None:
        _keep_out(options.out, options.data)
        world = open_data(options.data, _data_options(options))
        words = ["--data", str(options.data), *_data_words(options)]
    else:
        prefix = "world."
        world = build(
            options.world, **{k[len(prefix) :]: v for k, v in settings.items() if k.startswith(prefix)}
        )
        words = ["--world", options.world]
    for name in ("train", "test"):
        given = getattr(options, name)
        words += [f"--{name}", *given] if given else []
    words += [word for file in options.plugin for word in ("--plugin", str(file))]
    study = custom.study(world, custom.roles(world, options.train, options.test), words)
    return study, study.figures


def _data_options(options: argparse.Namespace) -> DataOptions:
    from conceptlab.worlds import DataOptions

    names = ("variables", "continuous", "resolution", "mode", "table", "files")
    return DataOptions(**{name: getattr(options, name) for name in names})


def _data_words(options: argparse.Namespace) -> list[str]:
    """The options about the data, as they were written."""
    words: list[str] = []
    for name in ("variables", "continuous", "resolution", "mode", "table", "files"):
        value = getattr(options, name)
        if value:
            words += [f"--{name}", *(map(str, value) if isinstance(value, list) else [str(value)])]
    return words


def _keep_out(out: Path, data: Path) -> None:
    """Nothing is ever written where a user's data lie."""
    # A published file may lie anywhere, also where one works; a table lies among its images.
    published = data.suffix.lower() in (".npz", ".h5", ".hdf5")
    folder = (data if data.is_dir() else data.parent).resolve()
    if data.exists() and not published and out.resolve().is_relative_to(folder):
        raise InputError(f"--out {out} lies in the data folder, where nothing is written; name another place")


def _inspect(options: argparse.Namespace) -> int:
    from conceptlab.report.inspection import inspection_page
    from conceptlab.terminal.inspection import inspection_table
    from conceptlab.worlds import open_data
    from conceptlab.worlds.inspection import inspect

    _keep_out(options.out, options.data)
    found = inspect(open_data(options.data, _data_options(options)))
    words = ["conceptlab", "run", "custom", "--data", str(options.data), *_data_words(options)]
    page = inspection_page(found, options.out, shlex.join(words))
    if options.json:
        print(json.dumps(found.to_json(), indent=1, ensure_ascii=False))
    else:
        OUT.print(inspection_table(found))
        OUT.print(f"page: {page}", markup=False)
    for problem in found.problems:
        ERR.print(f"conceptlab: {problem}", markup=False, style="bold red")
    return 2 if found.problems else 0


def _verdict(options: argparse.Namespace) -> int:
    from conceptlab.claims import render_verdicts, to_json
    from conceptlab.store import find_figures

    verdicts = [verdict for run in find_figures(options.path) for verdict in run.verdicts]
    if options.json:
        print(json.dumps(to_json(verdicts), indent=1, ensure_ascii=False))
    else:
        OUT.print(render_verdicts(verdicts, title=str(options.path)))
    return 0


def _report(options: argparse.Namespace) -> int:
    from conceptlab.report import report
    from conceptlab.store import find_figures

    runs = {run.path: run for path in options.paths for run in find_figures(path)}
    OUT.print(f"report: {report(list(runs.values()), options.out)}", markup=False)
    return 0


def _sample(options: argparse.Namespace) -> int:
    from conceptlab.executors import draw, parse_prompt
    from conceptlab.store import find_members
    from conceptlab.store.files import write_sheet

    if options.n < 1:
        raise InputError(f"--n {options.n}: at least one image is needed")
    member = find_members(options.path)[0]
    texts = options.prompt or [member.world.space.code(cls) for cls in member.world.space]
    prompts = [parse_prompt(member.world, text, options.n) for text in texts]
    write_sheet(options.out, draw(member, prompts, options.step, options.weights))
    step = options.step or member.checkpoint_steps[-1]
    OUT.print(
        f"{options.out}: seed {member.recipe.seed}, step {step}, a row for each of {', '.join(texts)}",
        markup=False,
    )
    return 0


def _elicit(options: argparse.Namespace) -> int:
    from conceptlab.executors import elicit
    from conceptlab.store import find_members
    from conceptlab.store.files import write_sheet
    from conceptlab.terminal.elicit import ways_table

    member = find_members(options.path)[0]
    found = elicit(member, options.cls, options.n, options.weights)
    OUT.print(ways_table(found.ways, f"class {found.code}, member {member.id}, seed {member.recipe.seed}"))
    OUT.print(found.sentence, markup=False)
    write_sheet(options.out, found.images)
    OUT.print(f"{options.out}: a row for each of {'; '.join(found.shown)}", markup=False)
    return 0


def _bench(options: argparse.Namespace) -> int:
    from conceptlab.bench import bench_sample, bench_table, bench_train
    from conceptlab.executors import choose_device

    device = choose_device(options.device)
    networks = options.network or (["park2024", "okawa2023"] if device.type == "cuda" else ["quickstart"])
    members = options.members or ([8, 16] if device.type == "cuda" else [4])
    measure = bench_train if options.what == "train" else bench_sample
    result = measure(networks, members, device)
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        OUT.print(bench_table(result))
    return 0


def _studio(options: argparse.Namespace) -> int:
    try:
        from conceptlab.studio import Studio, serve
    except ModuleNotFoundError as error:
        if error.name not in ("dash", "flask", "werkzeug"):
            raise
        raise InputError("the studio needs dash; install it with: pip install 'conceptlab[studio]'") from None

    default = [Path("runs")] if Path("runs").is_dir() else []
    studio = Studio.of(options.paths or default)
    serve(
        studio, options.port, lambda address: OUT.print(f"studio: {address} (Ctrl-C ends it)", markup=False)
    )
    return 0


def _diff(options: argparse.Namespace) -> int:
    from conceptlab.terminal.diff import diff

    OUT.print(diff(*options.paths))
    return 0
