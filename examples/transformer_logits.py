"""Logits over sub-words, as a transformer gives them, become scores of words and are decoded under rules.

logits[n,Y], word_ids ─→ word_scores ─→ [words,Y] ─→ decode ─→ labels and a certificate

The logits are made by hand here. With Hugging Face's transformers they come from

    encoding = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    logits = model(**encoding).logits[0].detach().numpy()
    word_ids, labels = encoding.word_ids(), model.config.id2label
"""

import numpy as np

import conseq

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
WORDS = ["Mr.", "Okonkwo", "met", "Ana", "Lindqvist", "in", "Lindqvist", "Bay"]
WORD_IDS = [None, 0, 0, 1, 1, 1, 2, 3, 4, 4, 4, 5, 6, 6, 6, 7, None]  # None: [CLS] and [SEP]

RULES = """
legal bio                                        hard
token "Mr." is O                                 hard
at least 1 segment of LOC                        penalty 1
at most 1 segment of PER                         penalty 0.5
"""

LIKELY = {  # the labels that the network favours at a word, and by how much
    "Mr.": {"B-PER": 2.0, "O": 1.0},
    "Okonkwo": {"I-PER": 3.0, "B-PER": 2.5},
    "Ana": {"B-PER": 4.0},
    "Lindqvist": {"I-PER": 3.0, "B-LOC": 2.6},
    "Bay": {"I-LOC": 3.0},
}


def made_logits() -> np.ndarray:
    """What the network says of each sub-word: O where it knows nothing, and some noise, [n,Y]."""
    logits = np.random.default_rng(0).normal(0, 0.1, (len(WORD_IDS), len(LABELS)))
    for row, word in zip(logits, WORD_IDS, strict=True):
        for label, amount in LIKELY.get("" if word is None else WORDS[word], {"O": 3.0}).items():
            row[LABELS.index(label)] += amount
    return logits


scores = conseq.word_scores(made_logits(), WORD_IDS, how="first")
before = conseq.decode(scores, labels=LABELS)
after = conseq.decode(scores, labels=LABELS, constraints=RULES, tokens=WORDS)

print(f"{'':10} {'best at each word':18} under the rules")
for word, alone, ruled in zip(WORDS, before.labels, after.labels, strict=True):
    print(f"{word:10} {alone:18} {ruled}")
print(f"score {before.score:.2f} -> {after.score:.2f}, {after.certificate.status.name}")
for rule, amount in after.violations.items():
    print(f"broken: {rule.line()}, {amount:g} time(s), at a cost of {rule.cost(amount):g}")
