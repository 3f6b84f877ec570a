"""Kill it at any moment, run it again: the result is the one of an uninterrupted run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch

from conceptlab import executors
from conceptlab.errors import InputError
from conceptlab.executors import cohort, states
from conceptlab.executors.local import cohorts, pending
from conceptlab.recipe import Optimiser
from conceptlab.store import MemberWriter, Store
from conceptlab.store.files import locked
from conceptlab.training import Cohort
from tests.tiny import tiny_recipe

CPU = torch.device("cpu")


def ignore(members, steps) -> None:
    pass


class Killed(BaseException):
    """What a kill feels like from the inside: nothing after it runs."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Store:
    store = Store(tmp_path_factory.mktemp("whole"))
    executors.run([tiny_recipe()], store, CPU, ignore)
    return store


def test_a_member_has_everything_it_should(whole):
    member = whole.member(tiny_recipe())
    assert member.status == "complete"
    assert member.curves().index.tolist() == [3, 6, 9, 12]
    assert list(member.curves().columns) == [member.world.space.code(c) for c in member.world.space]
    assert set(member.metrics["weights"]) == {"raw", "ema"}
    assert {"accuracy", "probability", "additive", "coordinate", "drawn", "loss"} <= set(
        member.metrics["measure"]
    )
    assert member.sample_steps == [3, 6, 9, 12]
    assert member.samples().shape == (8, 2, 3, 8, 8)
    assert member.samples(3).dtype == torch.uint8
    assert member.checkpoint_steps == [12]
    assert not list((member.path / "metrics").glob("*.parquet"))
    assert [entry["event"] for entry in member.log()][-1] == "complete"
    took = [entry["seconds"] for entry in member.log() if entry["event"] == "evaluated"]
    assert len(took) == 4
    assert all(0 < one[part] < 60 for one in took for part in ("training", "drawing", "measuring", "writing"))
    for weights in ("raw", "ema"):
        model = member.model(weights=weights)
        assert model(torch.zeros(1, 3, 8, 8), torch.ones(1), torch.zeros(1, 6)).shape == (1, 3, 8, 8)


@pytest.mark.parametrize("moment", [0, 1, 2, 3, 4, 6, 7])
@pytest.mark.parametrize("share", [states.SHARE, 0], ids=["every state", "first state only"])
def test_killed_at_any_moment_the_metrics_are_the_same(whole, tmp_path, monkeypatch, moment, share):
    """Die at the `moment`-th write of anything; a second call must end with the very same table."""
    from conceptlab.store import files

    monkeypatch.setattr(states, "SHARE", share)
    store, original, writes = Store(tmp_path), files.write_atomically, 0
    executors.prepare_probe(store, tiny_recipe().world, tiny_recipe().evaluation.probe, judges=True)

    def dying(path, write):
        nonlocal writes
        if path.suffix in (".parquet", ".safetensors", ".png"):
            writes += 1
            if writes > moment:
                raise Killed
        original(path, write)

    monkeypatch.setattr(files, "write_atomically", dying)
    with pytest.raises(Killed):
        executors.run([tiny_recipe()], store, CPU, ignore)
    monkeypatch.setattr(files, "write_atomically", original)
    executors.run([tiny_recipe()], store, CPU, ignore)
    pd.testing.assert_frame_equal(store.member(tiny_recipe()).metrics, whole.member(tiny_recipe()).metrics)
    mine, theirs = (s.member_path(tiny_recipe()) / "metrics.parquet" for s in (store, whole))
    assert mine.read_bytes() == theirs.read_bytes()


@pytest.mark.parametrize("lost", ["metrics/00000003.parquet", "checkpoints/00000006.safetensors"])
def test_what_was_damaged_and_moved_away_is_made_anew(tmp_path, monkeypatch, lost):
    """It is what an error tells to do. The last state lies behind what is lost, and to go on from there would leave a
    hole in the metrics, or a checkpoint out."""
    made, store, original = tiny_recipe(keep=(6,)), Store(tmp_path), MemberWriter.metrics

    def dying(self, step, rows):
        if step == 12:
            raise Killed
        original(self, step, rows)

    monkeypatch.setattr(MemberWriter, "metrics", dying)
    with pytest.raises(Killed):
        executors.run([made], store, CPU, ignore)
    monkeypatch.setattr(MemberWriter, "metrics", original)
    (store.member_path(made) / lost).unlink()
    executors.run([made], store, CPU, ignore)
    assert store.member(made).curves().index.tolist() == [3, 6, 9, 12]
    assert store.member(made).checkpoint_steps == [6, 12]


