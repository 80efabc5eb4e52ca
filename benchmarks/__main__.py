"""Run every benchmark, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SHARED = {"__init__", "__main__", "common", "scale_rows", "scale_work", "scale_cluster"}
"""Files that only serve others."""


def main() -> int:
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in SHARED)
    failed = [n for n in names if subprocess.run([sys.executable, "-m", f"benchmarks.{n}"], check=False).returncode]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
