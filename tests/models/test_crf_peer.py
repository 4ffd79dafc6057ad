"""`models/crf.py` against CRFsuite on the same data: the same objective, the same weights."""

from __future__ import annotations

import numpy as np
import pycrfsuite
import pytest

from conseq.corpus import Bags, Corpus
from conseq.features import FeatureExtractor, parse_crfpp
from conseq.models.crf import CRF
from conseq.models.layout import Shard
from conseq.optimise.lbfgs import LBFGS
from conseq.vocabulary import Vocabulary

LABELS = ["B-NP", "I-NP", "O", "B-VP"]


def sentences(seed=11, n=200):
    """(words, tags, labels) from a random walk over labels; words and tags lean towards a label."""
    rng = np.random.default_rng(seed)
    walk = rng.dirichlet(np.full(4, 0.7), size=5)
    words = rng.dirichlet(np.full(60, 0.15), size=4)
    tags = rng.dirichlet(np.full(6, 0.5), size=4)
    found = []
    for _ in range(n):
        label, sentence = 4, []
        for _ in range(int(rng.integers(1, 12))):
            label = int(rng.choice(4, p=walk[label]))
            word, tag = rng.choice(60, p=words[label]), rng.choice(6, p=tags[label])
            sentence.append((f"w{word}", f"T{tag}", LABELS[label]))
        found.append(tuple(map(list, zip(*sentence, strict=True))))
    return found


def bags(sentence, valued):
    """Attributes of each token as a dict.

    Values stay above 0, because CRFsuite drops pairs whose values sum to less, and we do not.
    """
    words, tags, _ = sentence
    rng = np.random.default_rng(len(words))
    found = []
    for i, (word, tag) in enumerate(zip(words, tags, strict=True)):
        bag = {"bias": 1.0, f"word={word}": 1.0, f"tag={tag}": 1.0, f"last={word[-1]}": 1.0}
        if i:
            bag[f"-1:tag={tags[i - 1]}"] = 1.0
        if valued:
            bag = {name: float(np.float32(value * rng.uniform(0.1, 2))) for name, value in bag.items()}
        found.append(bag)
    return found


def peer(data, **options):
    """CRFsuite's last objective and its weights by (attribute, label) and (label, label)."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for attributes, labels in data:
        trainer.append(attributes, labels)
    trainer.set_params({"feature.possible_transitions": False, "max_iterations": 2000, **options})
    return trainer


def trained(trainer, path):
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    info = tagger.info()
    return trainer.logparser.last_iteration, {**info.state_features, **info.transitions}


def bag_corpus(data):
    flat = [bag for attributes, _ in data for bag in attributes]
    vocabulary, ids = Vocabulary.build(name for bag in flat for name in bag)
    values = np.array([v for bag in flat for v in bag.values()], dtype=np.float32)
    packed = Bags(np.cumsum([0, *map(len, flat)]), ids, values, vocabulary)
    labels = [label for _, labels in data for label in labels]
    return Corpus.from_columns({}, [len(labels) for _, labels in data], labels, bags=packed)


def fit(corpus, templates, optimiser, precision=np.float64, **options):
    extractor, design = FeatureExtractor.learn(corpus, templates)
    crf = CRF(optimiser, boundaries=False, precision=precision, **options)
    n_labels = len(corpus.labels.vocabulary)
    model, report = crf.fit_all([Shard(design, corpus.labels.ids, corpus.offsets)], n_labels)
    return extractor, model, report


def named(extractor, model, labels):
    """Our weights by the names that CRFsuite uses."""
    layout, weights = model.layout, model.weights.tolist()
    attribute = np.repeat(np.arange(len(layout.feature) - 1), np.diff(layout.feature))
    pairs = [*zip(extractor.names(attribute), labels.decode(layout.label), strict=True)]
    pairs += [(labels[i], labels[j]) for i, j in layout.moves.tolist()]
    return dict(zip(pairs, weights, strict=True))


def assert_same_weights(ours, theirs, tolerance):
    """CRFsuite leaves weights that are 0 out of its file, and prints six decimals."""
    assert set(theirs) <= set(ours)
    for key, weight in ours.items():
        assert weight == pytest.approx(theirs.get(key, 0.0), abs=tolerance), key


TIGHT = {"delta": 1e-12, "epsilon": 1e-7}


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("c2", [1.0, 0.05])
def test_bags_give_the_same_optimum(tmp_path, valued, c2):
    data = [(bags(s, valued), s[2]) for s in sentences()]
    last, theirs = trained(peer(data, c1=0, c2=c2, **TIGHT), tmp_path / "m")
    corpus = bag_corpus(data)
    extractor, model, report = fit(corpus, [], LBFGS(c2=c2, **TIGHT))
    assert report.objective == pytest.approx(last["loss"], rel=1e-5)
    assert report.features == model.layout.size
    assert_same_weights(named(extractor, model, corpus.labels.vocabulary), theirs, 2e-3)


def test_lists_of_strings_are_attributes_of_value_one(tmp_path):
    data = [(bags(s, False), s[2]) for s in sentences()]
    lists = [([list(bag) for bag in attributes], labels) for attributes, labels in data]
    last, _ = trained(peer(lists, c1=0, c2=1.0), tmp_path / "m")
    _, _, report = fit(bag_corpus(data), [], LBFGS(c2=1.0), precision=np.float32)
    assert report.objective == pytest.approx(last["loss"], rel=1e-3)


TEMPLATE = "U0:%x[-1,0]\nU1:%x[0,0]\nU2:%x[1,0]\nU3:%x[-1,1]/%x[0,1]\nU4:%x[0,1]/%x[1,1]/%x[2,1]\nB"


def template_attributes(sentence):
    """What TEMPLATE asks for, under our names, written out by hand."""
    words, tags, _ = sentence

    def at(column, i):
        if i < 0:
            return f"_B{i}"
        return column[i] if i < len(column) else f"_B+{i - len(column) + 1}"

    return [
        [
            f"word[-1]={at(words, i - 1)}",
            f"word[0]={words[i]}",
            f"word[1]={at(words, i + 1)}",
            f"pos[-1] & pos[0]={at(tags, i - 1)}|{tags[i]}",
            f"pos[0] & pos[1] & pos[2]={tags[i]}|{at(tags, i + 1)}|{at(tags, i + 2)}",
        ]
        for i in range(len(words))
    ]


def template_corpus(given):
    columns = {"word": [w for s in given for w in s[0]], "pos": [t for s in given for t in s[1]]}
    return Corpus.from_columns(columns, [len(s[0]) for s in given], [y for s in given for y in s[2]])


@pytest.fixture(scope="module")
def templated():
    given = sentences()
    data = [(template_attributes(s), s[2]) for s in given]
    return data, template_corpus(given), parse_crfpp(TEMPLATE, ["word", "pos"]).templates


def test_templates_give_the_same_optimum(tmp_path, templated):
    data, corpus, templates = templated
    last, theirs = trained(peer(data, c1=0, c2=1.0, **TIGHT), tmp_path / "m")
    extractor, model, report = fit(corpus, templates, LBFGS(c2=1.0, **TIGHT))
    assert report.objective == pytest.approx(last["loss"], rel=1e-5)
    assert_same_weights(named(extractor, model, corpus.labels.vocabulary), theirs, 2e-3)


@pytest.mark.parametrize("threads", [1, 2])
def test_default_options_end_at_an_objective_as_low(tmp_path, templated, threads):
    """Single precision, CRFsuite's own test of convergence."""
    data, corpus, templates = templated
    last, _ = trained(peer(data, c1=0, c2=1.0), tmp_path / "m")
    _, _, report = fit(corpus, templates, LBFGS(c2=1.0), precision=np.float32, threads=threads)
    assert report.status == "converged"
    assert report.objective <= last["loss"] * 1.001


