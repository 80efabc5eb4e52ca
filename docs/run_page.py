"""Run the Python blocks of a page and write what they print into the text blocks below them.

    python docs/run_page.py docs/engine-monitoring.md

So every output on such a page is real. A ``python`` block that is followed by a ``text`` block gets its output there.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

BLOCK = re.compile(r"```python\n(.*?)```(\n\n```text\n.*?```)?", re.DOTALL)


def renewed(page: str) -> str:
    """The page with the outputs of its code."""
    names: dict[str, object] = {"__name__": "__page__"}

    def run(found: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(found[1], "page", "exec"), names)
        output = f"\n\n```text\n{printed.getvalue().rstrip()}\n```" if found[2] else ""
        return f"```python\n{found[1]}```{output}"

    return BLOCK.sub(run, page)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(renewed(path.read_text()))
