"""`python -m conseq` is the command line."""

import sys

from conseq.cli import main

if __name__ == "__main__":
    sys.exit(main())
