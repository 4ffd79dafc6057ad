"""What a labeller says of sentences: entities and relations, how good they are, and how to show them.

Sentence, RelationDecoding ─→ Answer;   Answers, a list of them, which a notebook shows as pictures
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conseq.decoders.relation_problem import RelationDecoding
from conseq.entities import Sentence
from conseq.io.sentences.jsonl import to_object
from conseq.labelled import plain_certificate
from conseq.problem import Status
from conseq.relations.picture import Picture


@dataclass(frozen=True)
class Answer:
    """A sentence with the entities and relations that were decided, and the decoding that found them."""

    sentence: Sentence
    decoding: RelationDecoding

    @property
    def broken(self) -> list[str]:
        """The rules that the answer breaks, as lines."""
        return [str(rule) for rule in self.decoding.violations]

    def notes(self) -> list[str]:
        """What there is to say of it: the rules that it breaks, and that another answer may be better."""
        notes = [f"breaks the rule: {line}" for line in self.broken]
        certificate = self.decoding.certificate
        if certificate.status is not Status.OPTIMAL:
            notes.append(f"another answer may score up to {certificate.gap:.4g} more")
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: the sentence, the score, its certificate, and the rules that are broken."""
        return {
            **to_object(self.sentence),
            "score": self.decoding.score,
            "certificate": plain_certificate(self.decoding.certificate),
            "violations": {str(rule): amount for rule, amount in self.decoding.violations.items()},
        }

    def _repr_html_(self) -> str:
        return Answers([self])._repr_html_()


class Answers(list[Answer]):
    """Answers in the order of the sentences."""

    @property
    def sentences(self) -> list[Sentence]:
        return [answer.sentence for answer in self]

    def picture(self, width: int = 900) -> Picture:
        """A picture of the sentences, with notes where there is something to say."""
        return Picture(self.sentences, [answer.notes() for answer in self], width)

    def _repr_html_(self) -> str:
        return self.picture()._repr_html_()
