"""The rules of the demonstration.  a built-in data set, the labels of a model ─→ rules"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conseq.constraints.base import Constraint
    from conseq.schema import Schema

CITATIONS = """
at most 1 segment of author                        hard
at most 1 segment of date                          hard
at most 1 segment of journal                       hard
at most 1 segment of booktitle                     hard
at most 1 segment of volume                        hard
not both journal and booktitle                     hard
not both journal and publisher                     hard
no title before author                             hard
exactly 1 segment of title                         penalty 5
count(author) + count(editor) >= 1                 penalty 5
count(pages) <= count(journal) + count(booktitle)  penalty 3
if number then volume                              penalty 3
"""
ADDRESSES = """
at most 1 segment of AddressNumber                     hard
at most 1 segment of PlaceName                         hard
at most 1 segment of StateName                         hard
at most 1 segment of ZipCode                           hard
no ZipCode before StateName                            hard
no StreetName before AddressNumber                     hard
not both AddressNumber and USPSBoxType                 hard
if OccupancyIdentifier then OccupancyType              penalty 3
if USPSBoxType then USPSBoxID                          penalty 3
count(StreetName) <= 1 + count(IntersectionSeparator)  penalty 3
"""
RULES = {"citations": CITATIONS, "addresses": ADDRESSES}
"""What holds of each kind of data: hard where it always does, soft where typing slips may break it."""


def rules_for(name: str, schema: Schema) -> list[Constraint]:
    """The rules about labels that a model knows; few examples may lack a rare field."""
    from conseq.constraints.language import parse_constraints

    known = set(schema.types())
    return [rule for rule in parse_constraints(RULES[name]) if known.issuperset(rule.names)]
