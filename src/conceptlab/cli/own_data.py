"""`conceptlab inspect` and `conceptlab run custom`: images, worlds and networks of one's own."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conceptlab.cli.console import ERR, OUT, print_json
from conceptlab.errors import InputError

if TYPE_CHECKING:
    from conceptlab.studies import Figure, Study
    from conceptlab.worlds import DataOptions
    from conceptlab.worlds.inspection import Inspection

_DATA_OPTIONS = ("variables", "continuous", "resolution", "mode", "table", "files", "folders")
OPTIONS = ("data", "world", "train", "test", *_DATA_OPTIONS)
"""Options of `run` that only own data have."""
_PAGE = "inspection.html"


def inspect(options: argparse.Namespace) -> int:
    from conceptlab.cli.destination import check_destination, destination
    from conceptlab.report.inspection import inspection_page
    from conceptlab.terminal.inspection import inspection_table
    from conceptlab.worlds import open_data
    from conceptlab.worlds.inspection import inspect as look

    notes: list[str] = []
    world = open_data(options.data, _data_options(options), notes.append)
    _keep_out(options.out or Path(_PAGE), options.data)
    check_destination(options.out, _PAGE)
    found = look(world)
    words = ["conceptlab", "run", "custom", "--data", str(options.data), *_data_words(options)]
    words += ["--train", *found.to_show] if found.to_show else []
    words += ["--test", *found.to_hold_out] if found.to_hold_out else []
    if refusal := _refusal(found):
        notes.append(f"`run` refuses the command as it is: {refusal}")
    with destination(options.out, _PAGE) as out:
        page = inspection_page(found, out, shlex.join(words), notes)
    if options.json:
        print_json(found.to_json())
    else:
        OUT.print(inspection_table(found))
        OUT.print(f"train on it: {shlex.join(words)}")
    (ERR if options.json else OUT).print(f"page: {page}")
    for note in notes:
        ERR.print(note)
    for problem in found.problems:
        ERR.print(f"conceptlab: {problem}", style="bold red")
    return 2 if found.problems else 0


def _refusal(found: Inspection) -> str:
    """What `run` would answer to the command that is printed, if anything. What should be mended first is told
    anyway."""
    from conceptlab.studies import custom
    from conceptlab.training.cost import model_flops

    if found.problems:
        return ""
    try:
        chosen = custom.roles(found.world, found.to_show, found.to_hold_out)
        for figure in custom.study(found.world, chosen, ()).figures:
            for recipe in figure.recipes("small", (0,)):
                model_flops(recipe)  # the network is built, on no device
    except InputError as error:
        return str(error)
    return ""


def custom(options: argparse.Namespace, settings: dict[str, Any]) -> tuple[Study, tuple[Figure, ...]]:
    from conceptlab.studies import custom, figures_of
    from conceptlab.worlds import build, open_data

    if (options.data is None) == (options.world is None):
        raise InputError("run custom needs either --data PATH or --world NAME; see docs/own_data.md")
    _refuse_train(settings)
    notes: list[str] = []
    if options.data is not None:
        _keep_out(options.out, options.data)
        _refuse_world(settings)
        world = open_data(options.data, _data_options(options), notes.append)
        words = ["--data", str(options.data), *_data_words(options)]
    else:
        if given := [name for name in _DATA_OPTIONS if is_given(getattr(options, name))]:
            raise InputError(
                f"--{', --'.join(given)}: for --data, not for --world; set a world with --set world.…"
            )
        prefix = "world."
        world = build(
            options.world, **{k[len(prefix) :]: v for k, v in settings.items() if k.startswith(prefix)}
        )
        words = ["--world", options.world]
    for name in ("train", "test"):
        given = getattr(options, name)
        words += [f"--{name}", *given] if given else []
    study = custom.study(world, custom.roles(world, options.train, options.test), words, notes)
    return study, figures_of(study, options.study)


def _refuse_world(settings: Mapping[str, Any]) -> None:
    """Set behind its back, a world would hold other images than those that were looked at, and say they had changed."""
    for key in settings:
        if key.partition(".")[0] == "world":
            options = ", ".join(f"--{name}" for name in _DATA_OPTIONS)
            raise InputError(f"--set {key}: what is made of --data is said by {options}")


def _refuse_train(settings: Mapping[str, Any]) -> None:
    """Set behind the backs of --train and --test, a class would be shown and judged as one that never was."""
    for key in settings:
        if key.partition(".")[0] == "train":
            raise InputError(
                f"--set {key}: what is shown is said by --train, e.g. 01:200 for 200 images of 01"
            )


def _data_options(options: argparse.Namespace) -> DataOptions:
    from conceptlab.worlds import DataOptions

    return DataOptions(**{name: getattr(options, name) for name in _DATA_OPTIONS})


def _data_words(options: argparse.Namespace) -> list[str]:
    """The options about the data, as they were written."""
    words: list[str] = []
    for name in _DATA_OPTIONS:
        value = getattr(options, name)
        if is_given(value):
            words += [f"--{name}", *(map(str, value) if isinstance(value, list) else [str(value)])]
    return words


def is_given(value: object) -> bool:
    """Whether an option of `OPTIONS` was written: a zero is, and nobody may be left to think that it counted."""
    return value is not None and value != "" and value != []


def _keep_out(out: Path, data: Path) -> None:
    """Nothing is ever written where a user's data lie."""
    # A published file may lie anywhere, also where one works; a table lies among its images.
    published = data.suffix.lower() in (".npz", ".h5", ".hdf5")
    folder = (data if data.is_dir() else data.parent).resolve()
    if data.exists() and not published and out.resolve().is_relative_to(folder):
        raise InputError(f"--out {out} lies in the data folder, where nothing is written; name another place")
