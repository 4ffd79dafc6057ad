"""Kinds of tokens, and what follows from them about a whole record (a citation, an address).

    token ─→ kind (year, initial, comma, volume, …)      by rules and small word lists
    kinds of a sequence ─→ how many of a kind come before and after each token
                        ─→ segments, cut at punctuation and before cue words ─→ aspects of each segment

Everything is a guess from the surface; training decides what a guess is worth. A token has one kind: the
first rule of `_RULES` that fits, else the list of `_WORDS` that has it, else a rule of `_LOOKS`, else `low`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Column, Corpus
from conseq.errors import TemplateError
from conseq.vocabulary import Vocabulary

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_UPPER = "A-ZÀ-ÖØ-Þ"

_RULES = {
    "url": r"(?i)https?:|www\.|\w@\w|\.(com|org|edu|html?|pdf)\b|^doi\b|\b10\.\d{4}",
    "preprint": r"(?i)arxiv|^\(?[a-z]+-[a-z]+/\d{5}",
    "label": r"^\[.+\]$",
    "year": r"^\W*(1[6-9]|20)\d\d[a-z]?\W*$",
    "range": r"^\W*[A-Z]?\d+\s*[-–—]+\s*[A-Z]?\d+\W*$",
    "number": r"^\W*\d+\W*$",
    "comma": r"^,$",
    "stop": r"^\.$",
    "colon": r"^:$",
    "semicolon": r"^;$",
    # After a word, or at the start: so no run of marks is gone through more than once.
    "quote": r"^[\"“”„‟«»]|(?<!\W)[^\w\"“”„‟«»]*[\"“”„‟«»]\W*$|^['‘’`]\W*$",
    "open": r"^[(\[{]$",
    "close": r"^[)\]}][.,;:]?$",
    "mark": r"^[^\w&]*$",
    "initial": rf"^[{_UPPER}](\.?-?[{_UPPER}])?\.?,?$",
}
"""kind → pattern; the first that is found in a token wins."""

_WORDS = {
    "in": "in",
    "by": "by",
    "and": "and & et und y e",
    "others": "al",
    "editor": "ed eds edited editor editors hrsg",
    "pages": "p pp pg pgs page pages",
    "volume": "v vol vols volume volumes tome band bd",
    "issue": "no nos nr number issue num",
    "chapter": "ch chap chapter sec section",
    "edition": "edn edition 1st 2nd 3rd 4th 5th 6th",
    "series": "lecture lectures notes series ser",
    "meeting": """proc procs proceedings conf conference conferences workshop workshops symposium symp
        congress meeting colloquium colloq acts""",
    "journal": """journal j jour annals ann transactions trans letters lett review reviews rev bulletin
        bull magazine mag archive archives arch acta advances adv comm commun communications nature
        science physica nuovo cimento zeitschrift quarterly newsletter mnras apj apjl apjs aj araa pasp
        prl""",
    "science": """phys physics physical math mathematics mathematical chem chemical appl applied nucl
        nuclear astron astrophys astronomy astrophysics astrophysical sci stat statist statistical
        comput comp computer biol theor theoret theory eng engineering mech mechanics anal logic mod
        modern gen soc society acad academy royal nat natl national int intern international am amer
        american eur european ieee acm siam ibm""",
    "school": "univ university universitet universität université universidad college school",
    "institute": """institute institut inst laboratory laboratories lab labs dept department center
        centre faculty division corporation corp inc observatory""",
    "publisher": """press publisher publishers publishing publ publications verlag springer
        springer-verlag elsevier wiley academic birkhäuser kluwer north-holland addison-wesley
        mcgraw-hill mcgraw prentice prentice-hall morgan kaufmann pergamon dover plenum dekker freeman
        macmillan routledge sage blackwell oup cup mit sons co company books reidel""",
    "thesis": """thesis dissertation phd ph.d msc m.sc master master's masters doctoral diploma
        diplomarbeit habilitation""",
    "report": """technical tech report rep preprint preprints memo memorandum tr manuscript working
        paper rfc note""",
    "status": """submitted appear preparation prep accepted unpublished forthcoming communication
        private published""",
    "month": """jan january feb february mar march apr april may jun june jul july aug august sep sept
        september oct october nov november dec december spring summer fall autumn winter""",
    "place": """york london berlin heidelberg amsterdam cambridge oxford paris boston chicago singapore
        philadelphia princeton tokyo moscow rome milan vienna zurich geneva basel stockholm copenhagen
        munich münchen leipzig dordrecht toronto montreal ottawa sydney melbourne beijing shanghai hong
        kong kyoto madrid barcelona lisbon warsaw prague budapest hamburg frankfurt stuttgart bonn
        göttingen edinburgh dublin brussels leiden utrecht providence baltimore washington seattle
        pittsburgh stanford berkeley angeles francisco diego houston dallas austin denver atlanta miami
        england uk u.k usa u.s.a us u.s germany france italy spain switzerland netherlands sweden
        denmark norway finland canada australia japan china india israel russia ussr brazil mexico
        greece portugal austria belgium ireland scotland poland hungary korea taiwan ca calif california
        ma mass massachusetts ny n.y nj n.j pa il illinois tx texas md maryland ri va virginia wa fl
        florida oh ohio mi michigan mn wi nc""",
    "name": """john james robert michael william david richard joseph thomas charles christopher daniel
        matthew mark donald paul steven stephen andrew kenneth joshua kevin brian george edward ronald
        timothy jason jeffrey ryan jacob gary nicholas eric jonathan larry scott frank benjamin gregory
        samuel raymond patrick alexander jack dennis jerry peter henry carl arthur albert harold martin
        alan allen philip roger bruce ralph walter lawrence louis howard fred ernest victor simon adam
        neil ian graham colin keith stuart hans klaus jürgen wolfgang karl heinz werner günter helmut
        franz otto stefan andreas matthias jens lars sven erik nils jean pierre jacques michel philippe
        françois bernard alain claude yves marc olivier laurent luc giovanni giuseppe paolo marco andrea
        luca francesco roberto mario antonio carlos josé juan luis miguel pedro manuel jorge rafael
        pablo ivan vladimir sergei alexei dmitri nikolai boris yuri mikhail igor oleg leonid moshe amir
        ravi anil sanjay suresh vijay ashok wei li hiroshi takashi kenji akira toshio mary patricia
        jennifer linda elizabeth barbara susan jessica sarah karen nancy lisa margaret sandra emily
        donna michelle carol amanda melissa deborah stephanie rebecca laura helen anna maria marie
        christine ruth julia catherine anne jane judith claire""",
    "article": "a an the",
    "function": """of for on with to from at via under between using towards toward about over into as
        is are its their how what why der des für de la le les du del di della von van den zur zum""",
}
"""kind → its words, in lower case and without punctuation around them."""

_LOOKS = {"digit": r"\d", "upper": rf"^\W*[{_UPPER}]{{2,}}\W*$", "cap": rf"^\W*[{_UPPER}]"}
"""kind → pattern, for tokens that no rule and no list has."""

KINDS = (*_RULES, *_WORDS, *_LOOKS, "low")
"""What `kind` can answer."""

_FIRST = [(name, re.compile(pattern).search) for name, pattern in _RULES.items()]
_LAST = [(name, re.compile(pattern).search) for name, pattern in _LOOKS.items()]
_LISTED = {word: name for name, words in _WORDS.items() for word in words.split()}
_AROUND = ".,;:()[]\"'“”‘’`"


@lru_cache(maxsize=1 << 17)
def kind(token: str) -> str:
    """The kind of a token, one of `KINDS`; kept, for many sources ask for those of the same words.

    >>> [kind(token) for token in ["E.", "Proc.", "Cats", "of", "(1979),", "61--205", "cats"]]
    ['initial', 'meeting', 'cap', 'function', 'year', 'range', 'low']
    """
    for name, found in _FIRST:
        if found(token):
            return name
    listed = _LISTED.get(token.lower().strip(_AROUND))
    if listed:
        return listed
    return next((name for name, found in _LAST if found(token)), "low")


def check_kind(source: str, argument: str) -> None:
    """Raise if there is no such kind."""
    if argument not in KINDS:
        raise TemplateError(f"{source}({argument}) needs a kind of token: {', '.join(KINDS)}")


def check_aspect(source: str, argument: str) -> None:
    """Raise if segments have no such aspect."""
    if argument not in ASPECTS:
        raise TemplateError(f"{source}({argument}) needs an aspect of segments: {', '.join(ASPECTS)}")


MANY = 3
"""Tokens of a kind are counted up to this number."""


def seen(corpus: Corpus, tokens: Column, wanted: str) -> Column:
    """How many tokens of a kind stand before each token in its sequence."""
    before = _running(_kinds(tokens) == KINDS.index(wanted))
    first, _ = _ends(corpus)
    return _capped(before[:-1] - before[first], MANY)


def ahead(corpus: Corpus, tokens: Column, wanted: str) -> Column:
    """How many tokens of a kind stand after each token in its sequence."""
    before = _running(_kinds(tokens) == KINDS.index(wanted))
    _, end = _ends(corpus)
    return _capped(before[end] - before[1:], MANY)


def _kinds(tokens: Column) -> Ints:
    """The number of each token's kind in `KINDS`; a pattern is tried once per distinct token."""
    table = {name: i for i, name in enumerate(KINDS)}
    numbers = np.array([table[kind(token)] for token in tokens.vocabulary], dtype=np.int64)
    return numbers[tokens.ids]


