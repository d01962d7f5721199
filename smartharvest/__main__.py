"""``python -m smartharvest``."""

from smartharvest.cli import main

main()
