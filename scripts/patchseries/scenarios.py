# SPDX-License-Identifier: GPL-2.0
"""The rows that tools/hotplug/scenarios/ defines: `Proof:` names them, and means all variants of a scenario where it names none."""

import json
import re

from patchseries.patch import SeriesError


def rows(repository):
    """Scenario -> its rows: one for each variant, or one of the scenario's own name."""
    found = {}
    for path in sorted(repository.glob("tools/hotplug/scenarios/*.json")):
        # Comments go; what looks like one inside a string stays.
        text = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*', lambda match: match[1] or "", path.read_text(encoding="utf-8"))
        try:
            scenario = json.loads(text)
            name = scenario["id"]
            found[name] = [f"{name}/{variant}" for variant in scenario.get("variants", {})] or [name]
        except (json.JSONDecodeError, KeyError) as error:
            raise SeriesError(f"{path}: no scenario: {error!r}") from None
    return found
