"""How a bibliography writes people: several of `Person` → 'Solodov, M. V., and Y. Lin'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conseq.datasets.people import Person


def _spaced(who: Person) -> str:
    return " ".join(f"{initial}." for initial in who.initials)


def _tight(who: Person) -> str:
    return "".join(f"{initial}." for initial in who.initials)


def _full(who: Person) -> str:
    return " ".join([who.given[0], *(f"{name[0]}." for name in who.given[1:])])


def _before(given: Callable[[Person], str]) -> Callable[[Person], str]:
    """Given names before the surname."""
    return lambda who: f"{given(who)} {who.surname}" + (f", {who.suffix}" if who.suffix else "")


def _after(given: Callable[[Person], str], comma: str = ", ") -> Callable[[Person], str]:
    """Given names after the surname."""
    return lambda who: f"{who.surname}{comma}{given(who)}" + (f"{comma}{who.suffix}" if who.suffix else "")


FORMS: dict[str, Callable[[Person], str]] = {
    "F. M. Last": _before(_spaced),
    "F.M. Last": _before(_tight),
    "First M. Last": _before(_full),
    "Last, F. M.": _after(_spaced),
    "Last, F.M.": _after(_tight),
    "Last, First M.": _after(_full),
    "Last FM": _after(lambda who: "".join(who.initials), comma=" "),
    "LAST F.": lambda who: f"{who.surname.upper()} {who.initials[0]}.",
    "Last": lambda who: who.surname,
}
"""How one person is written."""


@dataclass(frozen=True)
class Names:
    """How a list of people is written."""

    form: str
    rest: str = ""
    """The form of all but the first, if another."""
    comma: str = ", "
    two: str = " and "
    last: str = ", and "
    most: int = 9
    """Where there are more, only the first is written, and 'et al.'."""
    others: str = " et al."

    def write(self, who: Sequence[Person]) -> str:
        """The list as text.

        >>> Names('Last, F. M.', two=' & ').write([Person(('Ada',), 'Lund'), Person(('Bo', 'Li'), 'Wu')])
        'Lund, A. & Wu, B. L.'
        """
        first = FORMS[self.form](who[0])
        if len(who) > self.most:
            return first + self.others
        rest = FORMS[self.rest or self.form]
        names = [first, *(rest(person) for person in who[1:])]
        if len(names) < 3:
            return self.two.join(names)
        return self.comma.join(names[:-1]) + self.last + names[-1]
