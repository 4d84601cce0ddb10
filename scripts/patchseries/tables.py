# SPDX-License-Identifier: GPL-2.0
"""What is told of the series where nothing computes it anew: README's table and counts, and tables in cover letters.

Each table names the code it was measured with. One of other code is stale: its figures are those of other patches. A reworded message
changes no figure, nor does a test that the kernels of rows are built without.
"""

import json
import re

from patchseries import proof
from patchseries.patch import SeriesError

COMPARISON = "Documentation/harness/compare.json"
RENEW = "run `make compare`, then `scripts/readme-table build results/compare.json`"
# The head of a table of both kernels, in a letter.
HEAD = re.compile(r"^ .*\bstock\b.* {2,}.*\bseries\b", re.M)


def stale(series, source):
    yield from _comparison(series, source)
    yield from _counts(series)
    yield from _letters(series, source)


def _comparison(series, source):
    """compare.json, of which README's table is made; a unit test of hpctl holds these two together."""
    try:
        content = json.loads((series.repository / COMPARISON).read_text(encoding="utf-8"))
        sources = {side: content[side].get("source", "") for side in ("before", "after")}
    except (OSError, json.JSONDecodeError, KeyError) as error:
        raise SeriesError(f"{COMPARISON} is no comparison of hpctl: {error!r}") from None
    for side, wanted, name in (("before", "stock", "stock"), ("after", series.contents(source).code, "the series")):
        if sources[side] != wanted:
            yield f"{COMPARISON}, which README shows, is not of {name} ({sources[side] or 'of nobody knows what'}, now {wanted}): {RENEW}"


def _counts(series):
    """README says how much there is, in one way, so that it can be found."""
    said = re.findall(r"(\d+)\s+patches\s+in\s+(\d+)\s+sub-series", (series.repository / "README.md").read_text(encoding="utf-8"))
    if not said:
        yield "README.md does not say `N patches in M sub-series`"
    now = (str(len(series.patches)), str(len(series.topics)))
    for found in said:
        if found != now:
            yield f"README.md says {found[0]} patches in {found[1]} sub-series, and there are {now[0]} in {now[1]}"


def _letters(series, source):
    """`prove` makes the tables of what patches name as their proof. What else a cover shows says itself what it is of."""
    for state in proof.states(series, source):
        cover = state.topic.cover
        name = f"{state.topic.name}/cover.txt"
        if HEAD.search(cover.text) and not cover.measured:
            yield f"{name}: has a table, and no `Measured:` to say with which code (now {state.hash})"
        elif cover.measured and cover.measured != state.hash:
            yield f"{name}: the table was measured with other code ({cover.measured}, now {state.hash}): run its rows on both kernels again"
