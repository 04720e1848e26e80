"""`python -m resispec_ref` is `resispec`."""

import sys

from resispec_ref.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
