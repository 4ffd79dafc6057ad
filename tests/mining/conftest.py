"""Makes the random corpora of this folder importable here."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
