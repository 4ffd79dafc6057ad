"""What was learned about rules, for people and as JSON.  Learned, RuleReport ─→ tables; plain values"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conseq.cli.show import percent, show, show_facts, show_table
from conseq.errors import counted

if TYPE_CHECKING:
    from conseq.mining import Learned
    from conseq.mining.report import RuleReport

SHOWN_RULES, SHOWN_LABELS = 20, 8


def to_dict(learned: Learned, report: RuleReport | None) -> dict[str, Any]:
    """The rules and what they do, as plain JSON values."""
    rows = [rule.to_dict() for rule in learned.rules]
    if report is not None:
        for k, row in enumerate(rows):
            row["still_broken"] = report.broken[k]
            if report.effects is not None:
                row["effect"] = report.effects[k]
    counts = {"candidates": learned.candidates, "judged": learned.judged, "zero": learned.zero}
    measured = {} if report is None else {"report": report.to_dict()}
    return {**counts, "count": len(rows), "rules": rows, **measured}


def show_rules(learned: Learned, report: RuleReport) -> None:
    """A table of the rules that matter most, and of the labels that gain most."""
    before, after = report.before.span.total.f1, report.after.span.total.f1
    facts = [
        ("learned from", f"{counted(learned.sequences, 'sequence')} that the model had not seen"),
        ("rules", f"{len(learned.rules):,} with a penalty, of {counted(learned.candidates, 'candidate')}"),
        ("span F1 there", f"{percent(before)} % → {percent(after)} %"),
        ("certified", f"{report.certified:,} of {report.sequences:,}"),
    ]
    show_facts(facts, title="Rules learned.")
    if learned.rules:
        _show_each(learned, report)
    gains = [one for one in report.labels if one.gain > 0][:SHOWN_LABELS]
    if gains:
        show()
        rows = [[g.type, percent(g.before), percent(g.after), g.support] for g in gains]
        show_table(["labels that gain most", "F1 before", "after", "segments"], rows)


def _show_each(learned: Learned, report: RuleReport) -> None:
    head = ["rule", "penalty", "held", "gold breaks", "model breaks"]
    rows: list[list[object]] = [
        [
            learnt.rule.line(),
            f"{learnt.rule.penalty:.3g}",
            f"{learnt.held}/{learnt.applied}",
            learnt.by_gold,
            f"{learnt.by_model} → {broken}",
        ]
        for learnt, broken in zip(learned.rules, report.broken, strict=True)
    ]
    if report.effects is not None:
        head.append("adds to F1")
        best_first = sorted(zip(report.effects, rows, strict=True), key=lambda pair: -pair[0])
        rows = [[*row, f"{100 * effect:+.3f}"] for effect, row in best_first]
    show()
    show_table(head, rows[:SHOWN_RULES])
    if len(rows) > SHOWN_RULES:
        show(f"… and {len(rows) - SHOWN_RULES:,} more in the file", "dim")
