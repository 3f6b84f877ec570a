"""What there is to learn: variables, classes, distance, the concept graph and training splits. No torch."""

from conceptlab.concepts.graph import concept_graph, positions
from conceptlab.concepts.space import Class, ConceptSpace, Variable
from conceptlab.concepts.split import Split

__all__ = ["Class", "ConceptSpace", "Split", "Variable", "concept_graph", "positions"]
