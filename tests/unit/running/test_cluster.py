"""Audits on a real dask cluster on this machine: the bytes of one process, whatever dies; and errors that say why."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from concurrent.futures import CancelledError

from distributed.client import AllExit
from distributed.comm.core import CommClosedError
from forked import USUAL, Forked, begin, ran

import dpaudit
from dpaudit.app import main
from dpaudit.arguments import check_jobs
from dpaudit.errors import InputError, ToolFault
from dpaudit.running.cluster import by_futures, connected
from dpaudit.running.workers import sent

WORKERS = 3
# Runs wait in workers alone: there an audit must last until a test ends a worker, and elsewhere nothing is ended.
MECHANISM = """
import os, time
def noisy(data, rng):
    if "OF_CLUSTER" in os.environ:
        time.sleep(0.001)
    return float(data + 0.9 * rng.laplace())
PAIRS = [(0, 1)]
def slow(data, rng):
    if "OF_CLUSTER" in os.environ:
        open("running", "w").close()
        time.sleep(0.002)
    return noisy(data, rng)
def greedy(data, rng):
    if "OF_CLUSTER" in os.environ:
        os._exit(137)
    return noisy(data, rng)
"""
CLIENT = """
import sys, json, dpaudit
from dpaudit.record import encodable
from dpaudit.running import cluster
import {module} as mech
kind, address = sys.argv[1:]
if kind == "greedy":
    cluster.LONELY = 2.0  # seconds that the test waits, once its last worker is dead
names = dict(greedy="greedy", slow="slow")
given = dict(mechanism=getattr(mech, names.get(kind, "noisy")), pairs=[(0, 1)], epsilon=1.0,
    trials=800, seed=3)
fixed = dpaudit.Execution(sequential=False)
there = dict(given, execution=dpaudit.Execution(sequential=False, backend="dask", address=address))
try:
    print(json.dumps(encodable(dpaudit.audit_privacy(**there))))
    if kind in ("both", "slow"):
        print(json.dumps(encodable(dpaudit.audit_privacy(**given, execution=fixed))))
except dpaudit.DpauditError as error:
    print(type(error).__name__, error)
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


LOADED = *USUAL, "distributed"
BEGUN = """
import dask, runpy
dask.config.refresh()  # by this environment
runpy.run_module("distributed.cli.{}", run_name="__main__", alter_sys=True)
"""


