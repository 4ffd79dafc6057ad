"""Makes the naive rules of `tests/constraints` and the random corpora of this folder importable here."""

import sys
from pathlib import Path

sys.path.extend([str(Path(__file__).parents[1] / "constraints"), str(Path(__file__).parent)])
