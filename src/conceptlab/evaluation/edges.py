"""The measurement of edge capability (okawa2023, Def 6), from the ordinary drawings of every class."""

from __future__ import annotations

from collections.abc import Iterable

from conceptlab import measures
from conceptlab.evaluation.measurement import Context, Live, Measurement, Prompt, Row, class_prompt, register


@register("edges")
class Edges(Measurement):
    """A row for every edge of the concept graph: class `000-100`, the altered variable, measure `edge_capability`.

    It asks for what `accuracy` asks for, and drawings with one name are made once: it costs no generation.
    """

    def prompts(self, context: Context, images: int) -> list[Prompt]:
        return [class_prompt(context, cls, images) for cls in context.world.space]

    def rows(self, live: Live) -> Iterable[Row]:
        space = live.context.world.space
        read = {cls: live.read[f"class {space.code(cls)}"] for cls in space}
        for edge in measures.edge_capabilities(space, read):
            name = f"{space.code(edge.start)}-{space.code(edge.end)}"
            yield Row(name, edge.variable, "edge_capability", edge.value)
