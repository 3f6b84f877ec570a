"""The server: this machine only, nothing but its own pages, ten viewers at once, and texts that stay texts."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests
import torch
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.serving import BaseWSGIServer

from conceptlab import cli, executors
from conceptlab.errors import InputError
from conceptlab.store import FigureRun, Store
from conceptlab.store.files import write_table
from conceptlab.studio import Studio, build
from conceptlab.studio.server import guard, listen
from tests.studio.runs import claimed, recipe
from tests.tiny import tiny_recipe

LOCAL = {"Host": "127.0.0.1:8050"}


def client(studio: Studio) -> FlaskClient:
    server = build(studio).server
    assert isinstance(server, Flask)
    guard(server)
    return server.test_client()


@pytest.fixture
def served(run: FigureRun) -> Iterator[tuple[BaseWSGIServer, Studio]]:
    studio = Studio.of([run.store.root])
    server = listen(studio, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server, studio
    server.shutdown()
    server.server_close()


def show(page: str) -> dict[str, Any]:
    """What the browser posts when an address is opened."""
    return {
        "output": "page.children",
        "outputs": {"id": "page", "property": "children"},
        "inputs": [{"id": "address", "property": "pathname", "value": page}],
        "state": [{"id": "address", "property": "search", "value": ""}],
        "changedPropIds": ["address.pathname"],
    }


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8050", "192.168.0.7:8050", "127.0.0.1.evil.example"]
)
def test_other_names_for_this_machine_are_refused(run: FigureRun, host: str) -> None:
    """A page elsewhere could point its own name at 127.0.0.1."""
    assert client(Studio.of([run.store.root])).get("/", headers={"Host": host}).status_code == 403


@pytest.mark.parametrize(
    ("origin", "code"),
    [
        ("http://evil.example", 403),
        ("null", 403),
        ("http://127.0.0.1:8050", 200),
        ("http://localhost:1", 200),
    ],
)
def test_pages_from_elsewhere_cannot_post(run: FigureRun, origin: str, code: int) -> None:
    answer = client(Studio.of([run.store.root])).post(
        "/_dash-update-component", json=show("/"), headers={**LOCAL, "Origin": origin}
    )
    assert answer.status_code == code


def test_the_page_may_use_only_what_this_server_gives(run: FigureRun) -> None:
    answer = client(Studio.of([run.store.root])).get("/", headers=LOCAL)
    assert answer.status_code == 200
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert b"http://" not in answer.data
    assert b"https://" not in answer.data


def test_it_listens_on_this_machine_only(served: tuple[BaseWSGIServer, Studio]) -> None:
    assert served[0].server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "path",
    ["/assets/../server.py", "/assets/%2e%2e/server.py", "/..%2f..%2fetc/passwd", "/assets//etc/passwd"],
)
def test_no_address_leads_to_a_file_elsewhere(served: tuple[BaseWSGIServer, Studio], path: str) -> None:
    server, _ = served
    with requests.Session() as session:
        request = requests.Request("GET", f"http://127.0.0.1:{server.server_port}{path}").prepare()
        request.url = f"http://127.0.0.1:{server.server_port}{path}"
        text = session.send(request, timeout=30).text
    assert "root:" not in text
    assert "def guard" not in text


@pytest.mark.parametrize(
    "page", ["/run/..", "/run/%2e%2e/%2e%2e/etc", "/prompt/../../x", "/run/", "/nowhere"]
)
def test_pages_that_do_not_exist_say_so(run: FigureRun, page: str) -> None:
    answer = client(Studio.of([run.store.root])).post(
        "/_dash-update-component", json=show(page), headers=LOCAL
    )
    assert answer.status_code == 200
    assert "there is no run" in answer.text or "There is no page" in answer.text


def test_runs_that_are_called_the_same_are_told_apart_by_their_folder(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("monday", "tuesday")]
    for folder in folders:
        claimed(Store(folder), [recipe(0)])
    alone = client(Studio.of(folders[:1])).post("/_dash-update-component", json=show("/"), headers=LOCAL)
    assert '" monday"' not in alone.text
    both = client(Studio.of(folders)).post("/_dash-update-component", json=show("/"), headers=LOCAL)
    assert '" monday"' in both.text
    assert '" tuesday"' in both.text


def test_a_broken_folder_beside_a_good_one_takes_nothing_down(run: FigureRun, tmp_path: Path) -> None:
    good = claimed(Store(tmp_path / "runs"), [recipe(0)])
    (tmp_path / "runs" / "members" / recipe(0).hash).mkdir(parents=True)
    (tmp_path / "runs" / "members" / recipe(0).hash / "config.json").write_text('{"steps": "many"}')
    (good.path / "claims.json").write_text("[{")
    (good.path / "figures").mkdir()
    (good.path / "figures" / "emergence.png").write_bytes(b"no picture")
    (tmp_path / "runs" / "quickstart" / "tiny" / "broken").mkdir()
    (tmp_path / "runs" / "quickstart" / "tiny" / "broken" / "manifest.json").write_text("{")
    browser = client(Studio.of([tmp_path / "runs", run.store.root]))
    listed = browser.post("/_dash-update-component", json=show("/"), headers=LOCAL)
    assert listed.status_code == 200
    assert "is damaged" in listed.text
    for figure in ("emergence", "broken"):
        shown = browser.post(
            "/_dash-update-component", json=show(f"/run/runs/quickstart/tiny/{figure}"), headers=LOCAL
        )
        assert shown.status_code == 200
        assert "damaged" in shown.text
    assert (
        "claims cannot be read"
        in browser.post(
            "/_dash-update-component", json=show("/run/runs/quickstart/tiny/emergence"), headers=LOCAL
        ).text
    )


def draws(key: str) -> dict[str, Any]:
    """What the browser posts to have the charts of a run drawn."""
    outputs = [("run-space-chart", "data"), ("run-accuracy-chart", "data"), ("run-caption", "children")]
    outputs += [("run-drawn", "children"), ("run-ways-chart", "data"), ("run-ways-caption", "children")]
    return {
        "output": f"..{'...'.join(f'{id_}.{name}' for id_, name in outputs)}..",
        "outputs": [{"id": id_, "property": name} for id_, name in outputs],
        "inputs": [
            {"id": "run-setting", "property": "value", "value": 0},
            {"id": "run-stamp", "property": "data", "value": ""},
        ],
        "state": [{"id": "run-key", "property": "data", "value": key}],
        "changedPropIds": ["run-stamp.data"],
    }


def column(found: Any, id_: str) -> dict[str, Any]:
    """The properties of the element with an id."""
    if isinstance(found, list):
        return next((props for one in found if (props := column(one, id_))), {})
    if not isinstance(found, dict):
        return {}
    return found if found.get("id") == id_ else column(list(found.values()), id_)


@pytest.mark.parametrize("measured", ["accuracy", "coordinate"])
def test_charts_are_left_out_where_no_accuracies_were_measured(
    run: FigureRun, tmp_path: Path, measured: str
) -> None:
    shutil.copytree(run.store.root, tmp_path / "runs")
    (member,) = Store(tmp_path / "runs").figure("quickstart", "tiny", "emergence").members
    table = member.metrics
    write_table(member.path / "metrics.parquet", table[table["measure"] == measured])
    browser, key = client(Studio.of([tmp_path / "runs"])), "runs/quickstart/tiny/emergence"
    shown = browser.post("/_dash-update-component", json=show(f"/run/{key}"), headers=LOCAL).json
    drawn = browser.post("/_dash-update-component", json=draws(key), headers=LOCAL).text
    hidden = column(shown, "run-charts")["className"] == "hidden"
    assert (hidden, column(shown, "run-columns")["className"]) == (
        (False, "two") if measured == "accuracy" else (True, "")
    )
    assert ("Right: the share" in str(shown)) != hidden
    assert "Nothing has been measured" not in drawn
    assert ("No accuracy has been measured here" in drawn) == hidden


def test_ten_viewers_of_a_run_hold_and_its_view_is_made_once(
    served: tuple[BaseWSGIServer, Studio], monkeypatch: pytest.MonkeyPatch
) -> None:
    from conceptlab.studio.pages import run as page

    server, studio = served
    made: list[str] = []
    real = page.run_view
    monkeypatch.setattr(page, "run_view", lambda entry: made.append(entry.key) or real(entry))
    (entry,) = [entry for entry in studio.catalogue.entries() if not entry.shipped]
    address = f"http://127.0.0.1:{server.server_port}/_dash-update-component"

    def view(_viewer: int) -> list[int]:
        with requests.Session() as session:
            answers = [session.post(address, json=show(f"/run/{entry.key}"), timeout=60) for _ in range(5)]
        return [answer.status_code for answer in answers]

    with ThreadPoolExecutor(10) as viewers:
        codes = [code for found in viewers.map(view, range(10)) for code in found]
    assert codes == [200] * 50
    assert made == [entry.key]


def test_ten_viewers_of_a_run_that_trains_hold_until_it_ends(tmp_path: Path) -> None:
    made = tiny_recipe(steps=60).with_settings({"evaluation.count": 6})
    store = Store(tmp_path / "runs")
    executors.prepare_probe(store, made.world, made.evaluation.probe, judges=False)
    claimed(store, [made], figure="live")
    studio = Studio.of([store.root])
    server = listen(studio, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/_dash-update-component"

    def view(_viewer: int) -> list[tuple[int, bool]]:
        seen = []
        with requests.Session() as session:
            while not seen or not (training.done() and len(seen) > 2):
                answer = session.post(address, json=show("/run/runs/quickstart/tiny/live"), timeout=60)
                seen.append((answer.status_code, "damaged" in answer.text or "cannot be" in answer.text))
        return seen

    try:
        with ThreadPoolExecutor(11) as people:
            training = people.submit(
                executors.run_cohort, [made], store, torch.device("cpu"), lambda members, steps: None
            )
            views = [people.submit(view, viewer) for viewer in range(10)]
            found = [seen for each in views for seen in each.result(120)]
    finally:
        server.shutdown()
        server.server_close()
    assert training.exception() is None
    assert store.member(made).status == "complete"
    assert set(found) == {(200, False)}
    assert len(found) >= 30


def test_a_port_that_is_taken_and_a_folder_that_is_none(
    served: tuple[BaseWSGIServer, Studio], capsys: Any
) -> None:
    server, studio = served
    with pytest.raises(InputError, match="--port"):
        listen(studio, server.server_port)
    assert cli.main(["studio", "--port", str(server.server_port)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert cli.main(["studio", "/no/such/folder"]) == 2
    assert "not a folder" in capsys.readouterr().err
