"""Plain text ↔ corpora.  One sequence per line, cut into tokens that know their place in it."""

from __future__ import annotations

from conseq.corpus import Corpus
from conseq.io.lines import Line, LineReader, check_has_tokens
from conseq.tokens import DEFAULT, Tokeniser, tokeniser


def text_lines(*, tokens: str | Tokeniser = DEFAULT) -> LineReader:
    """How a line of text is understood; `tokens` names the tokeniser.

    >>> line = text_lines().understand("It's late.")
    >>> line.tokens, line.characters
    (["It's", 'late', '.'], [(0, 4), (5, 9), (9, 10)])
    """
    tokenise = tokeniser(tokens)
    return LineReader(lambda text: Line.of_text(text, tokenise(text)))


def format_text(corpus: Corpus) -> str:
    """The original texts, a line each; tokens joined by blanks where there is no original.

    >>> format_text(Corpus.from_sequences([["Good", "night"]]))
    'Good night\\n'
    """
    check_has_tokens(corpus)
    texts = corpus.source.texts if corpus.source else map(" ".join, corpus.token_sequences())
    return "".join(f"{text}\n" for text in texts)
