"""Learning by remembering: a query gets the class of the instances most like it.

    weights  how much each feature tells about the class
    measure  how far apart two values of a feature are
    index    `Memory`: instances as arrays of ids, searched by kernels
    learner  `MemoryLearner`: instances as rows of strings, in scikit-learn's manner

Stanfill and Waltz 1986; Aha et al. 1991; Daelemans and van den Bosch 2005. Figures follow TiMBL's.
"""

from conseq.models.memory.index import ALGORITHMS, VOTING, Classified, Found, Memory
from conseq.models.memory.learner import MemoryLearner
from conseq.models.memory.measure import DISTANCES
from conseq.models.memory.weights import WEIGHTS

__all__ = ["ALGORITHMS", "DISTANCES", "VOTING", "WEIGHTS", "Classified", "Found", "Memory", "MemoryLearner"]
