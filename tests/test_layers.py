"""Who may import whom: the layers of docs/architecture.md, enforced over the imports of every module."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "conseq"

ROWS: list[list[str]] = [
    [
        "errors",
        "estimator",
        "threads",
        "machine",
        "shelf",
        "solver",
        "kernels",
        "vocabulary",
        "schema",
        "corpus",
    ],
    ["tokens", "io", "persist", "shards", "features", "potentials", "datasets"],
    ["constraints"],
    ["problem", "evaluate"],
    ["decoders"],
    ["optimise", "models", "mining"],
    ["explain", "labelled", "labeller", "relations", "experiments", "benchmarks"],
    ["cli", "web", "__main__"],
]
"""From the ground up. A module may import those of lower rows and those to its left in its own row."""

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
        if module == "__init__":  # the package itself offers names of all layers
            continue
        if module not in RANK:
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


def test_the_table_has_each_module_once():
    names = [name for row in ROWS for name in row]
    assert len(names) == len(set(names))


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
        ("corpus.py", '"""from conseq.cli import main"""\n# import conseq.cli'),
    ],
)
def test_the_checker_lets_pass_what_is_allowed(tmp_path, name, source):
    assert planted(tmp_path, name, source) == []
