"""One's own data from the folder to the report, as docs/own_data.md tells it; nothing in the folder changes."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import conceptlab
from conceptlab.cli import main
from conceptlab.errors import InputError
from conceptlab.store import find_members, go_on
from conceptlab.studies import custom
from conceptlab.studies.custom_figures import draw
from conceptlab.studies.study import Results
from conceptlab.worlds import DataOptions, build, open_data
from tests.examples import run_script
from tests.image_folder import everything, write_folder
from tests.studies.own_data import SMALL, own_cache, state_of

__all__ = ["own_cache"]

DOCS = Path(__file__).parents[2] / "docs" / "own_data.md"

# With twenty images a class the judge may stay below 99 %; on real data that is a warning.
pytestmark = pytest.mark.filterwarnings("ignore:the cnn probe reads")


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder to work in, with the data the page speaks of."""
    place = tmp_path_factory.mktemp("own")
    write_folder(place / "my_shapes", {**everything(20), "110": 0})
    return place


def commands(start: str) -> list[list[str]]:
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith(start)]


def test_inspect_as_the_page_tells(place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    before = state_of(place / "my_shapes")
    (command,) = commands("conceptlab inspect my_shapes")
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "140 images show 7 of the 8 combinations" in shown
    page = (place / "my_shapes.html").read_text(encoding="utf-8")
    assert "Expected order of learning" in page
    assert "http" not in re.sub(r"data:[^\"]+", "", page).replace("http-equiv", "")
    assert main([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [row["class"] for row in data["classes"] if not row["count"]] == ["110"]
    assert state_of(place / "my_shapes") == before


@pytest.mark.parametrize("line", ["my_pets/cat/black/0001.jpg", "my_pets/cat_black/0001.jpg"])
def test_folders_named_after_labels_are_read_as_the_page_tells(tmp_path, monkeypatch, capsys, line):
    assert f"\n{line}\n" in DOCS.read_text(encoding="utf-8")
    for number, (animal, colour) in enumerate(itertools.product(("cat", "dog"), ("black", "white"))):
        for copy in range(4):
            path = tmp_path / line.replace("cat", animal).replace("black", colour).replace("1.", f"{copy}.")
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (16, 16), (60 * number, 40 * copy, 90)).save(path)
    monkeypatch.chdir(tmp_path)
    before = state_of(tmp_path / "my_pets")
    (command,) = commands("conceptlab inspect my_pets")
    assert main(command) == 0
    assert "16 images show 4 of the 4 combinations of animal, colour." in capsys.readouterr().out
    page = (tmp_path / "inspection.html").read_text(encoding="utf-8")
    options_unmarked = re.sub("</?span[^>]*>", "", page)
    assert "conceptlab run custom --data my_pets --folders animal colour" in options_unmarked
    assert "<h1>my_pets</h1>" in page
    words = ["--test", "animal=dog,colour=white", "--scale", "tiny", *SMALL]
    assert main(["run", "custom", "--data", "my_pets", *command[2:], *words]) == 0
    found = conceptlab.load(tmp_path / "runs" / "custom")
    assert sorted(found.tables["curves"].query("role == 'train'")["class"].unique()) == ["00", "01", "10"]
    capsys.readouterr()
    again = shlex.split(found.manifest["command"])[1:]
    assert main([*again, "--device", "cpu"]) == 0
    assert "1 of 1 members are done already" in capsys.readouterr().err
    assert state_of(tmp_path / "my_pets") == before


@pytest.fixture(scope="module")
def run(place) -> Path:
    (command,) = (c for c in commands("conceptlab run custom --data"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert main([*command, *SMALL]) == 0
    return place / "runs"


def test_run_custom_as_the_page_tells(run, place):
    found = conceptlab.load(run / "custom")
    assert [verdict.id for verdict in found.verdicts] == ["custom.shown", "custom.held-out", "custom.order"]
    curves = found.tables["curves"]
    roles = curves.groupby("role")["class"].unique()
    assert sorted(roles["train"]) == ["000", "001", "010", "100"]
    assert sorted(roles["test"]) == ["011", "111"]
    assert {"accuracy", "corrected"} <= set(curves["measure"])
    assert set(found.tables["times"]["role"]) == {"train", "test"}
    record = json.loads((found.members[0].path / "probe.json").read_text())
    assert record["judge"]["name"] == "cnn"
    assert 0.5 < record["judge"]["validation"]["joint"] <= 1
    assert (run / "custom" / "tiny" / "report.html").stat().st_size > 10_000
    assert len(state_of(place / "my_shapes")) == 141


def test_the_picture_shows_what_the_claims_rest_on(run):
    """On real images both are corrected for the probe's confusion; the marks in the panel are, too."""
    found = conceptlab.load(run / "custom")
    tables = {**found.tables}
    curves = tables["curves"]
    right = curves["measure"] == "corrected"
    tables["curves"] = curves.assign(value=curves["value"].where(~right, 0.25))
    page = draw(Results(found.members, "tiny", (0,)), tables)
    (panel,) = (ax for ax in page.axes if ax.get_ylabel() == "accuracy, corrected")
    drawn = [line for line in panel.get_lines() if np.size(line.get_xdata()) == curves["step"].nunique()]
    assert drawn
    assert all(np.all(np.asarray(line.get_ydata()) == 0.25) for line in drawn)


def test_the_command_in_the_manifest_runs_it_again(run, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    command = shlex.split(conceptlab.load(run / "custom").manifest["command"])[1:]
    assert main([*command, "--device", "cpu"]) == 0
    assert "1 of 1 members are done already" in capsys.readouterr().err


def test_the_command_that_goes_on_works_from_elsewhere(run, place, tmp_path, monkeypatch, capsys):
    """The folder of images was named as it is seen from where the run was begun."""
    monkeypatch.chdir(tmp_path)
    cd, told = go_on(conceptlab.load(run / "custom")).split(" && ")
    assert shlex.split(cd) == ["cd", str(place)]
    assert main([*shlex.split(told)[1:], "--plan"]) == 2
    assert "my_shapes does not exist" in capsys.readouterr().err
    monkeypatch.chdir(shlex.split(cd)[1])
    assert go_on(conceptlab.load(run / "custom")) == told
    assert main([*shlex.split(told)[1:], "--device", "cpu"]) == 0
    assert "1 of 1 members are done already" in capsys.readouterr().err


def test_other_data_do_not_take_the_folder_over(run, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    arguments = [
        "run",
        "custom",
        "--data",
        "my_shapes",
        "--variables",
        "shape",
        "colour",
        "--scale",
        "tiny",
        *SMALL,
    ]
    assert main(arguments) == 2
    assert "another configuration" in capsys.readouterr().err


def test_the_plugin_of_the_page(place, monkeypatch, capsys):
    code = _example(1)
    (place / "stripes.py").write_text(code)
    monkeypatch.chdir(place)
    train, plan = commands("conceptlab run custom --plugin") + commands(
        "conceptlab run quickstart --plugin stripes"
    )
    assert (
        main(
            [*train, "--out", "own", "--seeds", "1", "--device", "cpu", "--set", "evaluation.final_images=4"]
        )
        == 0
    )
    found = conceptlab.load(place / "own")
    assert found.members[0].recipe.denoiser["name"] == "patches"
    assert sorted(found.tables["curves"]["class"].unique()) == ["", "00", "01", "10", "11"]
    assert main([*plan, "--device", "cpu"]) == 0
    assert "members" in capsys.readouterr().out


def test_the_measurement_of_the_page(place, monkeypatch):
    (place / "brightness.py").write_text(_example(2))
    monkeypatch.chdir(place)
    (words,) = commands("conceptlab run quickstart --plugin brightness.py")
    assert main([*words, "--out", "measured", "--seeds", "1", "--device", "cpu"]) == 0
    run = conceptlab.load(place / "measured")
    assert "--plugin brightness.py" in run.manifest["command"], "without it the command would be refused"
    found = run.members[0].metrics
    assert found.loc[found["measure"] == "brightness", "value"].between(0, 1).all()
    assert (found["measure"] == "brightness").sum() >= 8


def test_the_script_of_the_page(tmp_path):
    members = run_script(_example(3), {}, tmp_path)
    assert [member.recipe.steps for member in members] == [20, 20]
    with pytest.raises(InputError, match=r"holds members, but no figure; name one of them, e\.g\. .*members"):
        find_members(tmp_path / "runs")


def _example(number: int) -> str:
    return DOCS.read_text(encoding="utf-8").split("```python")[number].split("```")[0]


def test_a_world_of_one_s_own_is_tried_before_anything_is_trained(place, monkeypatch, capsys):
    code = _example(1)
    code = code.replace('"stripes"', '"bright"').replace('"patches"', '"bright"')
    (place / "bright.py").write_text(code.replace(".clamp(0, 1)", ".clamp(0, 1) * 255"))
    monkeypatch.chdir(place)
    words = ["--plugin", "bright.py", "--world", "bright", "--train", "00", "01", "--test", "11"]
    assert main(["run", "custom", *words, "--scale", "tiny", "--out", "bright"]) == 2
    assert "world 'bright': images go from" in capsys.readouterr().err
    assert not (place / "bright").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "either --data PATH or --world NAME"),
        (["--data", "my_shapes", "--world", "circles"], "either --data PATH or --world NAME"),
        (["--data", "nowhere"], "does not exist"),
        (["--data", "my_shapes", "--out", "my_shapes/runs"], "lies in the data folder"),
        (["--data", "my_shapes/labels.csv", "--out", "my_shapes/runs"], "lies in the data folder"),
        (["--data", "my_shapes", "--resolution", "0"], "--resolution 0 is too small"),
        (
            ["--data", "my_shapes", "--set", "world.resolution=8"],
            "--set world.resolution: what is made of --data is said by --variables, --continuous, --resolution",
        ),
        (
            ["--data", "my_shapes", "--test", "111", "--set", "train.111=5", "--plan"],
            "--set train.111: what is shown is said by --train",
        ),
        (
            ["--world", "circles", "--set", 'train={"00": 5}', "--plan"],
            "--set train: what is shown is said by --train",
        ),
        (["--world", "circels"], "did you mean 'circles'"),
        (["--world", "folder"], "world 'folder' is made of images on a disk: name them with --data PATH"),
        (["--world", "dsprites", "--plan"], "world 'dsprites' is made of images on a disk"),
        (["--world", "circles", "--train", "00", "--test", "00"], "is in --train and in --test"),
        (["--world", "circles", "--train", "03"], "unknown value"),
        (["--world", "circles", "--train", "00:many"], "00:many: after the colon write how many images"),
        (
            ["--world", "circles", "--set", "world.resolution=30", "--plan"],
            "both sides divisible by 4: give another resolution, e.g. 28",
        ),
        (
            ["--data", "my_shapes", "--resolution", "6", "--plan"],
            "both sides divisible by 4: give another resolution, e.g. 4",
        ),
        (["--world", "circles", "--resolution", "0"], "--resolution: for --data, not for --world"),
        (["--world", "circles", "--variables", "size", "--mode", "L"], "--variables, --mode: for --data"),
        (["--world", "circles", "--plugin", "nowhere.py"], "does not exist"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(place, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(place)
    assert main(["run", "custom", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1


def test_what_is_no_data_is_told_before_where_the_page_would_lie(tmp_path, monkeypatch, capsys):
    (tmp_path / "notes.py").write_text("")
    monkeypatch.chdir(tmp_path)
    assert main(["inspect", "notes.py", "--variables", "x"]) == 2
    assert "tables are read from .csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"), [([], True), (["--test", "111"], False), (["--train", "000"], False)]
)
def test_a_run_that_holds_nothing_out_says_so(place, monkeypatch, capsys, words, told):
    monkeypatch.chdir(place)
    assert main(["run", "custom", "--data", "my_shapes", *words, "--plan"]) == 0
    assert ("no class is held out" in capsys.readouterr().err) == told


def test_its_figure_may_be_named_as_its_verdicts_name_it(capsys):
    assert main(["run", "custom.emergence", "--world", "circles", "--plan"]) == 0
    assert "emergence" in capsys.readouterr().out
    assert main(["run", "custom.emergense", "--world", "circles", "--plan"]) == 2
    assert "did you mean 'emergence'" in capsys.readouterr().err


def test_options_of_custom_are_refused_elsewhere(capsys):
    assert main(["run", "quickstart", "--data", "my_shapes"]) == 2
    assert "for `run custom`, not for quickstart" in capsys.readouterr().err
    assert main(["run", "quickstart", "--resolution", "0"]) == 2
    assert "--resolution: for `run custom`, not for quickstart" in capsys.readouterr().err


def test_roles_have_sensible_defaults(place):
    world = open_data(
        place / "my_shapes", DataOptions(variables=("shape", "size=large,small", "colour=red,blue"))
    )
    everything_else = custom.roles(world, ["000", "100:3"], [])
    assert everything_else.train == {"000": 12, "100": 3}
    assert everything_else.test == ("001", "010", "011", "101", "111")
    assert set(custom.roles(world, [], ["111"]).train) == {"000", "001", "010", "011", "100", "101"}
    assert custom.roles(world, ["000,100"], ["shape=triangle,size=small,colour=red"]).test == ("110",)
    assert custom.roles(world, ["000"], ["111", "100", "111"]).test == ("111", "100")
    with pytest.raises(InputError, match=r"has no image of class 110 \(triangle, small, red\) to train on"):
        custom.roles(world, ["110"], [])
    with pytest.raises(InputError, match="shows no image of class 000"):
        custom.roles(world, ["000:0", "100"], [])
    with pytest.raises(InputError, match=r"has 12 images of class 000 .* ask for 12 or fewer"):
        custom.roles(world, ["000:13"], [])
    with pytest.raises(InputError, match="--test 111:5: nothing of what is tested is shown; write 111 alone"):
        custom.roles(world, [], ["111:5"])
    with pytest.raises(InputError, match="--train names class 000 twice"):
        custom.roles(world, ["000", "100", "000:3"], [])
    assert custom.roles(build("circles"), ["00", "01"], []).train == {"00": 500, "01": 500}
