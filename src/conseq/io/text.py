"""Plain text ↔ corpora.  One sequence per line, cut into tokens that know their place in it."""

from __future__ import annotations

from collections.abc import Iterator

from conseq.corpus import Corpus
from conseq.io.atomic import Output, emit
from conseq.io.lines import Line, Reader, check_has_tokens, parse_lines, stream_lines
from conseq.io.source import Block, Input, load
from conseq.io.stream import MAX_TOKENS
from conseq.tokens import DEFAULT, Tokeniser, tokeniser


def read_text(source: Input, *, tokens: str | Tokeniser = DEFAULT) -> Corpus:
    """Read a text file; `tokens` names the tokeniser.

    >>> import io
    >>> corpus = read_text(io.BytesIO(b"It's late.\\n\\nGood night\\n"))
    >>> corpus.token_sequences(), corpus[0].characters
    ([["It's", 'late', '.'], ['Good', 'night']], [(0, 4), (5, 9), (9, 10)])
    """
    return parse_text(load(source), tokens=tokens)


def parse_text(block: Block, *, tokens: str | Tokeniser = DEFAULT) -> Corpus:
    """The corpus in a block that holds a whole file."""
    return parse_lines(block, _reader(tokens))


def stream_text(
    source: Input, *, tokens: str | Tokeniser = DEFAULT, max_tokens: int = MAX_TOKENS
) -> Iterator[Corpus]:
    """Read a text file or pipe batch by batch (of about `max_tokens`), each as soon as it is there."""
    return stream_lines(source, _reader(tokens), max_tokens)


def _reader(tokens: str | Tokeniser) -> Reader:
    tokenise = tokeniser(tokens)
    return lambda text: Line.of_text(text, tokenise(text))


def format_text(corpus: Corpus) -> str:
    """The original texts, a line each; tokens joined by blanks where there is no original.

    >>> format_text(Corpus.from_sequences([["Good", "night"]]))
    'Good night\\n'
    """
    check_has_tokens(corpus)
    texts = corpus.source.texts if corpus.source else map(" ".join, corpus.token_sequences())
    return "".join(f"{text}\n" for text in texts)


def write_text(corpus: Corpus, target: Output) -> None:
    """Write the texts, a line each."""
    emit(target, format_text(corpus))