def test_members_of_cohorts_put_together_anew_go_on_from_where_each_was(whole, tmp_path, monkeypatch):
    """Two were trained together and killed at the last evaluation; then come a third, and one that is ahead."""
    store, (first, second, third) = Store(tmp_path), [tiny_recipe(seed=seed) for seed in range(3)]
    executors.prepare_probe(store, first.world, first.evaluation.probe, judges=True)
    original = MemberWriter.metrics

    def dying(self, step, rows):
        if step == 12 or (self.recipe == third and step == 6):
            raise Killed
        original(self, step, rows)

    monkeypatch.setattr(states, "SHARE", 1e9)
    monkeypatch.setattr(MemberWriter, "metrics", dying)
    for group in ([first, second], [third]):
        with pytest.raises(Killed):
            executors.run_cohort(group, store, CPU, ignore)
    monkeypatch.setattr(MemberWriter, "metrics", original)
    executors.run_cohort([third, first, second], store, CPU, ignore)
    logs = [[e for e in store.member(r).log() if e["event"] == "resumed"] for r in (first, second, third)]
    assert [[(e["step"], e["together"]) for e in log] for log in logs] == [[(9, 2)], [(9, 2)], [(3, 1)]]
    pd.testing.assert_frame_equal(store.member(first).metrics, whole.member(first).metrics)


def test_a_real_kill_of_a_real_process(whole, tmp_path):
    """Two members in two processes; the parent is killed hard, the orphans end, the same call continues."""
    script = (
        "import torch\nfrom conceptlab import executors\nfrom conceptlab.store import Store\n"
        "from tests.tiny import tiny_recipe\n"
        "if __name__ == '__main__':\n"
        f"    executors.run([tiny_recipe(), tiny_recipe(seed=1)], Store({str(tmp_path)!r}), torch.device('cpu'),"
        " lambda members, steps: None)\n"
    )
    file = tmp_path / "script.py"
    file.write_text(script)
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    process = subprocess.Popen([sys.executable, str(file)], env=environment, cwd=root)
    deadline = time.monotonic() + 120
    folder = Store(tmp_path).member_path(tiny_recipe())
    while not (folder / "log.jsonl").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    subprocess.run([sys.executable, str(file)], env=environment, cwd=root, check=True, timeout=180)
    expected = whole.member(tiny_recipe()).metrics
    pd.testing.assert_frame_equal(Store(tmp_path).member(tiny_recipe()).metrics, expected)


def test_a_network_in_bfloat16_is_kept_in_half_precision(tmp_path):
    recipe = tiny_recipe(precision="bfloat16")
    executors.run([recipe], Store(tmp_path), CPU, ignore)
    member = Store(tmp_path).member(recipe)
    assert {tensor.dtype for tensor in member.weights().values()} == {torch.float16}
    assert next(member.model().parameters()).dtype == torch.float32


def test_the_last_evaluation_draws_as_many_images_as_it_is_told_to(tmp_path, monkeypatch):
    drawn, observe = [], cohort.observe
    monkeypatch.setattr(cohort, "observe", lambda *given: drawn.append(given[2]) or observe(*given))
    made = tiny_recipe()
    made = replace(made, evaluation=replace(made.evaluation, count=2, final_images=7))
    executors.run([made], Store(tmp_path), CPU, ignore)
    assert drawn == [4, 4, 7, 7], "raw weights and their average, twice"


def test_a_network_that_normalises_by_batches_is_kept_with_statistics_to_draw_with(tmp_path):
    made = tiny_recipe(denoiser={"name": "okawa2023", "features": 16}, steps=2, keep=(1,))
    made = replace(made, evaluation=replace(made.evaluation, count=2))
    executors.run([made], Store(tmp_path), CPU, ignore)
    member = Store(tmp_path).member(made)
    for step in (1, 2):
        means = {name: t for name, t in member.weights(step).items() if name.endswith(".mean")}
        assert means
        assert all((mean != 0).any() for mean in means.values()), (
            "set for these weights, not as they were made"
        )


def test_weights_are_kept_where_the_recipe_says(tmp_path):
    recipe = tiny_recipe(keep=(3, 9))
    executors.run([recipe], Store(tmp_path), CPU, ignore)
    member = Store(tmp_path).member(recipe)
    assert member.checkpoint_steps == [3, 9, 12]
    early, late = member.weights(3), member.weights()
    assert any(not torch.equal(early[name], late[name]) for name in early)
    with pytest.raises(InputError, match="no checkpoint at step 6"):
        member.model(6)


