"""Regular expressions given by users and files, searched for in time linear in the text.

    pattern ─→ graph (graph.py) ─→ Searcher (search.py) ─→ found in a token, or not

They mean what they mean to Python's `re`, whose search may take a time that doubles with each character.
"""

from conseq.patterns.graph import PatternError
from conseq.patterns.search import Searcher, searcher

__all__ = ["PatternError", "Searcher", "searcher"]
