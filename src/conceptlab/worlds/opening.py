"""From what a user names (a folder, a table, an .npz or .h5 file) to a world with everything decided.

All that is wrong with a folder is told at once: files, headers, pixels and attributes are looked at before giving up.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from conceptlab.errors import InputError, unknown
from conceptlab.worlds import dsprites, shapes3d
from conceptlab.worlds.binning import Variables, check_labels, labels_of, passed_over, resolve, suggest
from conceptlab.worlds.celeba import ATTRIBUTES
from conceptlab.worlds.folder import LEAST_RESOLUTION, Folder
from conceptlab.worlds.folder_images import decode, look_over, paths_of
from conceptlab.worlds.folder_names import unlisted
from conceptlab.worlds.folder_table import TABLES, file_column, find_table, read_labels
from conceptlab.worlds.labelled import LabelledWorld, load_anew
from conceptlab.worlds.problems import Problems
from conceptlab.worlds.published import SIDE

_MOST_TOLD = 4


@dataclass(frozen=True)
class DataOptions:
    """What a user may say about a data set; what is left out is found out."""

    variables: Sequence[str] = ()
    continuous: Sequence[str] = ()
    resolution: int | None = None
    mode: str = ""
    table: str = ""
    files: str = ""
    folders: Sequence[str] = ()


def open_data(path: Path, options: DataOptions, tell: Callable[[str], object] | None = None) -> LabelledWorld:
    """The world of a data set, its images decoded and its fingerprint taken. The data are only read. `tell` is called
    with what was decided and a user might not think of."""
    if not path.exists():
        raise InputError(
            f"{path} does not exist; name a folder of images, a table of them, an .npz or an .h5 file"
        )
    published = path.suffix.lower() in (".npz", ".h5", ".hdf5")
    _refuse_unused(path, options, published)
    world = _published(path, options) if published else _folder(path, options, tell)
    return dataclasses.replace(world, fingerprint=load_anew(world).fingerprint)  # pyright: ignore


def _refuse_unused(path: Path, options: DataOptions, published: bool) -> None:
    """Nobody may be left to think that an option counted which what he named has no use for."""
    unused = ("mode", "table", "files", "folders") if published else () if path.is_dir() else ("table",)
    given = [name for name in unused if getattr(options, name)]
    if given == ["table"] and not published and _is_table(path, options.table):
        return  # said twice, it counts
    if given:
        kind = "a file of images" if published else "a table itself"
        raise InputError(f"--{', --'.join(given)}: for a folder, and {path} is {kind}; leave it out")


def _is_table(path: Path, named: str) -> bool:
    """Whether `--table` names the table at `path`: in its folder, as always, or as `--data` named it."""
    return any(place.exists() and place.samefile(path) for place in (path.parent / named, Path(named)))


def _published(path: Path, options: DataOptions) -> LabelledWorld:
    """dSprites or 3D Shapes."""
    sprites = path.suffix.lower() == ".npz"
    table = (dsprites if sprites else shapes3d).read_factors(path)
    if not options.variables:
        factors = ", ".join(table.columns)
        raise InputError(f"{path} has too many combinations to take all; choose --variables out of {factors}")
    variables = resolve(options.variables, table, str(path))
    _check_continuous(options, variables, table)
    problems = Problems(str(path))
    check_labels(problems, variables, table, labels_of(variables, table))
    problems.stop()
    kind = dsprites.DSprites if sprites else shapes3d.Shapes3D
    return kind(
        file=str(path.resolve()),
        variables=variables,
        continuous=tuple(options.continuous),
        resolution=SIDE if options.resolution is None else options.resolution,
    )


def _folder(path: Path, options: DataOptions, tell: Callable[[str], object] | None) -> LabelledWorld:
    if options.resolution is not None and options.resolution < LEAST_RESOLUTION:
        raise InputError(
            f"--resolution {options.resolution} is too small; give {LEAST_RESOLUTION} or more, or leave it out where "
            "all images have one size"
        )
    folder, table_name = (path, options.table) if path.is_dir() else (path.parent, path.name)
    if options.folders and table_name:
        raise InputError(
            f"--folders: labels are read from {table_name} or from names of folders; name only one of them"
        )
    if not options.folders:
        table_name = table_name or find_table(folder)
    if options.files and not table_name:
        raise InputError(
            f"--files {options.files}: names a column of a table, and names of folders are read; leave it out"
        )
    where = str(folder / table_name)
    table = read_labels(folder, table_name, options.folders)
    column = file_column(table, options.files, where)
    attributes = table.drop(columns=column)
    chosen = options.variables or ([] if table_name else _varying(attributes, where))
    unnamed = not table_name and not options.folders
    named = f"{where} (its variables are named by --folders)" if unnamed else where
    variables = _variables(chosen, attributes, named)
    _check_continuous(options, variables, attributes)
    if tell is not None and not chosen:
        _tell_others(tell, [name for name, _ in variables], attributes)
    problems = Problems(where)
    listed = paths_of(problems, folder, table[column].tolist())
    look = look_over(problems, folder, listed, options.resolution, options.mode)
    if look.readable and look.resolution < LEAST_RESOLUTION:
        about = f"{look.resolution}×{look.resolution}"
        problems.add("images that are too small", about, f"Give --resolution N, {LEAST_RESOLUTION} or more.")
    check_labels(problems, variables, table, labels_of(variables, table))
    if len(problems):
        # Loading would stop at the first kind of problem; look for damaged pixels too, then tell all.
        decode(problems, folder, look.readable, look.resolution, look.mode, None)
    problems.stop()
    if tell is not None and table_name:
        _tell_unlisted(tell, unlisted(folder, listed), where)
    return Folder(
        folder=str(folder.resolve()),
        table=table_name,
        files=column,
        variables=variables,
        continuous=tuple(options.continuous),
        resolution=look.resolution,
        mode=look.mode,
        folders=() if table_name else tuple(attributes.columns),
    )


def _check_continuous(options: DataOptions, variables: Variables, table: pd.DataFrame) -> None:
    """A number enters the condition as it is; which class an image belongs to is still told by bins."""
    names = [name for name, _ in variables]
    for name in options.continuous:
        if name not in names and name in table.columns:
            example = shlex.join([*(options.variables or names), f"{name}/2"])
            raise InputError(
                f"--continuous {name}: it is no variable yet; give it bins, too, e.g. --variables {example}"
            )
        if name not in names:
            raise unknown("variable", name, names, where="--continuous")


def _tell_others(tell: Callable[[str], object], names: list[str], attributes: pd.DataFrame) -> None:
    """A column of numbers is never taken unasked; whoever cares for it must not think that it was."""
    if others := passed_over(attributes, names):
        more = " …" if len(others) > _MOST_TOLD else ""
        tell(
            f"taken for variables: {', '.join(names)}; to take others, too, name all, e.g. --variables "
            f"{shlex.join([*names, *others[:_MOST_TOLD]])}{more}"
        )


def _tell_unlisted(tell: Callable[[str], object], images: Sequence[str], where: str) -> None:
    """No error: a table may choose. But rows that were lost on the way are found out here or nowhere."""
    if images:
        shown = f"1 image ({images[0]})" if len(images) == 1 else f"{len(images)} images ({images[0]}, …)"
        tell(f"not listed in {where}, so left out: {shown}")


def _varying(attributes: pd.DataFrame, where: str) -> list[str]:
    """Of what names of folders tell nothing is left out but what is always the same, as `train` in `train/red`."""
    found = [str(name) for name in attributes.columns if attributes[name].nunique() > 1]
    if not found:
        same = ", ".join(map(str, attributes.iloc[0]))
        raise InputError(
            f"{where}: all images lie in folders of the same name ({same}); two values or more are needed, or a "
            f"table of labels beside the folders ({', '.join(TABLES)})"
        )
    return found


def _variables(texts: Sequence[str], attributes: pd.DataFrame, where: str) -> Variables:
    chosen = list(texts) or suggest(attributes)
    if not texts and Path(where).name == ATTRIBUTES:
        raise InputError(
            f"{where} has {attributes.shape[1]} attributes; choose --variables, e.g. Male Smiling"
        )
    if attributes.shape[1] == 0:
        raise InputError(f"{where} has no column beside that of file names; add one for each variable")
    if not chosen and attributes.nunique().max() < 2:
        raise InputError(
            f"{where}: no column tells its images apart ({len(attributes)} in all); two values or more of one are "
            "needed"
        )
    if not chosen:
        # Numbers, where there are any, as they would be written; values put together under a name otherwise.
        numbers = passed_over(attributes, ())
        example = f"'{numbers[0]}'" if numbers else f"'{attributes.columns[0]}=NAME:VALUE+VALUE,NAME:VALUE'"
        raise InputError(
            f"{where}: no column has between 2 and 10 values; choose --variables out of "
            f"{', '.join(map(str, attributes.columns[:12]))} and bin them, e.g. {example}"
        )
    return resolve(chosen, attributes, where)
