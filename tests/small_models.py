"""A small model file of every kind, for tests that change them."""

from __future__ import annotations

from pathlib import Path

from conseq import MemoryLabeller, RelationLabeller, SequenceLabeller, persist
from conseq.datasets import news
from conseq.models.memory import MemoryLearner

X = [
    ["A.", "Smith", ",", "Trees", "of", "Peru", ",", "1999", "."],
    ["B.", "Jones", ",", "Birds", ",", "2001", "."],
    ["Ann", "Lee", ",", "On", "Stones", ",", "1987"],
]
Y = [
    ["B-author", "I-author", "O", "B-title", "I-title", "I-title", "O", "B-date", "O"],
    ["B-author", "I-author", "O", "B-title", "O", "B-date", "O"],
    ["B-author", "I-author", "O", "B-title", "I-title", "O", "B-date"],
]
TEMPLATES = [
    "word[0]", "lower[-1]", "suffix(2)[0] & shape[1]", "lexicon(names)[0]", "position(3)[0]", "bias[0]",
    "unknown[0]", "match(/^[0-9]+$/)[0]", "word[-2] & word[-1] & word[0] & word[1] & word[2] & lower[3]",
]  # fmt: skip
RULES = (
    "at most 1 segment of author  hard\nif title then date  penalty 2\neach date contains /[0-9]/  penalty 1"
)
BAGS = [[{f"w={word}": 1.0, "cap": 0.5 + word.istitle()} for word in tokens] for tokens in X]
ROWS = [["a", "1", "x"], ["b", "2", "x"], ["a", "5", "y"], ["c", "4", "y"], ["b", "4.5", "z"]]
CLASSES = ["one", "two", "one", "two", "one"]


def save_all(folder: Path) -> None:
    """name.model for each."""
    names = {"names": ["smith", "ann lee", "jones"]}
    labellers = {
        "crf": SequenceLabeller(TEMPLATES, lexicons=names, n_jobs=1, max_iterations=20).fit(X, Y),
        "rules": SequenceLabeller("classic", constraints=RULES, n_jobs=1, max_iterations=9).fit(X, Y),
        "bags": SequenceLabeller(n_jobs=1, algorithm="ap", max_iterations=5).fit(BAGS, Y),
        "single": MemoryLabeller(inference="single", window=1, k=2, voting="inverse-linear", n_jobs=1).fit(
            X, Y
        ),
        "csinf": MemoryLabeller(window=1, distance="mvdm", constraints=RULES, n_jobs=1).fit(X, Y),
        "igtree": MemoryLabeller(window=0, algorithm="igtree", n_jobs=1).fit(X, Y),
    }
    relations = {
        "relations": RelationLabeller(folds=2, n_jobs=1),
        "relations-winnow": RelationLabeller("winnow", approach="pipeline", folds=0, n_jobs=1),
        "relations-predicted": RelationLabeller(boundaries="predicted", min_count=3, folds=0, n_jobs=1),
    }
    for name, labeller in relations.items():
        labeller.fit(news(6)).save(folder / f"{name}.model")
    for name, labeller in labellers.items():
        labeller.save(folder / f"{name}.model")
    learner = MemoryLearner(distance=["mvdm", "numeric", "overlap"], k=2, n_jobs=1).fit(ROWS, CLASSES)
    persist.save(folder / "learner.model", learner.archive())
