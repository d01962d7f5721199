"""``python -S -m smartharvest.guardian``: started by the agent, see ``process``."""

import os
import sys

from smartharvest.guardian.process import main

# Without the interpreter's tidying up: there is nothing to tidy.
os._exit(main(sys.argv[1:]))
