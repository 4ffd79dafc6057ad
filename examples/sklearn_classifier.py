"""A scikit-learn classifier labels each token by itself; rules about the whole address mend its slips.

addresses ─→ dicts of features ─→ LogisticRegression ─→ log-probabilities[T,Y] ─→ conseq.decode
"""

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import conseq
from conseq.datasets import addresses

RULES = """
at most 1 segment of AddressNumber        penalty 3
at most 1 segment of StreetName           penalty 3
at most 1 segment of PlaceName            penalty 3
at most 1 segment of StateName            hard
at most 1 segment of ZipCode              hard
no PlaceName before StreetName            penalty 3
no ZipCode before StateName               penalty 3
if OccupancyType then OccupancyIdentifier penalty 2
each ZipCode contains /\\d{5}/             hard
"""


def features(tokens: list[str], t: int) -> dict[str, str | bool]:
    word = tokens[t]
    return {
        "word": word.lower(),
        "digits": word.isdigit(),
        "length": str(len(word)),
        "before": tokens[t - 1].lower() if t else "START",
        "after": tokens[t + 1].lower() if t + 1 < len(tokens) else "END",
    }


def rows(sequence) -> list[dict[str, str | bool]]:
    return [features(sequence.tokens, t) for t in range(len(sequence))]


train, test = addresses(100, seed=0), addresses(100, seed=1)
model = make_pipeline(DictVectorizer(), LogisticRegression(max_iter=300))
model.fit([row for s in train for row in rows(s)], [label for s in train for label in s.labels])

scores = [model.predict_log_proba(rows(s)) for s in test]
labels, words = model.classes_, [s.tokens for s in test]
alone = conseq.decode(scores, labels=labels)
ruled = conseq.decode(scores, labels=labels, constraints=RULES, tokens=words)

gold = [label for s in test for label in s.labels]
for name, found in (("each token by itself", alone), ("under the rules", ruled)):
    right = np.mean([x == y for x, y in zip(gold, (y for d in found for y in d.labels), strict=True)])
    print(f"{name:22} token accuracy {right:.3f}")
print(f"proved optimal: {sum(d.certificate.status.name == 'OPTIMAL' for d in ruled)} of {len(ruled)}")

changed = next(i for i, d in enumerate(ruled) if d.labels != alone[i].labels)
for word, before, after in zip(words[changed], alone[changed].labels, ruled[changed].labels, strict=True):
    print(f"  {word:12} {before:24} {after if after != before else ''}")
