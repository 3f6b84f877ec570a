"""The top of REPRODUCTION.md: what came out at a glance, how to read a verdict, and what it all took."""

from __future__ import annotations

from collections.abc import Sequence

from conceptlab.claims import count_text
from conceptlab.figures import VERDICT_SYMBOLS
from conceptlab.report.markdown import NEW_LINE, table, unbroken
from conceptlab.report.reproduction_paper import Paper, devices
from conceptlab.report.words import duration
from conceptlab.store import device_seconds, wall_seconds

# The public loop of park2024 (10.9 M parameters, batch 64, float32) on one H200, in seconds for a model and a step.
AUTHORS_STEP = 0.049

_VERDICTS = (
    (
        f"{VERDICT_SYMBOLS['reproduced']} reproduced",
        "The whole interval lies beyond the threshold, on the side that was claimed.",
    ),
    (
        f"{VERDICT_SYMBOLS['not reproduced']} not reproduced",
        "The whole interval falls short of the threshold.",
    ),
    (
        f"{VERDICT_SYMBOLS['inconclusive']} inconclusive",
        "The interval contains the threshold, or there is no value to judge.",
    ),
    (
        "(indicative)",
        "Fewer than five seeds have a value (one with a failed member does not count). Never added to firm verdicts.",
    ),
    ("(identity)", "Mathematics, checked to a tolerance. It has no interval and is counted apart."),
)


def introduction(where: str, how: bool) -> str:
    """`how`: whether the folder has a page on how to run it again."""
    again = (
        f"\n\nHow to run all of it again is told in [{where}/README.md]({where}/README.md)." if how else ""
    )
    return f"""\
<!-- Made by `conceptlab reproduction {where}`; what is written by hand lies in {where}/*/notes.md. -->

# Reproduction

Which claims of each paper hold when its experiments are run again at the authors' setting (`--scale paper`)?
For each paper this page gives, in this order:

1. the **findings in short**, with pictures;
2. **every claim**, with what was measured, its value and interval, the threshold, the seeds, the verdict and
   the figure;
3. **what differs** from the paper, and why;
4. **what was tried** where a claim did not hold or stayed open.

The same verdicts in a terminal, and a page with all curves:

```
conceptlab verdict {where}
conceptlab report {where} --out report.html
```{again}"""


def glance(papers: Sequence[Paper]) -> str:
    rows = []
    for paper in papers:
        empirical = [v for v in paper.verdicts if v.kind == "empirical"]
        identities = [v for v in paper.verdicts if v.kind == "identity"]
        by_outcome = [[v for v in empirical if v.verdict == outcome] for outcome in VERDICT_SYMBOLS]
        open_ = sum(len(figure.claims) for figure in paper.missing)
        held = sum(v.verdict == "reproduced" for v in identities)
        name, title = paper.study.name, paper.study.title
        rows.append(
            [
                f"[{name}](#{name}){NEW_LINE}{title}",
                unbroken(f"{len(paper.runs)} of {len(paper.study.figures)}"),
                *(count_text(verdicts) for verdicts in by_outcome),
                str(open_),
                unbroken(f"{held} of {len(identities)}") if identities else "–",
            ]
        )
    outcomes = [f"{symbol} {outcome}" for outcome, symbol in VERDICT_SYMBOLS.items()]
    head = ["paper", "figures run", *outcomes, "not judged yet", "identities that hold"]
    return f"""\
## At a glance

How many claims of each paper came to which verdict. A number alone counts firm verdicts; indicative ones are named
and never added to them.

{table(head, rows)}"""


def legend() -> str:
    return f"""\
## How to read a verdict

Every claim compares a value with a threshold that was fixed beforehand. What decides is the interval over seeds,
which stands in brackets. Where a definition was amended after results had been seen, the notes of that paper say so.

{table(["verdict", "meaning"], _VERDICTS)}

- **Seeds are the unit**, never images. In theory they may also be random starts, tasks or distributions.
- **All claims of a paper are judged together**: their intervals are widened for their number by Holm's rule. As
  long as figures are missing, "together" means those that are there.
- **Censored** seeds are those of which only bounds are known, for instance because what was timed did not happen
  within the run. A value that is then a bound itself is marked by ≤ or ≥.
- **Why a claim is open**, and how many seeds would decide it, is folded below each table of claims."""


def time(papers: Sequence[Paper]) -> str:
    rows = []
    for paper in papers:
        steps = sum(member.recipe.steps for member in paper.own)
        rows.append(
            [
                paper.study.name,
                f"{len(paper.own)}" + (f" (and {paper.shared} of those above)" if paper.shared else ""),
                f"{steps:,}" if steps else "–",
                unbroken(duration(wall_seconds(paper.own))) if steps else "–",
                unbroken(duration(steps * AUTHORS_STEP)) if steps else "–",
                unbroken(duration(device_seconds(paper.own))) if steps else "–",
                ", ".join(devices(paper.own)) or "–",
                unbroken(duration(paper.theory_seconds)) if paper.theory_seconds else "–",
            ]
        )
    step = f"{AUTHORS_STEP * 1000:.0f} ms"
    head = [
        "paper", "members", "model-steps", "wall clock", f"authors' loop at {step}", "device time", "device",
        "theory, on a CPU",
    ]  # fmt: skip
    return f"""\
## Time

A *member* is one trained network: one recipe and one seed. A *model-step* is one step of training of one member.

{table(head, rows)}

- **Wall clock** is how long at least one member was training. **Device time** counts each cohort, which is members
  trained together, once, until its last member is written; of a cohort with members that no figure here has, the
  share of those that are here. Both include every evaluation.
- **The authors' loop** is model-steps × {step}. That is the time of a step in their public training loop for the
  park2024 network (10.9 M parameters) on one H200, without any evaluation.
- A member that several papers use is counted with the first."""
