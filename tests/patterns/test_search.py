"""Patterns mean what they mean to Python's `re`, and no pattern is slow."""

from __future__ import annotations

import pickle
import random
import re
import sys
import threading
import time

import pytest

from conseq.features.presets import PRESETS
from conseq.mining.token_tests import TESTS
from conseq.patterns import PatternError, Searcher, searcher
from conseq.patterns import search as search_module

CHARACTERS = "aAbB19_-. \n\tßẞéÉſsSkK\u212aİıﬁǅ٣²中\u0301\u00a0\u2028½Ωως𝟘"
"""Letters with odd cases, digits of other scripts, marks, spaces and line ends that only Unicode knows."""

CLASSES = re.findall(
    r"\S+",
    r"""\w \W \d \D \s \S . [a-c] [^a] [\w-] [^\W\d] [A-Zé] [^\n] [s-ſ] [\dx] [^\s1]
    a b A B 1 é ß s k _ \. - \n \u212a \x41 İ 中""",
)
ASSERTIONS = re.findall(
    r"\S+",
    r"""^ $ \b \B \A \Z (?<!\d) (?!\d) (?=\w) (?<=[ab]) (?!$) (?=a|$) (?<!^) (?=\s|\b)
    (?i:(?=[k])) (?!)""",
)
REPEATS = re.findall(r"\S+", "* + ? *? +? ?? {2} {1,2} {,2} {0} {2,} {1,3}?")
FLAGS = ["", "", "", "(?i)", "(?a)", "(?m)", "(?s)", "(?ia)", "(?ms)", "(?x)"]