class Cluster:
    """A scheduler and its workers, which have the module "mech" on their path, and not "elsewhere"."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        (folder / "there").mkdir()
        (folder / "here").mkdir()
        (folder / "there" / "mech.py").write_text(MECHANISM)
        (folder / "here" / "elsewhere.py").write_text(MECHANISM)
        host = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        self.scheduler = self._begin("dask_scheduler", *host)
        few = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder)]
        self.workers = [self._begin("dask_worker", self.address, *few) for _ in range(WORKERS)]

    def _begin(self, name: str, *words: str) -> Forked:
        path = os.pathsep.join([str(self.folder / "there"), os.environ.get("PYTHONPATH", "")])
        env = os.environ | {"PYTHONPATH": path, "OF_CLUSTER": "", "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
        return begin("-c", BEGUN.format(name), *words, env=env, cwd=self.folder, modules=LOADED, heard=False)

    def client(self, kind: str, module: str = "mech", address: str = "") -> Forked:
        home = self.folder / ("there" if module == "mech" else "here")
        path = os.pathsep.join([str(home), os.environ.get("PYTHONPATH", "")])
        words = ["-c", CLIENT.format(module=module), kind, address or self.address]
        return begin(*words, env=os.environ | {"PYTHONPATH": path}, modules=LOADED)

    def said(self, *asked: str) -> str:
        out, errors = self.client(*asked).communicate(timeout=180)
        assert out, errors
        return out

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            with process:
                process.kill()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield made
    finally:
        made.end()


def test_workers_without_the_module_are_said_to_lack_it(cluster: Cluster) -> None:
    found = cluster.said("dask", "elsewhere")
    assert found.startswith("InputError workers of the cluster have no module elsewhere")
    assert "upload_file('elsewhere.py')" in found


SETTINGS = """
[[audit]]
name = "noisy"
mechanism = "elsewhere.py:noisy"
epsilon = 1
trials = 800
"""


@pytest.mark.parametrize(
    "words",
    [
        ["privacy", "elsewhere.py:noisy", "--epsilon", "1", "--trials", "800"],
        pytest.param(
            ["privacy", "elsewhere.py:noisy", "--epsilon", "1", "--trials", "100", "--timeout", "5"],
            marks=pytest.mark.full,
        ),
        ["check", "noisy"],
        pytest.param(
            ["utility", "threshold-exponential", "--alpha", "0.1", "--beta", "0.1", "--trials", "100"],
            marks=pytest.mark.full,
        ),
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_commands_send_a_file_that_is_named_and_say_what_they_say_at_home(
    cluster: Cluster, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = cluster.folder / "here"
    (home / "audit.toml").write_text(SETTINGS)
    there = ["--on", cluster.address]
    monkeypatch.chdir(home)
    status = main([*words, "--json", "--quiet"])
    said = capsys.readouterr()
    assert said.out, said.err
    found = ran("-m", "dpaudit", *words, "--json", "--quiet", *there, modules=LOADED)
    assert (found.returncode, found.stdout) == (status, said.out), found.stderr


def test_no_scheduler_at_the_address_is_an_error_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpaudit.running.cluster.PATIENCE", 0.5)
    address = f"tcp://127.0.0.1:{free_port()}"
    with pytest.raises(InputError, match=r"^no scheduler of dask answers at address=\S+ within 0.5 s: "):
        dpaudit.audit_privacy(
            lambda x, rng: x,
            [(0, 1)],
            epsilon=1.0,
            trials=800,
            execution=dpaudit.Execution(backend="dask", address=address),
        )


def test_workers_with_other_code_are_refused_and_import_anew_what_was_edited_there(cluster: Cluster) -> None:
    def write(place: str, scale: float) -> None:
        (cluster.folder / place / "scale.py").write_text(f"SCALE = {scale}\n")
        changed = MECHANISM.replace("0.9", "scale.SCALE").replace("import os, time", "import os, time, scale")
        (cluster.folder / place / "changing.py").write_text(changed)

    for place in ("there", "here"):
        write(place, 0.9)
    first, second = cluster.said("both", "changing").splitlines()
    assert first == second
    write("here", 0.12)
    found = cluster.said("dask", "changing")
    assert found.startswith("InputError workers of the cluster have other code than is here in the modules scale: send")
    write("there", 0.12)  # of another size: what was compiled of the other one goes by that, and by the second
    first, second = cluster.said("both", "changing").splitlines()
    assert first == second
    assert '"violation"' in first


@pytest.mark.parametrize("address", ["foo", "", "tcp://127.0.0.1", "tls://127.0.0.1:1", "xyz://127.0.0.1:1"])
def test_an_address_that_cannot_be_one_is_refused_at_once(address: str) -> None:
    with pytest.raises(InputError, match=f"^address must be .*, got '{address}'"):
        check_jobs(1, "dask", address) if address[:3] not in ("tls", "xyz") else connected(address)


def test_a_check_without_a_scheduler_has_one_message_and_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere.py").write_text(MECHANISM)
    (tmp_path / "audit.toml").write_text(SETTINGS + SETTINGS.replace('"noisy"', '"again"'))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpaudit.running.cluster.PATIENCE", 0.5)
    status = main(["check", "--quiet", "--on", f"tcp://127.0.0.1:{free_port()}"])
    said = capsys.readouterr()
    assert (status, said.out, said.err.count("no scheduler of dask answers")) == (2, "", 1)
    assert not (tmp_path / ".dpaudit").exists()


@pytest.mark.parametrize("error", [TimeoutError("timed out"), AllExit(), CommClosedError("closed"), CancelledError()])
def test_a_scheduler_that_is_lost_is_named(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    class Lost:
        status = "running"

        def nthreads(self) -> dict[str, int]:
            raise error

    monkeypatch.setattr("dpaudit.running.cluster.client_of", lambda address: Lost())
    monkeypatch.setattr("dpaudit.running.cluster.FILES", {"no_more_loaded"})
    with pytest.raises(
        ToolFault, match=f"^the scheduler at tcp://x:1, or a worker, was lost or .*{type(error).__name__}"
    ):
        list(by_futures([], partial(sent, False), "tcp://x:1"))


def test_an_audit_survives_the_death_of_a_worker(cluster: Cluster) -> None:
    audit, running = cluster.client("slow"), cluster.folder / "running"
    deadline = time.monotonic() + 120
    while not running.exists():
        assert audit.poll() is None, audit.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    cluster.workers[0].send_signal(signal.SIGKILL)
    out, errors = audit.communicate(timeout=180)
    assert len(out.splitlines()) == 2, errors
    one, other = out.splitlines()
    assert one == other


@pytest.mark.full  # that an audit survives the death of a worker is tested in every profile
def test_workers_that_die_again_and_again_are_a_named_fault(cluster: Cluster) -> None:
    found = cluster.said("greedy")
    assert found.startswith(("WorkerDied", "ToolFault")), found
