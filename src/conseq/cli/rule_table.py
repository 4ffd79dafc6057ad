"""What was learned about rules, for people and as JSON.  Learned, RuleReport ─→ tables; plain values"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conseq.cli.show import counted, percent, show, show_facts, show_table

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
        rows = [[g.type, percent(g.before), percent(g.after), str(g.support)] for g in gains]
        show_table(["labels that gain most", "F1 before", "after", "segments"], rows)


def _show_each(learned: Learned, report: RuleReport) -> None:
    order = list(range(len(learned.rules)))
    if report.effects is not None:
        effects = report.effects
        order.sort(key=lambda k: -effects[k])
    rows = []
    for k in order[:SHOWN_RULES]:
        rule = learned.rules[k]
        row = [
            rule.rule.line(),
            f"{rule.rule.penalty:.3g}",
            f"{rule.held}/{rule.applied}",
            str(rule.by_gold),
            f"{rule.by_model} → {report.broken[k]}",
        ]
        rows.append([*row, *([] if report.effects is None else [f"{100 * report.effects[k]:+.3f}"])])
    head = ["rule", "penalty", "held", "gold breaks", "model breaks"]
    show()
    show_table([*head, *([] if report.effects is None else ["adds to F1"])], rows)
    if len(order) > SHOWN_RULES:
        show(f"… and {len(order) - SHOWN_RULES:,} more in the file", "dim")
