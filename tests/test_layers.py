"""Who may import whom: the layers of docs/architecture.md, enforced over the imports of every module."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "conseq"

ROWS: list[list[str]] = [
    [
        "errors",
        "checks",
        "dtypes",
        "patterns",
        "options",
        "estimator",
        "threads",
        "kept",
        "solver",
        "shelf",
        "temporary",
        "kernels",
        "vocabulary",
        "corpus",
        "entities",
        "schema",
    ],
    ["tokens", "io", "archive", "persist", "shards", "features", "potentials", "subwords", "datasets"],
    ["constraints"],
    ["problem", "metrics"],
    ["decoders"],
    ["optimise", "models", "mining"],
    ["explain", "labelled", "labeller", "relations"],
    ["cli", "web", "__main__"],
]
"""From the ground up. A module may import those of lower rows and those to its left in its own row."""

BESIDE = {"experiments", "benchmarks", "examples", "tests"}
"""What stands beside the package and is not installed with it: it imports the package, never the reverse."""

INSIDE: dict[str, list[list[str]]] = {
    "decoders": [
        ["base", "batch"],
        ["chain"],
        ["lattice", "variables"],
        ["messages"],
        ["enumeration", "lazy", "beam", "dual", "ilp", "twostage", "chain_as_variables"],
        ["auto"],
        ["constrained_nbest", "constrained_marginals", "conflict", "arrays"],
        ["relation_problem", "relations"],
    ],
    "decoders/lattice": [
        ["lattice"],
        ["segments", "posterior", "reader"],
        ["tracked", "rows"],
        ["search", "pareto"],
    ],
    "decoders/messages": [
        ["machine"],
        ["shares"],
        ["annealing"],
        ["search"],
        ["neighbourhoods", "absorbing"],
    ],
    "decoders/variables": [
        ["buckets", "model"],
        ["elimination", "program", "beam"],
        ["cuts"],
        ["search", "solvers"],
        ["wcsp"],
    ],
}
"""The same inside packages: chains, then lattices and problems of variables, then what consumes them."""

KERNELS_MAY_IMPORT = {"numpy", "numba", "llvmlite"}
"""llvmlite is the part of numba that writes instructions."""

RANK = {name: (row, column) for row, names in enumerate(ROWS) for column, name in enumerate(names)}


def imports(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything a file imports, wherever in the file; `from a import b` is a.b."""
    package = [root.name, *path.relative_to(root).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def complaint(module: str, imported: str, root: str) -> str | None:
    """What is wrong if a top-level module imports this dotted name."""
    first, *rest = imported.split(".")
    if first in BESIDE:
        return f"{first} is not installed with the package"
    if module == "__init__":  # the package itself offers names of all layers
        return None
    if first != root:
        foreign = first not in KERNELS_MAY_IMPORT and first not in sys.stdlib_module_names
        return f"kernels know arrays only, not {first}" if module == "kernels" and foreign else None
    target = rest[0] if rest else ""
    if target in (module, "__version__"):
        return None
    if target not in RANK:
        return f"{imported} is no module of the table; import from the module that defines it"
    if module == "kernels":
        return f"kernels know arrays only, not {target}"
    (row, column), (wanted, place) = RANK[module], RANK[target]
    if (wanted, place) < (row, column):
        return None
    where = "to the right of it in the same row" if wanted == row else "in a higher row"
    return f"{target} is {where}"


def violations(root: Path) -> list[str]:
    found = []
    for path in sorted(root.rglob("*.py")):
        module = path.relative_to(root).parts[0].removesuffix(".py")
        if module not in RANK and module != "__init__":
            found.append(
                f"{path}: {module!r} is new; add it to ROWS in tests/test_layers.py and to the layers in docs"
            )
            continue
        for line, imported in imports(path, root):
            wrong = complaint(module, imported, root.name)
            if wrong:
                found.append(f"{path}:{line}: {module} may not import {imported}: {wrong}")
    return found


def test_modules_import_only_from_below_or_from_the_left():
    found = violations(PACKAGE)
    assert not found, "\n" + "\n".join(dict.fromkeys(found))


def violations_inside(package: str, rows: list[list[str]]) -> list[str]:
    """What modules of a package import of it from above or from the right."""
    rank = {name: (row, column) for row, names in enumerate(rows) for column, name in enumerate(names)}
    root, prefix = PACKAGE / package, ["conseq", *package.split("/")]
    found = []
    for path in sorted(root.rglob("*.py")):
        module = path.relative_to(root).parts[0].removesuffix(".py")
        if module == "__init__":
            continue
        if module not in rank:
            found.append(f"{path}: {module!r} is new; add it to INSIDE in tests/test_layers.py")
            continue
        for line, imported in imports(path, PACKAGE):
            parts = imported.split(".")
            target = (
                parts[len(prefix)] if parts[: len(prefix)] == prefix and len(parts) > len(prefix) else module
            )
            if target != module and not rank.get(target, (99, 0)) < rank[module]:
                found.append(f"{path}:{line}: {module} may not import {imported}")
    return found


@pytest.mark.parametrize("package", INSIDE)
def test_layers_hold_inside_packages(package):
    found = violations_inside(package, INSIDE[package])
    assert not found, "\n" + "\n".join(found)


def test_a_violation_inside_a_package_is_seen():
    reversed_rows = INSIDE["decoders"][::-1]
    assert any("auto may not import" in line for line in violations_inside("decoders", reversed_rows))


def test_the_table_has_each_module_once():
    names = [name for row in ROWS for name in row]
    assert len(names) == len(set(names))


def test_benchmarks_take_from_experiments_and_never_the_reverse():
    assert [name for _, name in beside("benchmarks") if name.startswith("experiments.")]
    assert not [(path, name) for path, name in beside("experiments") if name.startswith("benchmarks")]


def beside(folder: str) -> list[tuple[Path, str]]:
    """File and dotted name of all that a folder beside the package imports."""
    return [(path, name) for path in (ROOT / folder).glob("*.py") for _, name in imports(path, ROOT / folder)]


# ── the checker itself ──────────────────────────────────────────────────────────────────────────


def planted(tmp_path: Path, name: str, source: str) -> list[str]:
    """What the checker says of a package with one file in it."""
    path = tmp_path / "conseq" / name
    path.parent.mkdir(parents=True)
    path.write_text(source, encoding="utf-8")
    return violations(tmp_path / "conseq")


@pytest.mark.parametrize(
    ("name", "source", "wrong"),
    [
        ("corpus.py", "from conseq.features import Template", "features is in a higher row"),
        ("corpus.py", "import conseq.io.columns", "io is in a higher row"),
        ("corpus.py", "from conseq import labeller", "labeller is in a higher row"),
        ("vocabulary.py", "from conseq.corpus import Corpus", "corpus is to the right of it in the same row"),
        ("io/columns.py", "from ..models.crf import CRF", "models is in a higher row"),
        ("io/columns.py", "from .. import models", "models is in a higher row"),
        ("decoders/deep/er.py", "def f():\n    from conseq.mining import mine", "mining is in a higher row"),
        ("models/crf.py", "if TYPE_CHECKING:\n    import conseq.cli", "cli is in a higher row"),
        ("cli/app.py", "from conseq import Corpus", "conseq.Corpus is no module of the table"),
        ("cli/app.py", "import conseq", "conseq is no module of the table"),
        ("kernels/rows.py", "from conseq.errors import DataError", "kernels know arrays only, not errors"),
        ("kernels/rows.py", "import scipy.special", "kernels know arrays only, not scipy"),
        ("cli/app.py", "from experiments import common", "experiments is not installed with the package"),
        ("__init__.py", "import benchmarks.timing", "benchmarks is not installed with the package"),
        ("kernels/rows.py", "import experiments", "experiments is not installed with the package"),
        ("novelty.py", "", "'novelty' is new; add it to ROWS in tests/test_layers.py"),
        ("novelty/thing.py", "", "'novelty' is new; add it to ROWS in tests/test_layers.py"),
    ],
)
def test_the_checker_sees_a_planted_violation(tmp_path, name, source, wrong):
    (found,) = planted(tmp_path, name, source)
    assert wrong in found
    assert name.replace("/", "\\" if "\\" in str(tmp_path) else "/") in found


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("corpus.py", "import numpy\nfrom conseq.vocabulary import Vocabulary\nimport conseq.errors"),
        ("io/columns.py", "from . import grid\nfrom .grid import read\nfrom ..tokens import cut"),
        ("io/columns.py", "from conseq.io.grid import read\nimport conseq.tokens"),
        ("kernels/rows.py", "from typing import Any\nimport numpy as np\nfrom conseq.kernels import chain"),
        ("cli/app.py", "from conseq import __version__\nfrom conseq.labeller import SequenceLabeller"),
        ("__init__.py", "from conseq.cli import main"),
        ("mining/view.py", "from conseq.decoders import experiments"),
        ("corpus.py", '"""from conseq.cli import main"""\n# import conseq.cli'),
    ],
)
def test_the_checker_lets_pass_what_is_allowed(tmp_path, name, source):
    assert planted(tmp_path, name, source) == []
