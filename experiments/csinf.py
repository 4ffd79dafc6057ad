"""Canisius et al. 2006, constraint satisfaction inference over class trigrams (tables 1, 2, figures 1, 2).

    data folder ─→ Task: train, target (`csinf_tasks.py`) ─→ Study: settings, tallies (`csinf_trials.py`)
    tallies ─→ tables, the paper's figures next to ours;  curves ─→ picture (`csinf_plot.py`)

    baseline    the memory-based learner with single labels as classes
    voting      the same learner with trigrams of labels: the majority of three predictions
    csinf       the labels that keep the largest weight of predicted trigrams, bigrams and unigrams
    sharper     the same with weights to the power of three, which the paper does not have
    oracle      the right label wherever one of three predictions has it
    curve       the same for a learner that knows a part of train: what figures 1 and 2 are drawn from

Windows are of seven tokens, words and tags, or of seven letters. The settings of both learners are chosen on
samples of train; nothing is tuned on what is measured. GENIA, PHONEME and MORPHO are other data in the paper:
its figures stand next to ours for their order, not their size.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from conseq.corpus import Corpus
from conseq.metrics.resampling import f1_of
from experiments.common import Result, Say, chance, markdown_table, percent, present, some
from experiments.csinf_tasks import TASKS
from experiments.csinf_trials import SINGLE, TRIGRAM, Search, Setting, Study, difference
from experiments.machine import describe

WAYS = ("baseline", "voting", "csinf", "oracle")

PAPER: dict[str, dict[str, float]] = {
    task: dict(zip((*WAYS, "base_accuracy", "sequences"), figures, strict=True))
    for task, figures in {
        "CHUNK": (91.9, 92.7, 93.1, 95.8, 88.8, 38.4),
        "NER": (77.2, 80.2, 81.8, 86.5, 91.6, 9.0),
        "GENIA": (55.8, 60.1, 61.8, 70.6, 71.8, 1719.3),
        "PHONEME": (79.0, 83.4, 84.5, 98.8, 91.7, 1.8),
        "MORPHO": (41.3, 46.1, 51.9, 62.2, 80.9, 2.8),
    }.items()
}
"""Task of the paper ─→ its figures, in per cent but for the number of sequences."""

WORDS = Search(first=4_000, last=60_000, final=120_000)
"""How settings are chosen for letters, which are quickly classified."""
SENTENCES = Search(
    metrics=("overlap", "mvdm", "jensen-shannon"),
    voting=("majority", "inverse-linear", "inverse-distance"),
    first=4_000,
    last=30_000,
    final=200_000,
)
"""The same for sentences, which take longer: fewer settings, but in the end nearly all of train."""
QUICK = Search(
    metrics=("overlap", "mvdm"),
    weights=("gain-ratio",),
    neighbours=(5, 11),
    voting=("inverse-linear",),
    first=1_500,
    last=3_000,
    final=4_000,
)
QUICK_TOKENS = 12_000, 2_000
"""Of train and target in a quick run."""
SHARES = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)
"""The parts of train that a curve has points for, besides all of it."""
SHORT = (1 / 64, 1 / 16)
"""The same for sentences, which take longer."""


def run(*, data: Path, split: str = "dev", quick: bool = False, say: Say = print) -> Result:
    """All tasks whose data is there; interrupted, those that were finished."""
    folders = set(present(data, list(dict.fromkeys(task.folder for task in TASKS.values()))))
    begun = time.perf_counter()
    tasks: Result = {}
    for name in (name for name, task in TASKS.items() if task.folder in folders):
        try:
            tasks[name] = _measured(name, data, split, quick, say)
        except KeyboardInterrupt:
            if not tasks:
                raise
            say(f"interrupted in {name}; what was finished before follows")
            break
    seconds = time.perf_counter() - begun
    return {"machine": describe(), "split": split, "quick": quick, **tasks, "seconds": seconds}


def _measured(name: str, data: Path, split: str, quick: bool, say: Say) -> Result:
    begun = time.perf_counter()
    study = _study(name, Path(data), split, quick)
    words = TASKS[name].scheme == "plain"
    search = QUICK if quick else WORDS if words else SENTENCES
    single, found_single = study.tune(SINGLE, search)
    trigram, found_trigram = study.tune(TRIGRAM, search)
    say(f"{name}: {single} for single labels, {trigram} for trigrams, {time.perf_counter() - begun:.0f} s")
    classified = time.perf_counter()
    tallies = {"baseline": study.baseline(single)}
    more, table_2 = study.trigrams(trigram)
    tallies |= more
    figures = {way: float(f1_of(tallies[way].sum(axis=0))) for way in (*WAYS, "sharper")}
    shown = ", ".join(f"{way} {percent(value)}" for way, value in figures.items())
    done = time.perf_counter()
    say(f"{name}: {shown}, {done - classified:.0f} s")
    curve = _curve(study, trigram, SHARES if words else SHORT)
    return {
        **figures,
        **table_2,
        "measure": TASKS[name].measure,
        "parameters": {SINGLE: found_single, TRIGRAM: found_trigram},
        "csinf_voting": difference(tallies["voting"], tallies["csinf"]),
        "csinf_baseline": difference(tallies["baseline"], tallies["csinf"]),
        "sharper_csinf": difference(tallies["csinf"], tallies["sharper"]),
        "curve": [*curve, {"share": 1.0, **figures, **table_2}],
        "train": _sizes(study.train),
        "target": {**_sizes(study.target), "units": len(tallies["csinf"])},
        "classes": study.n_classes,
        "seconds": {
            "tuning": classified - begun,
            "classifying": done - classified,
            "curve": time.perf_counter() - done,
        },
    }


def _study(name: str, data: Path, split: str, quick: bool) -> Study:
    task = TASKS[name]
    train, target = task.corpora(data, split)
    if quick:
        train, target = (_thinned(c, n) for c, n in zip((train, target), QUICK_TOKENS, strict=True))
    return Study(task, train, target)


def _thinned(corpus: Corpus, tokens: int) -> Corpus:
    """Sequences evenly from all of the corpus, with about `tokens` tokens."""
    return some(corpus, max(2, round(len(corpus) * min(1.0, tokens / corpus.n_tokens))))


def _sizes(corpus: Corpus) -> Result:
    return {"sequences": len(corpus), "tokens": corpus.n_tokens}


def _curve(study: Study, setting: Setting, shares: Sequence[float]) -> list[Result]:
    """Figures of trigrams learned from parts of train."""
    points = []
    for share in shares:
        tallies, table_2 = study.trigrams(setting, share)
        figures = {way: float(f1_of(tally.sum(axis=0))) for way, tally in tallies.items()}
        points.append({"share": share, **figures, **table_2})
    return points


# ── for people ──────────────────────────────────────────────────────────────────────────────────

HEAD = ("data", "paper's task", "measure", *(f"{side}{way}" for way in WAYS for side in ("paper ", "")))
HEAD_2 = ("data", "paper accuracy", "base accuracy", "paper sequences", "sequences")
HEAD_3 = ("data", "csinf − voting", "p", "csinf − baseline", "p", "sharper", "sharper − csinf", "p")
HEAD_4 = ("data", "single labels", "trigrams", "seconds")


def table(result: Result) -> list[list[str]]:
    """Table 1, the head first, with what table 2 has at the end."""
    rows = [[*row, *second[1:]] for row, second in zip(_first(result), _second(result), strict=True)]
    return [[*HEAD, *HEAD_2[1:]], *rows]


def _first(result: Result) -> list[list[str]]:
    rows = []
    for name in _tasks(result):
        paper = PAPER[TASKS[name].paper]
        pairs = [cell for way in WAYS for cell in (f"{paper[way]:.1f}", percent(result[name][way], 1))]
        rows.append([name, TASKS[name].paper, result[name]["measure"], *pairs])
    return rows


def _second(result: Result) -> list[list[str]]:
    rows = []
    for name in _tasks(result):
        paper, ours = PAPER[TASKS[name].paper], result[name]
        accuracy = [f"{paper['base_accuracy']:.1f}", percent(ours["base_accuracy"], 1)]
        rows.append([name, *accuracy, f"{paper['sequences']:.1f}", f"{ours['sequences']:.1f}"])
    return rows


def _third(result: Result) -> list[list[str]]:
    rows = []
    for name in _tasks(result):
        ours = result[name]
        pairs = [cell for key in ("csinf_voting", "csinf_baseline") for cell in _interval(ours[key])]
        rows.append([name, *pairs, percent(ours["sharper"], 1), *_interval(ours["sharper_csinf"])])
    return rows


def _fourth(result: Result) -> list[list[str]]:
    rows = []
    for name in _tasks(result):
        ours = result[name]
        chosen = [_setting(ours["parameters"][learner]) for learner in (SINGLE, TRIGRAM)]
        rows.append([name, *chosen, f"{sum(ours['seconds'].values()):.0f}"])
    return rows


def _interval(found: Result) -> list[str]:
    low, high = found["interval"]
    return [f"{100 * found['difference']:+.2f} ({100 * low:+.2f} to {100 * high:+.2f})", chance(found["p"])]


def _setting(found: Result) -> str:
    return str(Setting(**{key: found[key] for key in asdict(Setting())}))


def _tasks(result: Result) -> list[str]:
    """The tasks of a result."""
    return [name for name in TASKS if name in result]


def markdown(result: Result) -> str:
    """Both tables, what was chosen, how sure the differences are, and the points of the figures."""
    parts = [
        f"# Constraint satisfaction inference (Canisius et al. 2006), split {result['split']}",
        markdown_table([list(HEAD), *_first(result)]),
        "The classifier of trigrams, per token, and the mean number of sequences that its predictions allow:",
        markdown_table([list(HEAD_2), *_second(result)]),
        "Differences with 95 % intervals (paired bootstrap); sharper: weights to the power of three:",
        markdown_table([list(HEAD_3), *_third(result)]),
        "Settings chosen on training data:",
        markdown_table([list(HEAD_4), *_fourth(result)]),
        "Learned from parts of the training data (figures 1 and 2):",
        markdown_table(_points(result)),
    ]
    return "\n\n".join(parts) + "\n"


def _points(result: Result) -> list[list[str]]:
    rows = [["data", "part", "base accuracy", "sequences", "voting", "csinf", "oracle"]]
    for name in _tasks(result):
        for point in result[name]["curve"]:
            shares = [percent(point[way], 1) for way in WAYS[1:]]
            counted = f"{point['sequences']:.1f}"
            rows.append([name, f"{point['share']:.3f}", percent(point["base_accuracy"], 1), counted, *shares])
    return rows