def random_pattern(rng: random.Random, depth: int = 3) -> str:
    choice = rng.random()
    if depth == 0 or choice < 0.3:
        return rng.choice(CLASSES)
    if choice < 0.4:
        return rng.choice(ASSERTIONS)
    inner = [random_pattern(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    if choice < 0.65:
        return "".join(inner)
    group = rng.choice(["(", "(?:", "(?i:", "(?-i:", "(?s:", "(?m:"])
    body = group + "|".join(inner) + ")"
    return body if choice < 0.8 else body + rng.choice(REPEATS)


@pytest.mark.parametrize("seed", range(8))
def test_random_patterns_are_found_where_python_finds_them(seed: int) -> None:
    rng = random.Random(seed)
    compared = found = 0
    for _ in range(250):
        pattern = rng.choice(FLAGS) + random_pattern(rng)
        texts = ["".join(rng.choices(CHARACTERS, k=rng.randint(1, 6))) for _ in range(20)]
        expected = [re.search(pattern, text) is not None for text in texts]
        ours = Searcher(pattern)
        assert [ours(text) for text in texts] == expected, (pattern, texts)
        compared += len(texts)
        found += sum(expected)
    assert 0.1 < found / compared < 0.9


@pytest.mark.parametrize("pattern", ["", "a*", "^$", r"\b", "$", r"\Z", "(?=a)", "(?!a)", r"^\s*$", "(?!)"])
@pytest.mark.parametrize("text", ["", "\n", "\n\n", "a", "a\n"])
def test_ends_of_texts_are_those_of_python(pattern: str, text: str) -> None:
    assert searcher(pattern)(text) == (re.search(pattern, text) is not None)


def test_every_character_is_in_the_classes_that_python_puts_it_in() -> None:
    characters = [*map(chr, range(0x3000)), *map(chr, random.Random(0).sample(range(0x3000, 0x110000), 5000))]
    for pattern in [
        r"^\w$",
        r"^\d$",
        r"^\s$",
        "^.$",
        "(?i)^[k-z]$",
        r"^\W\Z",
        r"(?a)\w",
        r"\b",
        "(?i)ſ",
        "(?i)[^K]",
    ]:
        find = Searcher(pattern)
        assert [find(c) for c in characters] == [re.search(pattern, c) is not None for c in characters], (
            pattern
        )


def shipped_patterns() -> list[str]:
    templates = [str(t) for preset in PRESETS.values() for t in preset]
    return [
        *dict.fromkeys(found[1] for t in templates for found in re.finditer(r"match\(/(.*?)/\)", t)),
        *(test.pattern for test in TESTS.values()),
    ]


def test_shipped_patterns_are_found_where_python_finds_them() -> None:
    rng = random.Random(1)
    words = re.findall(
        r"\S+",
        """pp. Vol vol.3 (1999) 1999a 12-34 12–34 Eds. https://x.org/ doi:10.1000/1 Smith J.-P. É. "a" in:""",
    )
    words += ["".join(rng.sample("".join(words), 5)) for _ in range(300)]
    patterns = shipped_patterns()
    assert len(patterns) > 35
    for pattern in patterns:
        find = Searcher(pattern)
        assert [find(word) for word in words] == [re.search(pattern, word) is not None for word in words], (
            pattern
        )


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 10_000 + "b"),
        ("(a|a)+$", "a" * 10_000 + "b"),
        (r"^(\w+\s?)*$", "a" * 10_000 + "!"),
        ("(x?){500}x{500}$", "x" * 1_000 + "y"),
        (r"\d+x", "1" * 100_000),
        (r"(.*)(.*)(.*)(.*)z", "a" * 100_000),
        ("(?i)(é|É)+$", "é" * 10_000 + "b"),
    ],
)
def test_no_pattern_takes_longer_than_its_text(pattern: str, text: str) -> None:
    start = time.process_time()
    assert not Searcher(pattern)(text)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        (
            "x(",
            "the pattern /x(/ is not a regular expression: "
            "missing ), unterminated subpattern at position 1; correct it",
        ),
        (
            r"(a)\1",
            r"the pattern /(a)\1/ refers back to a group, which conseq cannot search for; "
            "write out what may be repeated",
        ),
        ("(a)?(?(1)b|c)", "refers back to a group"),
        ("(?=ab)", "looks ahead or behind by more than one character"),
        ("(?<!ab)c", "looks ahead or behind by more than one character"),
        ("(?>a+)b", "has an atomic group or a possessive repeat"),
        ("a++b", "has an atomic group or a possessive repeat"),
        ("x{1,99999999999}", "is not a regular expression: the repetition number is too large; correct it"),
        ("x{1,99999999}", "is too large: with its repeats written out it has more than 5000 parts"),
        ("(?:){1,99999999}", "is too large"),
        ("((a{100}){100}){100}", "is too large"),
        ("(" * 60 + "a" + ")" * 60, "has groups nested deeper than 50"),
        ("(" * 4000 + "a" + ")" * 4000, "has groups nested deeper than 50"),
        ("a" * 20_000, "has 20000 characters; use at most 10000, or several patterns"),
    ],
)
def test_what_is_not_supported_is_said_in_a_sentence(pattern: str, says: str) -> None:
    start = time.process_time()
    with pytest.raises(PatternError) as raised:
        Searcher(pattern)
    assert says in str(raised.value)
    assert len(str(raised.value)) < 300
    assert time.process_time() - start < 1


@pytest.mark.parametrize("text", ["xé", "x-", "xx", "é"])
def test_ascii_may_be_asked_for_in_a_group(
    text: str,
) -> None:  # first in a pattern, Python takes it for Unicode
    assert searcher(r"x(?a:\W)")(text) == (re.search(r"x(?a:\W)", text) is not None)


def test_empty_repeats_are_nothing() -> None:
    assert searcher("(?:){99999999}a")("a")


def test_what_is_kept_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "MOST_KEPT", 20_000)
    rng = random.Random(2)
    find = Searcher(r"b\w{12}$|\B中")
    for _ in range(300):
        text = "".join(rng.choices("ab" + CHARACTERS, k=30))
        assert find(text) == (re.search(find.pattern, text) is not None)
        assert len(find.states) + len(find.characters) < 500
    assert find.kept < 40_000


def test_threads_share_a_searcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "MOST_KEPT", 20_000)  # so that one forgets what others are using
    rng = random.Random(3)
    texts = ["".join(rng.choices("abc-é", k=40)) for _ in range(300)]
    find = Searcher(r"(a|b)+c\b.{5}$")
    expected = [re.search(find.pattern, text) is not None for text in texts]
    answers: list[list[bool]] = []
    threads = [threading.Thread(target=lambda: answers.append([find(t) for t in texts])) for _ in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert answers == [expected] * 8


def test_a_searcher_is_pickled_as_its_pattern() -> None:
    copy = pickle.loads(pickle.dumps(searcher("a+$")))
    assert copy("ba")
    assert not copy("ab")
