"""Commands killed at random moments: what is found of ours, and of programs that write carelessly."""

from __future__ import annotations

import sys

import pytest

from benchmarks import kills
from benchmarks.kills import Command

CARELESS = {
    """
with place.open("w") as file:
    file.write("half "), file.flush(), time.sleep(0.5), file.write("whole")
""": ["damaged"],
    """
aside = place.with_name(f"{time.time()}.tmp")
aside.write_text("all"), time.sleep(0.5), aside.rename(place)
""": ["left_by_sigterm", "left_after_next_run"],
    """
signal.signal(signal.SIGTERM, lambda *_: sys.exit("Traceback"))
time.sleep(0.5), place.write_text("all")
""": ["ended_otherwise"],
}
"""Programs that write as one should not, and what is found of them."""

IMPORTS = "import pathlib, signal, sys, time; place = pathlib.Path('output/x')"


def test_ours_are_careful():
    chosen = {name: kills.COMMANDS[name] for name in ("label", "shards")}
    found = kills.run(quick=True, times=4, commands=chosen)
    assert found["kills"] == found["old"] + found["new"] == 4
    assert not kills.failed(found), found


@pytest.mark.parametrize(("program", "kinds"), CARELESS.items())
def test_careless_ones_are_found(program, kinds):
    command = Command("", "output/x", (sys.executable, "-c", IMPORTS + program))
    found = kills.run(quick=True, times=6, seed=0, commands={"careless": command})
    for kind in kinds:
        assert found[kind] > 0, found
        assert any(kind.replace("_", " ") in example for example in found["examples"])
    assert kills.failed(found)


def test_the_table_has_a_row_for_each_command():
    row = {**dict.fromkeys(kills.COUNTS, 0), "command": "train", "seconds": 1.5, "slowest_end": 0.5}
    head, only = kills.table({"rows": [row]})
    assert (head[0], only[0], head[-1], only[-1]) == ("command", "train", "slowest end", "0.5")
    assert len(head) == len(only)
