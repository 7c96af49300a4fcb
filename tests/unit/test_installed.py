"""The wheels that users install: what is in them, the first five minutes with them, and the types that they declare."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from source_tree import ROOT

pytest.importorskip("hatchling")

FIVE_MINUTES = """
$ dpaudit new mechanism mean
$ dpaudit privacy mean.py:mean --epsilon 1
$ dpaudit check
$ pytest
"""
USER = """
import numpy as np

import dpaudit


def respond(bit: int, rng: np.random.Generator) -> int:
    return bit if rng.random() < 0.75 else 1 - bit


finding = dpaudit.audit_privacy(respond, [(0, 1)], epsilon=1.2, trials=900, execution=dpaudit.Execution(progress=False))
lower: float = finding.epsilon_lower
finding.save("finding.json")
again: dpaudit.PrivacyFinding = dpaudit.PrivacyFinding.load("finding.json")
finding.plot().savefig("figure.png")
print(finding.verdict == "consistent", again.summary(), finding.witness.event)
{wrong}
"""

Run = Callable[..., tuple[int, str]]


BUILD_SDIST = "import sys; from hatchling.build import build_sdist; build_sdist(sys.argv[1])"


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that a source distribution unpacks to."""
    folder = tmp_path_factory.mktemp("sdist")
    subprocess.run([sys.executable, "-c", BUILD_SDIST, str(folder)], cwd=ROOT, check=True)
    (packed,) = folder.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (root,) = (folder / "unpacked").iterdir()
    return root


