"""`python -m seminaive.cli` is `seminaive`."""

from seminaive.cli import main

raise SystemExit(main())
