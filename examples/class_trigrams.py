"""Any classifier labels sequences better if it predicts the labels of three tokens at once.

A linear SVM sees a window around each token. Trained with single labels, neighbouring answers know nothing of
each other. Trained with trigrams of labels, each label is predicted three times, and constraint satisfaction
inference finds the labels that keep most of what was predicted.

Run it as it is, or with a folder that has train.tsv and test.tsv (columns: token, …, label) and the number of
training sequences to take, such as: python examples/class_trigrams.py ../shared/data/nettalk 5000
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC

from conseq import Corpus, read
from conseq.datasets import addresses
from conseq.models.distributions import distributions
from conseq.models.trigrams import Predictions, TrigramClasses
from conseq.models.windows import windows


def data() -> tuple[Corpus, Corpus]:
    if len(sys.argv) < 2:
        return addresses(150, seed=0), addresses(100, seed=1)
    train, test = (read(Path(sys.argv[1]) / f"{split}.tsv") for split in ("train", "test"))
    number = int(sys.argv[2]) if len(sys.argv) > 2 else len(train)
    return train.select(np.linspace(0, len(train) - 1, number).astype(int)), test


train, test = data()
seen = windows(train, [train.token_column])
rows, queries = seen.one_hot(), windows(test, [test.token_column], like=seen).one_hot()

single = LinearSVC(C=0.3, random_state=0).fit(rows, train.full_labels().strings())
classes, ids = TrigramClasses.of(train)
triple = LinearSVC(C=0.3, random_state=0).fit(rows, ids)

found = Predictions.of(classes, distributions(triple, queries), test.offsets)
answers = {
    "single labels": single.predict(queries).tolist(),
    "voting": found.names(found.voting()),
    "inference": found.names(found.csinf()),
    "at most": found.names(found.oracle(classes.label_ids(test))),
}
gold = test.split(test.full_labels().strings())
for name, labels in answers.items():
    right = sum(a == b for a, b in zip(test.split(labels), gold, strict=True))
    print(f"{name:14} {100 * right / len(gold):5.1f} % of sequences without a mistake")
