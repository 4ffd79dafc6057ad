"""`python -m conseq` is the command line."""

from conseq.cli import main

if __name__ == "__main__":
    main()