@pytest.mark.parametrize("step", [3, 12])
@pytest.mark.parametrize("written", [False, True])
def test_killed_at_a_checkpoint_no_weights_are_lost(tmp_path, monkeypatch, step, written):
    """Nor is a checkpoint of the last step, which only a run that was killed finds there, patched."""
    patched = ({"name": "accuracy"}, {"name": "patch", "images": 2, "classes": ["110"]})
    recipe = tiny_recipe(keep=(3, 12), evaluation=replace(tiny_recipe().evaluation, measurements=patched))
    store, original = Store(tmp_path), MemberWriter.checkpoint
    executors.prepare_probe(store, recipe.world, recipe.evaluation.probe, judges=True)

    def dying(self, at, tensors):
        if written or at != step:
            original(self, at, tensors)
        if at == step:
            raise Killed

    monkeypatch.setattr(MemberWriter, "checkpoint", dying)
    with pytest.raises(Killed):
        executors.run_cohort([recipe], store, CPU, ignore)
    monkeypatch.setattr(MemberWriter, "checkpoint", original)
    executors.run_cohort([recipe], store, CPU, ignore)
    member = store.member(recipe)
    assert member.checkpoint_steps == [3, 12]
    assert set(member.metrics.query("variable == 'patch'")["step"]) == {3}


def test_what_is_done_is_not_done_again(whole):
    path = whole.member_path(tiny_recipe()) / "metrics.parquet"
    before = path.stat().st_mtime_ns
    calls = []
    executors.run([tiny_recipe()], whole, CPU, lambda members, steps: calls.append(steps))
    assert calls == []
    assert path.stat().st_mtime_ns == before


def test_a_member_that_diverges_is_marked_and_the_others_go_on(tmp_path, caplog):
    wild, calm = tiny_recipe(optimiser=Optimiser(learning_rate=1e30)), tiny_recipe()
    store = Store(tmp_path)
    for part in (calm.evaluation.probe,):
        executors.prepare_probe(store, calm.world, part, judges=True)
    executors.run_cohort([wild, calm], store, CPU, ignore)
    assert store.member(wild).status == "failed"
    assert "not finite" in store.member(wild).outcome["reason"]
    assert store.member(calm).status == "complete"
    assert f"member {wild.hash} (seed 0) failed: the training loss is not finite at step 3" in caplog.messages


def test_a_member_whose_last_step_ruined_it_has_failed(tmp_path, monkeypatch, caplog):
    """Its losses were fine, and what it draws, which is nothing, must not count as what it learned."""
    advance, made = Cohort.advance, [tiny_recipe(), tiny_recipe(seed=1)]

    def ruinous(self, steps):
        advance(self, steps)
        if int(self.step) == 12:
            self.weights[1] = torch.nan

    executors.prepare_probe(Store(tmp_path), made[0].world, made[0].evaluation.probe, judges=True)
    monkeypatch.setattr(Cohort, "advance", ruinous)
    executors.run_cohort(made, Store(tmp_path), CPU, ignore)
    assert [Store(tmp_path).member(each).status for each in made] == ["complete", "failed"]
    assert "(seed 1) failed: the weights are not finite at step 12" in caplog.text
    assert Store(tmp_path).member(made[1]).metrics["step"].max() == 9


def test_when_the_last_member_has_failed_no_more_steps_are_made(tmp_path, monkeypatch):
    wild, store, made, told = tiny_recipe(optimiser=Optimiser(learning_rate=1e30)), Store(tmp_path), [], []
    executors.prepare_probe(store, wild.world, wild.evaluation.probe, judges=True)
    advance = Cohort.advance
    monkeypatch.setattr(Cohort, "advance", lambda self, steps: (made.append(steps), advance(self, steps)))
    executors.run_cohort([wild], store, CPU, lambda members, steps: told.append(steps))
    assert store.member(wild).status == "failed"
    assert (sum(made), sum(told)) == (3, 12), "all are accounted for, so that progress is whole"


def test_what_starts_from_a_member_that_failed_has_failed_too(tmp_path):
    wild = tiny_recipe(optimiser=Optimiser(learning_rate=1e30))
    tuned, store = tiny_recipe(start=wild.to_dict(), train={"111": 20}), Store(tmp_path)
    executors.run([tuned], store, CPU, ignore)
    assert store.member(tuned).outcome["reason"] == "what it starts from failed"
    assert store.member(tuned).metrics.empty
    (store.member_path(tuned) / "done.json").unlink()
    executors.run([tuned], store, CPU, ignore)
    assert store.member(tuned).status == "failed"


