"""``python -m smartharvest``."""

import os
import sys

if sys.path[:1] == [os.getcwd()]:
    del sys.path[0]  # it may be anybody's; this package was found already

from smartharvest.cli import main

main()