def _running(marked: Flags) -> Ints:
    """How many are marked before each place; T + 1 places."""
    return np.concatenate([[0], np.cumsum(marked)]).astype(np.int64)


def _ends(corpus: Corpus) -> tuple[Ints, Ints]:
    """Where the sequence of each token begins, and where it ends (exclusive)."""
    return np.repeat(corpus.offsets[:-1], corpus.lengths), np.repeat(corpus.offsets[1:], corpus.lengths)


def _capped(counts: Ints, most: int) -> Column:
    return Column(np.minimum(counts, most).astype(np.int32), Vocabulary(map(str, range(most + 1))))


# ── segments ────────────────────────────────────────────────────────────────────────────────────────

_CUES = ("in", "editor", "pages", "volume", "issue", "thesis", "meeting", "url", "preprint")
"""A segment begins before a token of one of these kinds."""

_OPENING = re.compile(r"^[(\[{\"“]").search
_CLOSING = re.compile(r"[.,;:)\]}\"”]$").search
_WORDLESS = re.compile(r"^[^\w&]*$").search


def segment_starts(corpus: Corpus, tokens: Column) -> Flags:
    """Which tokens begin a segment.

    The first of a sequence, what opens a bracket or a quotation, cue words, and what follows punctuation; but
    neither punctuation itself nor what follows an initial and its full stop.

    >>> corpus = Corpus.from_sequences(["E . West , Noise , Proc . ICML ( 1979 ) .".split()])
    >>> segment_starts(corpus, corpus.columns["word"]).astype(int).tolist()
    [1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0]
    """
    kinds = _kinds(tokens)
    opening, closing, wordless = (_where(tokens, test) for test in (_OPENING, _CLOSING, _WORDLESS))
    first = np.arange(corpus.n_tokens) == _ends(corpus)[0]
    initial = kinds == KINDS.index("initial")
    closing &= ~initial & ~((kinds == KINDS.index("stop")) & _shifted(initial) & ~first)
    cue = np.isin(kinds, [KINDS.index(name) for name in _CUES])
    return first | opening | ((_shifted(closing) | cue) & ~wordless)