def test_a_member_whose_loss_explodes_is_warned_of_and_the_others_are_not(tmp_path, caplog):
    wild, calm = tiny_recipe(optimiser=Optimiser(learning_rate=0.15)), tiny_recipe()
    store = Store(tmp_path)
    executors.prepare_probe(store, calm.world, calm.evaluation.probe, judges=True)
    executors.run_cohort([wild, calm], store, CPU, ignore)
    warned = [record.getMessage() for record in caplog.records if "diverges" in record.getMessage()]
    assert warned
    assert all(wild.hash in message for message in warned)


@pytest.mark.parametrize(
    ("loss", "least", "is_out_of_proportion"),
    [(0.3, 0.02, True), (0.02, 0.3, False), (-3.19, -3.2, False), (-3.2, -3.2, False), (50.0, -3.2, True)],
)
def test_losses_below_zero_are_judged_as_well(loss, least, is_out_of_proportion):
    assert cohort.diverges(loss, least) is is_out_of_proportion


def test_sheets_before_the_last_hold_a_strip_of_images(tmp_path):
    evaluation = replace(tiny_recipe().evaluation, count=2, images=12, shown=10)
    recipe, store = tiny_recipe(evaluation=evaluation), Store(tmp_path)
    executors.prepare_probe(store, recipe.world, recipe.evaluation.probe, judges=True)
    executors.run_cohort([recipe], store, CPU, ignore)
    member = store.member(recipe)
    assert [member.samples(step).shape[1] for step in member.sample_steps] == [cohort.STRIP, 10]


def test_a_folder_in_use_is_refused(tmp_path):
    store, recipe = Store(tmp_path), tiny_recipe()
    executors.prepare_probe(store, recipe.world, recipe.evaluation.probe, judges=True)
    with locked(store.member_path(recipe)), pytest.raises(InputError, match="another process"):
        executors.run_cohort([recipe], store, CPU, ignore)


def test_fine_tuning_starts_where_the_first_run_ended(whole, tmp_path):
    before = tiny_recipe()
    after = tiny_recipe(start=before.to_dict(), train={"111": 20}, optimiser=Optimiser(learning_rate=0.0))
    store = Store(tmp_path)
    assert [r.hash for r in pending([after], store)] == [before.hash, after.hash]
    executors.run([after], store, CPU, ignore)
    first, second = store.member(before).weights(), store.member(after).weights()
    assert all(torch.equal(first[name], second[name]) for name in first if name.startswith("raw."))


def test_fine_tuning_from_a_member_without_weights_is_refused_at_once(whole, tmp_path):
    store = Store(tmp_path)
    shutil.copytree(whole.root, store.root, dirs_exist_ok=True)
    shutil.rmtree(store.member(tiny_recipe()).path / "checkpoints")
    after = tiny_recipe(start=tiny_recipe().to_dict(), train={"111": 20})
    with pytest.raises(InputError, match=f"{tiny_recipe().hash}, which has no checkpoint"):
        executors.run([after], store, CPU, ignore)
    assert not store.member_path(after).exists()


def test_cohorts_hold_what_fits_together():
    recipes = [tiny_recipe(seed=s) for s in range(3)] + [tiny_recipe(batch=8)]
    assert [len(group) for group in cohorts(recipes, CPU)] == [1, 1, 1, 1]
    assert [len(group) for group in cohorts(recipes, torch.device("cuda"), free=2**36)] == [3, 1]


def test_a_probe_that_cannot_judge_stops_the_run(tmp_path):
    """Colours that overlap cannot be read; the run must not start."""
    world = {
        **tiny_recipe().world,
        "colours": [["red", [0.5, 0.4, 0.5]], ["blue", [0.5, 0.45, 0.5]]],
        "colour_jitter": 0.3,
    }
    with pytest.raises(InputError, match="probe"):
        executors.run([tiny_recipe(world=world)], Store(tmp_path), CPU, ignore)
    assert not (tmp_path / "members").exists()


def test_members_of_one_world_share_its_probes(tmp_path):
    recipes = [
        tiny_recipe(),
        tiny_recipe(seed=1),
        tiny_recipe(seed=2, world={**tiny_recipe().world, "resolution": 12}),
    ]
    store = Store(tmp_path)
    for recipe in recipes:
        executors.prepare_probe(store, recipe.world, recipe.evaluation.probe, judges=False)
    first, second, other = cohort._contexts(recipes, store, CPU)
    assert first.judge is second.judge
    assert other.judge is not first.judge
    assert other.judge.image_shape == (3, 12, 12)
