"""More than one machine: the same tables whichever executor ran, whatever dies on the way."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
import torch

import conceptlab
from conceptlab import executors
from conceptlab.cli import build_parser, main
from conceptlab.errors import InputError
from conceptlab.executors import ray as ray_executor
from conceptlab.executors import ray_worker
from conceptlab.executors.archive import pack, unpack
from conceptlab.recipe import Evaluation, Recipe
from conceptlab.store import Store, state_steps
from conceptlab.store.files import Busy
from tests.tiny import tiny_recipe

CPU = torch.device("cpu")


def ignore(members, steps) -> None:
    pass


def long_recipe(seed: int, steps: int = 160) -> Recipe:
    """Long enough to be killed in the middle, with a state every twentieth of the way."""
    evaluation = Evaluation(
        count=20, images=2, sampler_steps=2, probe={"name": "analytic"}, second_probe=None, shown=1
    )
    return tiny_recipe(seed=seed, steps=steps, evaluation=evaluation, ema=None)


RECIPES = [long_recipe(seed) for seed in range(4)]
TUNED = tiny_recipe(start=RECIPES[0].to_dict(), train={"111": 20}, ema=None, evaluation=RECIPES[0].evaluation)


def tables(store: Store) -> dict[str, pd.DataFrame]:
    return {recipe.hash: store.member(recipe).metrics for recipe in [*RECIPES, TUNED]}


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> dict[str, pd.DataFrame]:
    """What the local executor makes of it."""
    store = Store(tmp_path_factory.mktemp("local"))
    executors.run([*RECIPES, TUNED], store, CPU, ignore)
    return tables(store)


@pytest.fixture
def cluster(monkeypatch):
    """A head with one core, where the driver is, and a second node with one core."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        # Before there is a second node, so that the driver belongs to the head.
        ray_executor.connect(made.address)
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def kill(cluster, node) -> None:
    """What a power cut does: the node's own process and all its workers are gone at once."""
    raylet = node.all_processes["raylet"][0].process.pid
    workers = Path(f"/proc/{raylet}/task/{raylet}/children").read_text().split()
    os.kill(raylet, signal.SIGSTOP)
    for worker in workers:
        os.kill(int(worker), signal.SIGKILL)
    cluster.remove_node(node, allow_graceful=False)


def events(store: Store, recipe: Recipe) -> list[dict]:
    path = store.member_path(recipe)
    return (
        store.member(recipe).log()
        if (path / "log.jsonl").exists() and (path / "config.json").exists()
        else []
    )


def count(store: Store, recipe: Recipe, event: str) -> int:
    return sum(entry["event"] == event for entry in events(store, recipe))


def check_same(store: Store, expected: dict[str, pd.DataFrame]) -> None:
    """Equal tables, every member finished once, and no evaluation made again that a state went beyond."""
    for hash_, table in tables(store).items():
        pd.testing.assert_frame_equal(table, expected[hash_])
    for recipe in [*RECIPES, TUNED]:
        assert count(store, recipe, "complete") == 1
        # States are written beside the training: what was evaluated since the last one is evaluated again.
        step = 0
        for entry in events(store, recipe):
            assert entry["event"] != "evaluated" or entry["step"] > step
            step = entry.get("step", step)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_node_killed_in_the_middle_changes_nothing(cluster, expected, tmp_path):
    second = cluster.add_node(num_cpus=1)
    store, killed = Store(tmp_path / "runs"), threading.Event()
    assert ray_executor.cluster_device("auto") == CPU
    assert ray_executor.at_once(CPU, 1.0) == 2

    def kill_when_both_nodes_train() -> None:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            training = [r for r in RECIPES if count(store, r, "evaluated") >= 2 and not store.is_done(r)]
            if len(training) == 2:
                kill(cluster, second)
                killed.set()
                return
            time.sleep(0.02)

    killer = threading.Thread(target=kill_when_both_nodes_train)
    killer.start()
    made: Counter[str] = Counter()

    def report(members, steps) -> None:
        made.update(dict.fromkeys(members, steps))

    ray_executor.run([*RECIPES, TUNED], store, CPU, report)
    killer.join()
    assert killed.is_set()
    resumed = [e for recipe in RECIPES for e in events(store, recipe) if e["event"] == "resumed"]
    assert len(resumed) == 1, "the member of the killed node, and no other, was taken up again"
    assert resumed[0]["step"] > 0, "from its checkpoint"
    check_same(store, expected)
    assert all(count(store, recipe, "started") == 1 for recipe in [*RECIPES, TUNED])
    # Progress never counts a step twice; the last of it may arrive after the task itself.
    assert all(made[recipe.hash] <= recipe.steps for recipe in [*RECIPES, TUNED])
    assert sum(made.values()) > 0
    assert not list((tmp_path / "runs").glob(".ray-*"))
    ray_executor.run([*RECIPES, TUNED], store, CPU, lambda *_: pytest.fail("computed again"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_nodes_without_the_store_send_their_members_back(cluster, expected, tmp_path, monkeypatch):
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path / "cache"))
    cluster.add_node(num_cpus=1)
    # The token cannot be seen anywhere: as if no file system were shared.
    place = ray_executor._token

    def unseen(store):
        manager = place(store)
        token = manager.__enter__()
        (store.root / token).unlink()
        return _Left(token)

    monkeypatch.setattr(ray_executor, "_token", unseen)
    store = Store(tmp_path / "runs")
    ray_executor.run([*RECIPES, TUNED], store, CPU, ignore)
    check_same(store, expected)
    assert all(count(store, recipe, "started") == 1 for recipe in [*RECIPES, TUNED])
    assert list((tmp_path / "cache" / "ray").iterdir()), "they trained in their own cache"


