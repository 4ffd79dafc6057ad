"""conseq: constrained sequence labelling."""

__version__ = "0.1.0"