@pytest.mark.parametrize(("c1", "c2"), [(1.0, 0.0), (0.3, 0.2)])
def test_sparse_training_ends_as_low_with_as_many_weights(tmp_path, templated, c1, c2):
    data, corpus, templates = templated
    options = {"delta": 1e-7, "epsilon": 1e-6}
    last, theirs = trained(peer(data, c1=c1, c2=c2, **options), tmp_path / "m")
    extractor, model, report = fit(corpus, templates, LBFGS(c1=c1, c2=c2, **options))
    assert report.objective == pytest.approx(last["loss"], rel=5e-3)
    assert report.features == np.count_nonzero(model.weights) == model.layout.size
    assert report.features == pytest.approx(last["active_features"], rel=0.05)
    ours = named(extractor, model, corpus.labels.vocabulary)
    assert len(set(ours) & set(theirs)) > 0.9 * len(theirs)


def test_predictions_are_the_peers(tmp_path, templated):
    """Both models label the training sentences alike, and score the labellings alike."""
    data, corpus, templates = templated
    trainer = peer(data, c1=0, c2=1.0, **TIGHT)
    trained(trainer, tmp_path / "m")
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "m"))
    extractor, model, _ = fit(corpus, templates, LBFGS(c2=1.0, **TIGHT))
    potentials = model.potentials(extractor.design(corpus), corpus.offsets)
    labels = corpus.labels.vocabulary
    for i in range(0, 200, 10):
        theirs = tagger.tag(data[i][0])
        best = labels.decode(viterbi(potentials[i]))
        margin = potentials.score(labels.encode(best), i) - potentials.score(labels.encode(theirs), i)
        assert best == theirs or margin < 1e-3


def viterbi(potentials):
    """The best labels of one sequence, by the textbook."""
    score, back = potentials.unary[0] + potentials.start, []
    for row in potentials.unary[1:]:
        steps = score[:, None] + potentials.pairwise[0]
        back.append(steps.argmax(axis=0))
        score = steps.max(axis=0) + row
    path = [int((score + potentials.end).argmax())]
    for choices in reversed(back):
        path.append(int(choices[path[-1]]))
    return path[::-1]
