"""conceptlab: the laboratory for compositional generalisation and concept learning in diffusion models."""

__version__ = "0.1.0"