class _Left:
    def __init__(self, token: str) -> None:
        self.token = token

    def __enter__(self) -> str:
        return self.token

    def __exit__(self, *_) -> None:
        pass


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_driver_killed_and_run_again_continues(cluster, expected, tmp_path):
    cluster.add_node(num_cpus=1)
    script = tmp_path / "driver.py"
    script.write_text(
        "import torch\nfrom conceptlab.executors import ray\nfrom conceptlab.store import Store\n"
        "from tests.executors.test_ray import RECIPES, TUNED\n"
        f"ray.connect({cluster.address!r})\n"
        f"ray.run([*RECIPES, TUNED], Store({str(tmp_path / 'runs')!r}), torch.device('cpu'), lambda *_: None)\n"
    )
    root, store = Path(__file__).parents[2], Store(tmp_path / "runs")
    environment = {**os.environ, "PYTHONPATH": str(root)}
    first = subprocess.Popen([sys.executable, str(script)], env=environment, cwd=root)
    deadline = time.monotonic() + 120
    while not any(state_steps(store.member_path(r), r) for r in RECIPES) and time.monotonic() < deadline:
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert not all(store.is_done(recipe) for recipe in RECIPES)
    subprocess.run([sys.executable, str(script)], env=environment, cwd=root, check=True, timeout=300)
    check_same(store, expected)
    assert any(count(store, recipe, "resumed") for recipe in RECIPES)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_bad_input_on_a_worker_is_bad_input_here(cluster, tmp_path):
    world = {
        **tiny_recipe().world,
        "colours": [["red", [0.5, 0.4, 0.5]], ["blue", [0.5, 0.45, 0.5]]],
        "colour_jitter": 0.3,
    }
    with pytest.raises(InputError, match="probe"):
        ray_executor.run([tiny_recipe(world=world)], Store(tmp_path), CPU, ignore)
    with pytest.raises(InputError, match="no such device"):
        ray_executor.cluster_device("cuda")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_study_has_the_same_tables_by_either_executor(cluster, tmp_path, capsys):
    cluster.add_node(num_cpus=1)
    order = ["run", "quickstart", "--scale", "tiny", "--device", "cpu"]
    assert main([*order, "--executor", "ray", "--plan", "--out", str(tmp_path / "ray")]) == 0
    assert "2 of up to 1 on cpu, 2 at once" in capsys.readouterr().out
    for executor in ("ray", "local"):
        assert main([*order, "--executor", executor, "--out", str(tmp_path / executor)]) == 0
    mine, theirs = (conceptlab.load(tmp_path / executor / "quickstart") for executor in ("ray", "local"))
    assert mine.tables.keys() == theirs.tables.keys()
    for name, table in mine.tables.items():
        pd.testing.assert_frame_equal(table, theirs.tables[name])
    assert mine.verdicts == theirs.verdicts


# --- what needs no cluster ---


def test_folders_travel_as_bytes(tmp_path):
    member = tmp_path / "there" / "members" / "abc"
    (member / "checkpoints").mkdir(parents=True)
    for name in ("config.json", "checkpoints/1.safetensors", "done.json", ".lock"):
        (member / name).write_text(name)
    data = pack(tmp_path / "there", [member])
    here = tmp_path / "here"
    assert unpack(data, here) == [here / "members" / "abc"]
    found = sorted(str(p.relative_to(here)) for p in here.rglob("*") if p.is_file())
    assert found == [
        f"members/abc/{name}" for name in ("checkpoints/1.safetensors", "config.json", "done.json")
    ]
    (here / "members" / "abc" / "config.json").write_text("mine")
    assert unpack(data, here) == [], "what is finished stays as it is"
    assert (here / "members" / "abc" / "config.json").read_text() == "mine"


def test_a_folder_that_a_dying_worker_still_holds_is_waited_for(monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    tries = []

    def work() -> None:
        tries.append(1)
        if len(tries) < 3:
            raise Busy("locked")

    ray_worker.patiently(work)
    assert len(tries) == 3
    monkeypatch.setattr(ray_worker, "PATIENCE", -1.0)
    tries.clear()
    with pytest.raises(Busy):
        ray_worker.patiently(work)


def test_the_commands_of_the_page_exist():
    page = Path(__file__).parents[2] / "docs" / "executors.md"
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("conceptlab ")]
    assert len(lines) >= 3
    for line in lines:
        build_parser().parse_args(shlex.split(line)[1:])
