"""Writes the man pages, a page per command, from what ``--help`` shows: python docs/man.py DIR"""

from __future__ import annotations

import os
import sys

from click_man.core import write_man_pages

from smartharvest import __version__
from smartharvest.cli import cli
from smartharvest.cli.lab import lab

if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    cli.load_all()
    lab.load_all()
    write_man_pages("smartharvest", cli, version=__version__, target_dir=sys.argv[1])
