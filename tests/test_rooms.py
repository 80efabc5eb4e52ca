"""Every room says at its door what it offers."""

import re
from pathlib import Path

import pytest

import seminaive

HOUSE = Path(seminaive.__file__).parent


ROOMS = ("kernels", "statistics", "table", "evidence", "show", "search", "models", "selection", "evaluate")


@pytest.mark.parametrize("room", ROOMS)
def test_the_door_of_a_room_names_every_file_in_it(room):
    named = re.findall(r"^ *(\w+)  +\w", (HOUSE / room / "__init__.py").read_text(), re.M)
    assert sorted(named) == sorted(path.stem for path in (HOUSE / room).glob("[!_]*.py"))
