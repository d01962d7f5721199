"""``python -m smartharvest``."""

import contextlib
import os
import sys

with contextlib.suppress(FileNotFoundError):  # the directory is gone
    if sys.path[:1] == [os.getcwd()]:
        del sys.path[0]  # it may be anybody's; this package was found already

from smartharvest.cli import main

main()
