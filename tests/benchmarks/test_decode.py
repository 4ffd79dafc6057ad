"""`python -m benchmarks decode` on small made-up data: what it reports, and where its rules come from."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from benchmarks import BENCHMARKS, decode, rules
from benchmarks.__main__ import main
from conseq.constraints import Constraint, Counts, Segments
from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.io import read
from conseq.labeller import SequenceLabeller
from conseq.labeller.learning import evidence_of
from conseq.mining import Evidence
from conseq.schema import Schema

NAMES = ["Ann", "Bob", "Cleo", "Dora", "Emil", "Faye"]
WORDS = ["on", "rules", "Bob", "learning", "paths", "1984", "1999", "2001"]
YEARS = ["1984", "1999", "2001"]

Token = tuple[str, str]


def plain(rng: random.Random) -> list[Token]:
    """A citation. The date stands after the author or at the end, and years in the title may stand there,
    too, so that a model that sees neighbours only takes some for a second date."""
    author = [(rng.choice(NAMES), "author") for _ in range(rng.randint(1, 2))]
    title = [(rng.choice(WORDS), "title") for _ in range(rng.randint(2, 5))]
    date = [(rng.choice(YEARS), "date")]
    pages = [(rng.choice(["pp.", "12-15"]), "pages")] if rng.random() < 0.5 else []
    return [*author, *date, *title, *pages] if rng.random() < 0.5 else [*author, *title, *date, *pages]


def nested(rng: random.Random) -> list[Token]:
    """The same with persons inside authors."""
    tokens: list[Token] = []
    for n in range(rng.randint(1, 3)):
        outer = "I" if n else "B"
        tokens.append((rng.choice(NAMES), f"{outer}-authors/B-person/B-first"))
        tokens.append((rng.choice(NAMES), "I-authors/I-person/B-last"))
    title = [(rng.choice(WORDS), "I-title" if i else "B-title") for i in range(rng.randint(2, 4))]
    date = [(rng.choice(YEARS), "B-date")]
    return [*tokens, *date, *title] if rng.random() < 0.5 else [*tokens, *title, *date]


def address(rng: random.Random) -> list[Token]:
    """House, unit, street and city, or house, street, city and unit; streets and codes are numbers, too."""
    house, unit, other = (rng.choice(["12", "5", "33", "7"]) for _ in range(3))
    street = [("Oak", "street"), (rng.choice(["Ave", "St"]), "street")]
    city = (rng.choice(["Rome", "Lima"]), "city")
    if rng.random() < 0.5:
        return [(house, "house"), (unit, "unit"), *street, city, (other, "code")]
    return [(house, "house"), (other, "street"), *street, city, (unit, "unit")]


SPLITS = {"train": 60, "dev": 40, "test": 30}
KINDS = {"cora": plain, "umass_citation": nested, "us50": address, "usaddress": address}


def text(sequences: list[list[Token]]) -> str:
    return "".join("".join(f"{word}\t{label}\n" for word, label in s) + "\n" for s in sequences)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for number, (name, make) in enumerate(KINDS.items()):
        rng = random.Random(number)
        (folder / name).mkdir()
        for split, count in SPLITS.items():
            (folder / name / f"{split}.tsv").write_text(text([make(rng) for _ in range(count)]))
    return folder


def corpus(data: Path, name: str, split: str) -> Corpus:
    return read(data / name / f"{split}.tsv", "columns", columns=("word", "label"))


@pytest.fixture(scope="module")
def labeller(data: Path) -> SequenceLabeller:
    """A model that breaks rules which the gold labels keep."""
    return SequenceLabeller("fields", n_jobs=1).fit(corpus(data, "cora", "train"))


# ── the whole run ───────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def result(data: Path) -> dict:
    """What a full run reports, through JSON and back."""
    found = decode.run(data=data, say=lambda line: None)
    return json.loads(json.dumps(found))


def test_every_set_is_reported_with_the_promised_keys(result):
    keys = {"sequences", "constraints", "certified", "certified_share", "viterbi_runs", "over_viterbi"}
    keys |= {"milliseconds", "seconds_lowering", "violations", "equal_scores", "accuracy", "span_f1"}
    for name in [*KINDS, "umass_citation_log_ratio"]:
        assert keys <= result[name].keys(), name
        assert result[name]["sequences"] == SPLITS["test"]
        assert result[name]["certified"] == result[name]["sequences"] == SPLITS["test"]
        assert result[name]["certified_share"] == 1
        assert result[name]["equal_scores"] is True
        assert result[name]["viterbi_runs"] >= 1
        times = result[name]["milliseconds"]
        assert result[name]["over_viterbi"] == pytest.approx(times["auto"] / times["viterbi"])


def test_the_integer_programs_race_on_cora(result, evidence):
    found = result["cora"]
    times = found["milliseconds"]
    assert set(times) == {"viterbi", "auto", "lazy", "dual", "beam", "twostage", "ilp", "ilp_pruned"}
    assert found["constraints"] == len(rules.count_and_order(evidence, decode.NUMBER)) > 10
    assert found["certified_by"]["ilp"] == found["certified_by"]["ilp_pruned"] == 1
    assert found["speedup_over_ilp"] == pytest.approx(times["ilp"] / times["auto"])
    assert found["speedup_over_pruned_ilp"] == pytest.approx(times["ilp_pruned"] / times["auto"])


def test_hard_rules_leave_no_segment_repeated(result):
    before = [result[name]["repeated"]["before"] for name in ("us50", "usaddress")]
    assert max(before) > 0, "the made-up addresses are too easy"
    assert all(result[name]["repeated"]["after"] == 0 for name in ("us50", "usaddress"))


def test_the_table_has_a_row_for_each_set(result):
    head, *rows = decode.table(result)
    assert [row[0] for row in rows] == [
        "cora",
        "umass_citation",
        "umass_citation_log_ratio",
        "us50",
        "usaddress",
    ]
    assert all(len(row) == len(head) for row in rows)
    assert rows[0][head.index("rules")] == str(result["cora"]["constraints"])


def test_the_command_and_that_rules_do_not_see_the_labels_of_test(data, result, tmp_path, capsys):
    """With other labels in the test data everything stays but the accuracy."""
    (tmp_path / "cora").mkdir()
    for split in ("train", "dev"):
        (tmp_path / "cora" / f"{split}.tsv").write_text((data / "cora" / f"{split}.tsv").read_text())
    test = [[(w, "title") for w in s.tokens] for s in corpus(data, "cora", "test")]
    (tmp_path / "cora" / "test.tsv").write_text(text(test))
    assert main(["decode", "--quick", "--json", "--data", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)["cora"]
    for key in ("constraints", "viterbi_runs", "violations", "violating"):
        assert found[key] == result["cora"][key]
    assert found["accuracy"] != result["cora"]["accuracy"]


def test_data_that_is_not_there_is_named(data, tmp_path):
    with pytest.raises(DataError, match="there is none of cora, umass_citation, us50, usaddress in"):
        decode.run(data=tmp_path)
    (tmp_path / "cora").mkdir()
    (tmp_path / "cora" / "train.tsv").write_text((data / "cora" / "train.tsv").read_text())
    with pytest.raises(DataError, match=r"there is no dev\.tsv in"):
        decode.run(data=tmp_path, say=lambda line: None)


def test_it_is_in_the_table_of_benchmarks():
    assert BENCHMARKS["decode"].run is decode.run


def test_works_take_turns_after_a_warm_up():
    log: list[str] = []
    works = {
        name: decode.Work(lambda name=name: log.append(name), n) for name, n in (("a", 3), ("b", 1), ("c", 2))
    }
    seconds, _ = decode.race(works)
    assert "".join(log) == "ac" + "abc" + "ac" + "a"
    assert seconds.keys() == works.keys()


# ── the rules ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def evidence(data: Path, labeller: SequenceLabeller) -> Evidence:
    return evidence_of(labeller, corpus(data, "cora", "dev"))


def breaking(rule: Constraint, sequences: list[list[str]], schema: Schema) -> int:
    return sum(rule.violation(labels, schema) > 0 for labels in sequences)


def test_count_and_order_rules_are_those_that_the_model_breaks_most_often(data, labeller, evidence):
    dev, schema = corpus(data, "cora", "dev"), labeller.schema_
    found = rules.count_and_order(evidence, 1000)
    order = [breaking(rule, labeller.predict(dev), schema) for rule in found]
    assert order == sorted(order, reverse=True)
    assert order[-1] >= 1
    gold = [breaking(rule, dev.label_sequences(), schema) for rule in found]
    assert all(by_model >= by_gold for by_model, by_gold in zip(order, gold, strict=True))
    assert {Counts, Segments} <= {type(rule) for rule in found}
    assert rules.count_and_order(evidence, 12) == found[:12]


def test_rarely_broken_rules_have_high_penalties(evidence):
    for one, rule in zip(
        rules.segment_counts(evidence), rules.with_log_ratios(rules.segment_counts(evidence)), strict=True
    ):
        violated, applied = one.violated, one.applied
        assert rule.penalty == pytest.approx(-math.log((violated + 0.5) / (applied + 1)))


def test_learned_penalties_lower_the_violations(data, labeller, evidence):
    """Under its rules the model breaks them less often on dev than it did."""
    dev, schema = corpus(data, "cora", "dev"), labeller.schema_
    learned = rules.with_learned_penalties(rules.segment_counts(evidence), evidence)
    assert learned
    ruled = labeller.with_constraints(learned)
    before, after = (
        sum(breaking(rule, each.predict(dev), schema) for rule in learned) for each in (labeller, ruled)
    )
    assert after < before