def _where(tokens: Column, test: Callable[[str], object]) -> Flags:
    """Which tokens pass a test, made once per distinct token."""
    return np.array([bool(test(token)) for token in tokens.vocabulary], dtype=bool)[tokens.ids]


def _shifted(marked: Flags) -> Flags:
    """Whether the token before is marked."""
    return np.concatenate([np.zeros(1, dtype=bool), marked])[:-1]


BINS = np.array([0, 1, 2, 3, 4, 5, 6, 8, 11, 16, 26])
"""Lengths and distances are told apart only by the greatest of these that they reach."""

FAR = 9
"""Segments are counted up to this number."""


class _Segments:
    """The segments of a corpus: where each begins, starts[S], and which one each token is in, of[T]."""

    def __init__(self, corpus: Corpus, tokens: Column) -> None:
        marked = segment_starts(corpus, tokens)
        self.corpus, self.tokens, self.marked = corpus, tokens, marked
        self.starts = np.flatnonzero(marked)
        self.of = _running(marked)[1:] - 1
        self.first, self.end = _ends(corpus)

    def start(self) -> Column:
        return Column(np.where(self.marked, 0, -1).astype(np.int32), Vocabulary(["1"]))

    def index(self) -> Column:
        return _capped(self.of - self.of[self.first], FAR)

    def left(self) -> Column:
        return _capped(self.of[self.end - 1] - self.of, FAR)

    def since(self) -> Column:
        return _binned(np.arange(len(self.of)) - self.starts[self.of])

    def length(self) -> Column:
        return _binned(np.bincount(self.of, minlength=len(self.starts))[self.of])

    def kind(self, step: int = 0) -> Column:
        """The kind of the first token of the segment `step` further on, if the sequence has one."""
        wanted = self.of + step
        places = np.concatenate([self.starts, [-1]])[np.clip(wanted, -1, len(self.starts))]
        inside = (places >= self.first) & (places < self.end)
        ids = np.where(inside, _kinds(self.tokens)[places], -1)
        return Column(ids.astype(np.int32), Vocabulary(KINDS))


def _binned(values: Ints) -> Column:
    ids = np.searchsorted(BINS, values, side="right") - 1
    return Column(ids.astype(np.int32), Vocabulary(map(str, BINS.tolist())))


ASPECTS: dict[str, Callable[[_Segments], Column]] = {
    "start": _Segments.start,
    "index": _Segments.index,
    "left": _Segments.left,
    "since": _Segments.since,
    "length": _Segments.length,
    "kind": _Segments.kind,
    "previous": lambda segments: segments.kind(-1),
    "next": lambda segments: segments.kind(1),
}
"""name → its value at each token.

start: a segment begins here. index, left: segments before and after this one. since: tokens since it began.
length: its tokens. kind, previous, next: the kind of the first token of this, the previous, the next segment.
"""


def segment(corpus: Corpus, tokens: Column, aspect: str) -> Column:
    """An aspect of the segment each token is in."""
    return ASPECTS[aspect](_Segments(corpus, tokens))
