"""``python -S -m smartharvest.guardian``: started by the agent, see ``process``."""

import os
import sys

from smartharvest.guardian.process import main

# Skips the interpreter's cleanup: there is nothing to clean up.
os._exit(main(sys.argv[1:]))
