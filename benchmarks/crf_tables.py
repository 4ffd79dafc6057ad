"""The race against CRFsuite for people: its result ─→ tables, the head of each first."""

from __future__ import annotations

from typing import Any

from benchmarks.crf_peer import STRINGS

Result = dict[str, Any]
Rows = list[list[str]]

NONE = "–"


def table(result: Result) -> Rows:
    """One row per data set: CRFsuite's seconds, and how many times faster conseq is."""
    sets = result["sets"]
    threads = list(next(iter(sets.values()))["conseq"])
    rows = [_head(threads)]
    for name, found in sets.items():
        peer, first = found["crfsuite"], found["conseq"][threads[0]]
        rows.append(
            [
                name,
                str(found["data"]["labels"]),
                f"{peer['seconds']['train']:.2f}" + ("*" if peer["limited"] else ""),
                *(_with_ratio(found, n, "train") for n in threads),
                *(_times(found["ratios"][n]["train_to_same_objective"]) for n in threads),
                _times(found["ratios"][threads[0]]["per_evaluation"]),
                _raw(found, threads[0]),
                _times(found["ratios"][threads[0]]["label_given"]),
                f"{100 * peer['f1']:.2f}" + ("*" if peer["limited"] else ""),
                f"{100 * first['f1']:.2f}",
            ]
        )
    return rows


def _head(threads: list[str]) -> list[str]:
    return [
        *("data", "labels", "training: CRFsuite (s)"),
        *(f"conseq, {_threads(n)} (s)" for n in threads),
        *(f"to the same objective, {_threads(n)}" for n in threads),
        *("per evaluation", "labelling raw data", "labelling given features"),
        *("F1 of CRFsuite", "F1 of conseq"),
    ]


def further(result: Result) -> dict[str, Rows]:
    """Tables by title: each data set in full, whole processes, how time grows."""
    tables = {_title(name, found): _details(found) for name, found in result["sets"].items()}
    if "whole" in result:
        tables["whole training processes on conll2000"] = _whole(result["whole"])
    for name, rows in result.get("growth", {}).items():
        if isinstance(rows, list):
            tables[f"time of an evaluation as {name} grow, conseq"] = _growth(rows)
    return tables


def _title(name: str, found: Result) -> str:
    data, peer = found["data"], found["crfsuite"]
    title = f"{name}, {data['preset']}, {data['tokens']:,} tokens, {peer['weights']:,} weights"
    stopped = f"; * CRFsuite was stopped after {peer['iterations']} iterations"
    return title + (stopped if peer["limited"] else "")


def _details(found: Result) -> Rows:
    peer, threads = found["crfsuite"], list(found["conseq"])
    sides = [peer, *found["conseq"].values()]
    rows = [["", "CRFsuite", *(f"conseq, {_threads(n)}" for n in threads)]]
    for name, key in [
        ("features (s)", "features"),
        ("training (s)", "train"),
        ("an evaluation (s)", "per_evaluation"),
        ("labelling raw data (s)", "label_raw"),
        ("labelling given features (s)", "label_given"),
    ]:
        taken = peer["seconds"].get(key)
        own = NONE if taken is None else f"{taken:.3f}" + ("*" if key == "train" and peer["limited"] else "")
        rows.append([name, own, *(_with_ratio(found, n, key, 3) for n in threads)])
    goals = [_times(found["ratios"][n]["train_to_same_objective"]) for n in threads]
    rows.append(["training to the same objective", "1 ×", *goals])
    rows.append(
        ["labelled tokens a second, raw", *(f"{s['tokens_per_second']['label_raw']:,.0f}" for s in sides)]
    )
    rows.append(["objective", *(f"{s['objective']:.2f}" for s in sides)])
    rows.append(["iterations", *(str(s["iterations"]) for s in sides)])
    rows.append(["evaluations", *(str(s["evaluations"]) for s in sides)])
    rows.append(["span F1 on test", *(f"{100 * s['f1']:.2f}" for s in sides)])
    rows.append(["compiling (s)", NONE, *(f"{found['compile_seconds']:.1f}" for _ in threads)])
    return rows


def _whole(whole: Result) -> Rows:
    peer, ours, ratios = whole["crfsuite"], whole["conseq"], whole["ratios"]
    rows = [["", "CRFsuite", f"conseq, {_threads(str(whole['threads']))}"]]
    rows.append(["seconds", f"{peer['seconds']:.1f}", f"{ours['seconds']:.1f} ({_times(ratios['seconds'])})"])
    if "peak_mb" in ratios:
        own = f"{ours['peak_mb']:.0f} ({_times(ratios['peak_mb'])})"
        rows.append(["peak memory (MB)", f"{peer['peak_mb']:.0f}", own])
    return rows


def _growth(rows: list[Result]) -> Rows:
    head = ["tokens", "labels", "templates", "weights", "an evaluation (ms)", "to the first"]
    first = rows[0]["seconds"]
    return [
        head,
        *(
            [
                f"{row['tokens']:,}",
                str(row["labels"]),
                str(row["templates"]),
                f"{row['weights']:,}",
                f"{1000 * row['seconds']:.1f}",
                f"{row['seconds'] / first:.2f} ×",
            ]
            for row in rows
        ),
    ]


def _raw(found: Result, threads: str) -> str:
    """The ratio is a lower bound where CRFsuite was given strings that were ready."""
    least = "≥ " if found["crfsuite"]["label_raw_from"] == STRINGS else ""
    return least + _times(found["ratios"][threads]["label_raw"])


def _with_ratio(found: Result, threads: str, key: str, digits: int = 2) -> str:
    """Seconds of conseq, and the ratio if there is one."""
    ratio = found["ratios"][threads].get(key)
    least = "≥ " if key == "label_raw" and found["crfsuite"]["label_raw_from"] == STRINGS else ""
    own = f"{found['conseq'][threads]['seconds'][key]:.{digits}f}"
    return own if ratio is None else f"{own} ({least}{_times(ratio)})"


def _times(ratio: float) -> str:
    return f"{ratio:.1f} ×"


def _threads(n: str) -> str:
    return f"{n} thread" if n == "1" else f"{n} threads"