@pytest.fixture(scope="module", params=[pytest.param("checkout", marks=pytest.mark.full), "sdist"])
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel, built from this folder and, as ``python -m build`` does, from the source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    source = ROOT
    if request.param == "sdist":
        source = request.getfixturevalue("sdist")
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(source)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def site(wheel: Path) -> Path:
    """Return the folder in which the wheel alone is installed; what it needs is there from this environment."""
    folder = wheel.parent / "site"
    words = ["install", "--quiet", "--no-deps", "--no-index", "--target", str(folder), str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    return folder


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Run:
    """Return what runs a command line in an empty folder, with the installed wheel, and returns status and output."""
    path = os.pathsep.join([str(site / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {"PATH": path, "PYTHONPATH": str(site), "NO_COLOR": "1"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "_DPAUDIT"))}

    def command(*words: str) -> tuple[int, str]:
        program = [sys.executable, "-m", *words] if words[0] in ("pytest", "mypy") else list(words)
        done = subprocess.run(program, cwd=tmp_path, env=kept | settings, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    return command


BUILD = """
import os
from hatchling.builders.wheel import WheelBuilder

for folder, epoch in (("plain", None), ("dated", "1700000000")):
    os.environ.pop("SOURCE_DATE_EPOCH", None)
    if epoch is not None:
        os.environ["SOURCE_DATE_EPOCH"] = epoch
    list(WheelBuilder(".").build(directory=folder, versions=["standard"]))
"""


def built_elsewhere(folder: Path, umask: int, changed: int) -> list[bytes]:
    """Return two wheels from a copy of the sources with other modes and times of its files, the second one dated."""
    before = os.umask(umask)
    try:
        for name in ("dpaudit", "learners", "pyproject.toml", "README.md", "LICENSE", ".gitignore"):
            for file in [ROOT / name] if (ROOT / name).is_file() else sorted((ROOT / name).rglob("*")):
                copy = folder / file.relative_to(ROOT)
                if file.is_file() and file.suffix != ".pyc":
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_bytes(file.read_bytes())
                    os.utime(copy, (changed, changed))
        (folder / "dpaudit/__pycache__").mkdir()
        (folder / f"dpaudit/__pycache__/left_{changed}.pyc").touch()
        subprocess.run([sys.executable, "-c", BUILD], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    finally:
        os.umask(before)
    return [next((folder / name).glob("*.whl")).read_bytes() for name in ("plain", "dated")]


def test_a_wheel_has_the_same_bytes_wherever_it_is_built(tmp_path: Path) -> None:
    first, second = (built_elsewhere(tmp_path / f"{mask:o}", mask, 10**9 + mask) for mask in (0o022, 0o077))
    assert first == second
    assert first[0] != first[1]


def test_the_wheel_holds_two_packages_with_types_templates_and_the_plug_in(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"dpaudit", "dpaudit_learners"}
    for name in ("dpaudit/py.typed", "dpaudit_learners/py.typed", "dpaudit/app/templates/mechanism.py.txt"):
        assert name in names
    told = zipfile.ZipFile(wheel).read(next(name for name in names if name.endswith("METADATA"))).decode()
    requirements = re.findall(r"^Requires-Dist: (.*)$", told, re.MULTILINE)
    assert [one for one in requirements if one.startswith("pytest>")] == [
        "pytest>=8.0; extra == 'pytest'",
        "pytest>=8.0; extra == 'test'",
    ]


def test_the_first_five_minutes_with_a_module_named_learners_in_the_folder(run: Run, tmp_path: Path) -> None:
    """The module of the user is neither run nor in the way: ours of that name has another one where it is installed."""
    listed = run("dpaudit", "list")
    assert listed[0] == 0
    assert listed[1].count("\n") > 30
    (tmp_path / "learners.py").write_text('print("executed")')
    assert run("dpaudit", "list") == listed
    commands = [line[2:].split() for line in FIVE_MINUTES.splitlines() if line.startswith("$ ")]
    new, privacy, check, suite = (run(*words) for words in commands)
    assert new[0] == 0
    assert sorted(path.name for path in tmp_path.glob("*.*") if path.is_file()) == [
        "audit.toml",
        "learners.py",
        "mean.py",
        "test_mean.py",
    ]
    assert privacy[0] == 1
    shown = re.match(
        r"VIOLATION    mean\.py:mean claims epsilon = 1, shows >= (\S+) \(99\.9 % sure\)\nbecause ", privacy[1]
    )
    assert shown is not None
    assert 1.9 < float(shown[1]) <= 2
    assert re.search(r"^repeat       dpaudit privacy mean\.py:mean ", privacy[1], re.MULTILINE)
    assert check[0] == 1
    assert re.search(r"^!  mean +1 +1\.9\d .* VIOLATION$", check[1], re.MULTILINE)
    assert suite[0] == 1
    assert re.search(r"VIOLATION    mean claims epsilon = 1, shows >= 1\.[89]", suite[1])
    assert "dpaudit: 1 audit, chance of a false alarm at most 0.001" in suite[1]
    assert "executed" not in "".join(out for _, out in (new, privacy, check, suite))


LEARNER_MINUTES = """
$ dpaudit new learner majority
$ dpaudit privacy majority.py:LEARNER
$ dpaudit check
$ dpaudit exact majority --learners majority.py --n 2
$ pytest
"""


@pytest.mark.full  # `unit/app/test_new.py` has the same commands; a mechanism is begun where dpaudit is installed above
def test_a_new_learner_works_where_dpaudit_is_installed(run: Run, tmp_path: Path) -> None:
    commands = [line[2:].split() for line in LEARNER_MINUTES.splitlines() if line.startswith("$ ")]
    new, privacy, check, exact, suite = (run(*words) for words in commands)
    assert new[0] == 0
    assert str(ROOT) not in (tmp_path / "majority.py").read_text()
    # The template adds the noise for 2, and its audit, its exact law and its test all say so.
    assert privacy[0] == 1, privacy[1]
    assert privacy[1].startswith("VIOLATION ")
    assert check[0] == 1, check[1]
    assert exact[0] == 1, exact[1]
    assert suite[0] == 1, suite[1]
    assert "1 failed, 1 passed" in suite[1]


def test_a_reference_learner_is_audited_exactly_where_dpaudit_is_installed(run: Run) -> None:
    status, out = run("dpaudit", "exact", "point-exponential", "--n", "2")
    assert status == 0, out


@pytest.mark.full  # mypy reads all of dpaudit for it, as `scripts/test` does
def test_mypy_checks_a_users_files_by_our_types(run: Run, tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(USER.format(wrong=""))
    (tmp_path / "wrong.py").write_text(USER.format(wrong='finding.epsilon_lower + "1"'))
    status, out = run("mypy", "--strict", "--no-incremental", "right.py", "wrong.py")
    assert 'wrong.py:17: error: Unsupported operand types for + ("float" and "str")' in out
    assert "Found 1 error in 1 file (checked 2 source files)" in out
    assert status == 1
