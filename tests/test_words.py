"""The words of the code are the field's: papers are cited by author and year, and private words are gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "conseq"
REFERENCES = ROOT / "docs" / "references.md"

# ── papers ──────────────────────────────────────────────────────────────────────────────────────

NAME = r"(?:(?:[Vv]an den )?[A-Z][a-zé]+(?:-[A-Z][a-z]+)?)"
CITATION = re.compile(rf"\b({NAME}(?: and {NAME}| et al\.)?),? \(?((?:19|20)\d\d)\b")


def cited(text: str) -> set[str]:
    """`Polyak 1969`, `Roth and Yih 2005`, `Aha et al. 1991`, however the lines are broken."""
    flat = re.sub(r"\s*\n\s*(?:# )?", " ", text)
    found = (f"{names} {year}" for names, year in CITATION.findall(flat))
    return {f"{one[0].lower()}{one[1:]}" if one.startswith("Van den ") else one for one in found}


def entries() -> dict[str, str]:
    """The rows of the table of works: what is cited, and where it is used."""
    rows = [line.strip("| ").split(" | ") for line in REFERENCES.read_text("utf-8").splitlines()]
    return {row[0]: row[2] for row in rows if len(row) == 3 and re.search(r" \d{4}$", row[0])}


def comments(path: Path) -> str:
    """The text without examples, whose data looks like citations."""
    return "\n".join(line for line in path.read_text("utf-8").splitlines() if '"A. ' not in line)


def sources() -> list[Path]:
    """All of the package but the word lists that data is made from."""
    found = sorted(p for p in SOURCE.rglob("*.py*") if p.suffix in (".py", ".pyi"))
    return [path for path in found if "datasets" not in path.relative_to(SOURCE).parts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("steps follow Polyak (1969):", {"Polyak 1969"}),
        ("(Roth and Yih\n    2005)", {"Roth and Yih 2005"}),
        ("# after Fersini\n# et al. 2014, eq. 30", {"Fersini et al. 2014"}),
        ("Van den Bosch 2004. Quinlan 1993;", {"van den Bosch 2004", "Quinlan 1993"}),
        ("Daelemans and van den Bosch 2005;", {"Daelemans and van den Bosch 2005"}),
        ("(Berg-Kirkpatrick et al. 2012)", {"Berg-Kirkpatrick et al. 2012"}),
        ("CoNLL-2003 has 23,425 of 2004", set()),
    ],
)  # fmt: skip
def test_citations_are_recognised(text, expected):
    assert cited(text) == expected


def test_every_citation_in_the_package_and_its_documentation_is_listed():
    pages = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
    texts = {path: comments(path) for path in [*sources(), *pages] if path != REFERENCES}
    known = entries()
    missing = {
        (one, str(path.relative_to(ROOT)))
        for path, text in texts.items()
        for one in cited(text) - known.keys()
    }
    assert not missing
    assert {"Fersini et al. 2014", "Canisius et al. 2006"} <= set().union(*map(cited, texts.values()))


def test_the_files_that_the_references_name_exist():
    for work, where in entries().items():
        for name in re.findall(r"`([\w/]+(?:/|\.py|\.md))`", where):
            assert (SOURCE / name).exists() or (ROOT / name).exists(), f"{work}: {name}"


def test_papers_have_no_numbers():
    places = [ROOT / name for name in ("src", "docs", "experiments", "benchmarks", "examples", "tests")]
    files = [p for place in places for p in place.rglob("*") if p.suffix in (".py", ".md")]
    numbered = re.compile(r"papers? 00\d", re.IGNORECASE)
    assert [str(p) for p in [*files, ROOT / "README.md"] if numbered.search(p.read_text("utf-8"))] == []


# ── glossary ────────────────────────────────────────────────────────────────────────────────────


def test_the_names_of_the_glossary_are_in_the_code():
    section = (ROOT / "docs" / "architecture.md").read_text("utf-8").split("## Glossary")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")][2:]
    names = {
        name
        for row in rows
        for quoted in re.findall(r"`([^`]+)`", row[2])
        for name in re.findall(r"[A-Za-z_]\w+", quoted)
    }
    code = "\n".join(path.read_text("utf-8") for path in sources())
    known = set(re.findall(r"\w+", code)) | {
        part for p in ROOT.rglob("*.py") for part in (p.stem, p.parent.name)
    }
    assert len(rows) > 30
    assert names - known - {"py", "naive"} == set()


# ── words ───────────────────────────────────────────────────────────────────────────────────────

RETIRED = {
    r"(?i)hopes?": "upper bound of a prefix",
    r"(?i)dreads?": "minimum remaining cost",
    r"(?i)fears?": "minimum remaining cost",
    r"(?i)folded": "charged in the scores",
    r"Ways": "Paths",
    r"(?i)chances": "marginals, posterior, probabilities",
    r"(?i)plant(s|ed)?": "build_tree",
    r"Ear": "CompileListener",
    r"is_extra": "",
    r"(?i)so\s+many": "the name of the number",
    r"(?i)twins?": "reference implementation",
    r"Pursuit": "",
    r"AIM": "",
    r"LITTLE_ROOM": "",
    r"(?i)(un|re)?pric(es?|ed)": "penalty, cost",
    r"(?i)dear(er|est)?": "of high penalty",
}
"""What was said once, and what the field says. Letters alone bound a word: `best_price` has one."""

PATHS_ONLY = {r"(?i)ways": "paths"}
"""Retired where graphs are; elsewhere there are ways to do something."""

MODULES = {"fronts", "choose", "ranked", "chances", "tally", "ways", "priced"}
KEYS = ('"chances"',)
"""Keys of JSON output, which are a contract."""


def matches(pattern: str, text: str) -> list[str]:
    flags, word = re.fullmatch(r"(\(\?i\))?(.*)", pattern).groups(default="")
    for key in KEYS:
        text = text.replace(key, "")
    return [m.group() for m in re.finditer(rf"{flags}(?<![A-Za-z])(?:{word})(?![A-Za-z])", text)]


@pytest.mark.parametrize("pattern", RETIRED)
def test_retired_words_are_gone(pattern):
    found = {str(path.relative_to(SOURCE)): matches(pattern, path.read_text("utf-8")) for path in sources()}
    assert {path: words for path, words in found.items() if words} == {}, f"say {RETIRED[pattern]!r}"


@pytest.mark.parametrize("pattern", PATHS_ONLY)
@pytest.mark.parametrize("folder", ["decoders", "kernels"])
def test_graphs_have_paths(folder, pattern):
    paths = [path for path in sources() if path.is_relative_to(SOURCE / folder)]
    found = {str(path.relative_to(SOURCE)): matches(pattern, path.read_text("utf-8")) for path in paths}
    assert {path: words for path, words in found.items() if words} == {}


def test_no_module_has_a_retired_name():
    assert [path for path in sources() if path.stem in MODULES] == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?i)(un|re)?pric(es?|ed)", "x.unpriced"),
        (r"(?i)so\s+many", "so\n    many"),
        ("Ear", "class Ear(Listener)"),
    ],
)
def test_retired_words_are_recognised(pattern, text):
    assert matches(pattern, text)
