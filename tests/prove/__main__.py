"""`python -m prove`, which scripts/prove starts."""

import sys

from prove.command import main

sys.exit(main())
