"""What can be asked for, and in which words."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn, TypeAlias

import conceptlab
from conceptlab.cli import keeping, looking, own_data, running
from conceptlab.errors import InputError

_MODEL = "a member's folder (runs/members/…), or a figure's or a study's: of these, the first member"
_RUNS = "a figure's, a study's or any folder of runs"
_DATA = "a folder of images, with a table or sorted into folders; the table itself; an .npz or .h5 file"
_WEIGHTS = "as trained, or their moving average where one was kept"
_JSON = "for machines"

Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"


class _Parser(argparse.ArgumentParser):
    """Bad usage is one line and exit code 2, like any other bad input."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see `{self.prog} --help`")


def _whole(text: str) -> int:
    """A whole number; one that no tensor could hold, and few libraries refuse in words of their own, is none."""
    try:
        number = int(text)
    except ValueError:  # also what has more digits than Python reads
        number = None
    if number is None or abs(number) >= 2**63:
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is no whole number below 2^63")
    return number


def _path(text: str) -> Path:
    """A path. An empty one comes from a variable that was never set; it would mean the folder one stands in."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty; write . for the folder you are in")
    return Path(text)


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="conceptlab", description=conceptlab.__doc__)
    parser.add_argument("--version", action="version", version=conceptlab.__version__)
    commands = parser.add_subparsers(dest="name", metavar="COMMAND", required=True, parser_class=_Parser)
    for add in (
        _add_list,
        _add_run,
        _add_inspect,
        _add_verdict,
        _add_report,
        _add_export,
        _add_reproduction,
        _add_sample,
        _add_elicit,
        _add_bench,
        _add_studio,
        _add_diff,
    ):
        add(commands)
    for command in commands.choices.values():
        command.add_argument(
            "--plugin",
            action="append",
            default=[],
            metavar="FILE",
            help="a Python file with parts of your own",
        )
    return parser


def _add_list(commands: Commands) -> None:
    listing = commands.add_parser("list", help="every study and figure: what it shows, its claims, its cost")
    listing.add_argument("--json", action="store_true", help=_JSON)
    listing.set_defaults(command=looking.list_)


def _add_run(commands: Commands) -> None:
    run = commands.add_parser("run", help="train what is missing, draw the figures, judge the claims")
    run.add_argument("study", metavar="STUDY[.FIGURE,…]")
    run.add_argument(
        "--scale",
        choices=("tiny", "small", "paper"),
        default="small",
        help="tiny proves the pipeline; small (the default) suits a CPU; paper is the authors' setting",
    )
    run.add_argument("--seeds", type=_whole, metavar="N", help="how many seeds (0 … N-1)")
    run.add_argument(
        "--device",
        choices=("auto", "cpu", "cuda", "mps"),
        default="auto",
        help="auto: a GPU where there is one",
    )
    run.add_argument("--out", type=_path, default=Path("runs"), metavar="FOLDER", help="default: runs")
    run.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change any setting that the figure does not vary itself; repeatable",
    )
    run.add_argument("--executor", choices=("local", "ray"), default="local", help="where cohorts run")
    run.add_argument("--address", metavar="HOST:PORT", help="of a Ray cluster; without it, this machine")
    run.add_argument(
        "--gpus", type=float, default=1.0, metavar="SHARE", help="of a GPU for each cohort under Ray"
    )
    run.add_argument(
        "--cohort", type=_whole, metavar="N", help="members to train at once on a GPU; as fit if not given"
    )
    run.add_argument(
        "--piece", metavar="K/N", help="train one of N shares of the members, and judge nothing yet"
    )
    run.add_argument(
        "--ready", action="store_true", help="train nothing: make the figures whose members are all there"
    )
    run.add_argument("--plan", action="store_true", help="print what would run and what it costs")
    run.add_argument("--strict", action="store_true", help="exit with 3 if a claim is not reproduced")
    own = run.add_argument_group("for `run custom`, a study of your own data or world")
    own.add_argument("--data", type=_path, metavar="PATH", help=_DATA)
    own.add_argument("--world", metavar="NAME", help="a world by name, e.g. of your --plugin")
    own.add_argument("--train", nargs="+", default=[], metavar="CLASS[:N]", help="what the model is shown")
    own.add_argument("--test", nargs="+", default=[], metavar="CLASS", help="what it is asked for unseen")
    _add_data_options(own)
    run.set_defaults(command=running.run)


def _add_inspect(commands: Commands) -> None:
    inspect = commands.add_parser("inspect", help="what a labelled image set can and cannot teach")
    inspect.add_argument("data", type=_path, metavar="DATA", help=_DATA)
    _add_file(inspect, "inspection.html")
    inspect.add_argument("--json", action="store_true", help=_JSON)
    _add_data_options(inspect)
    inspect.set_defaults(command=own_data.inspect)


def _add_verdict(commands: Commands) -> None:
    verdict = commands.add_parser("verdict", help="the claims of a finished run")
    verdict.add_argument("path", type=_path, metavar="RUN", help=_RUNS)
    verdict.add_argument("--json", action="store_true", help=_JSON)
    verdict.set_defaults(command=looking.verdict)


def _add_report(commands: Commands) -> None:
    report = commands.add_parser("report", help="one self-contained HTML page of one or many runs")
    report.add_argument("paths", type=_path, nargs="+", metavar="PATH", help=_RUNS)
    _add_file(report, "report.html")
    report.set_defaults(command=looking.report)


def _add_export(commands: Commands) -> None:
    export = commands.add_parser("export", help="results to keep: figures, claims and members, compact")
    export.add_argument("paths", type=_path, nargs="+", metavar="PATH", help=_RUNS)
    export.add_argument(
        "--out", type=_path, default=Path("results"), metavar="FOLDER", help="default: results"
    )
    export.set_defaults(command=keeping.export)


def _add_reproduction(commands: Commands) -> None:
    reproduction = commands.add_parser("reproduction", help="a page of verdicts from results at paper scale")
    reproduction.add_argument("path", type=_path, metavar="PATH", help="the folder that `export` made")
    reproduction.add_argument(
        "--out", type=_path, metavar="FILE", help="default: REPRODUCTION.md, unless that was written by hand"
    )
    reproduction.set_defaults(command=keeping.reproduction)


def _add_sample(commands: Commands) -> None:
    sample = commands.add_parser("sample", help="images from any checkpoint and any prompt")
    sample.add_argument("path", type=_path, metavar="RUN", help=_MODEL)
    sample.add_argument("--step", type=_whole, help="of a kept checkpoint; the last if not given")
    sample.add_argument("--weights", choices=("raw", "ema"), default="raw", help=_WEIGHTS)
    sample.add_argument(
        "--prompt",
        action="append",
        metavar="CLASS[;VARIABLE=NUMBERS]",
        help="repeatable, a row for each; every class if not given",
    )
    sample.add_argument("--n", type=_whole, default=8, metavar="N", help="images for each prompt (default 8)")
    _add_file(sample, "samples.png")
    sample.set_defaults(command=looking.sample)


def _add_elicit(commands: Commands) -> None:
    elicit = commands.add_parser(
        "elicit", help="can a run draw a class already, since when, asked in which way"
    )
    elicit.add_argument("path", type=_path, metavar="RUN", help=_MODEL)
    elicit.add_argument("--class", dest="cls", required=True, metavar="CLASS", help="e.g. 11")
    elicit.add_argument("--weights", choices=("raw", "ema"), default="raw", help=_WEIGHTS)
    elicit.add_argument(
        "--n", type=_whole, default=32, metavar="N", help="images for each way of asking (default 32)"
    )
    _add_file(elicit, "elicit.png")
    elicit.set_defaults(command=looking.elicit)


def _add_bench(commands: Commands) -> None:
    bench = commands.add_parser("bench", help="speed against the plain loop, in one run")
    bench.add_argument("what", choices=("train", "sample"))
    bench.add_argument(
        "--network", action="append", metavar="NAME", help="park2024, okawa2023 or quickstart; repeatable"
    )
    bench.add_argument(
        "--members", type=_whole, nargs="+", default=None, metavar="N", help="how many together, each in turn"
    )
    bench.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto: a GPU where there is one"
    )
    bench.add_argument("--json", action="store_true", help=_JSON)
    bench.set_defaults(command=looking.bench)


def _add_studio(commands: Commands) -> None:
    studio = commands.add_parser("studio", help="a live page on this machine: browse, watch, prompt, design")
    studio.add_argument("paths", type=_path, nargs="*", metavar="PATH", help="run folders (default: runs)")
    studio.add_argument("--port", type=_whole, default=8050, help="default: 8050")
    studio.set_defaults(command=looking.studio)


def _add_diff(commands: Commands) -> None:
    diff = commands.add_parser("diff", help="two runs: configuration, curves, verdicts")
    diff.add_argument("paths", type=_path, nargs=2, metavar="PATH", help=_RUNS)
    diff.set_defaults(command=looking.diff)


def _add_file(command: _Parser, name: str) -> None:
    """The one file that a command writes; see `destination`."""
    stem, _, suffix = name.rpartition(".")
    told = f"default: {name}, or the next free of {stem}-2.{suffix}, …; a file named here is overwritten"
    command.add_argument("--out", type=_path, metavar="FILE", help=told)


def _add_data_options(parser: argparse._ActionsContainer) -> None:
    """How to read labelled images; what is left out is found out."""
    parser.add_argument(
        "--variables", nargs="+", default=[], metavar="COLUMN[=VALUES]", help="see docs/own_data.md"
    )
    parser.add_argument("--continuous", nargs="+", default=[], metavar="COLUMN", help="conditions as numbers")
    parser.add_argument("--resolution", type=_whole, metavar="N", help="crop to a square, scale to N×N")
    parser.add_argument(
        "--mode", choices=("L", "RGB", "RGBA"), default="", help="convert images to this mode"
    )
    parser.add_argument("--table", default="", metavar="NAME", help="the table, where a folder has several")
    parser.add_argument("--files", default="", metavar="COLUMN", help="the column that names the images")
    parser.add_argument(
        "--folders",
        nargs="+",
        default=[],
        metavar="NAME",
        help="what the names of folders tell, a name for each",
    )
