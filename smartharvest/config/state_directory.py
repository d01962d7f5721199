"""The setting ``state_dir``, apart from all others.

The commands for emergencies need no other, and reading them all takes most of such a command's
time.
"""

STATE_DIRECTORY = "/run/smartharvest"
STATE_DIRECTORY_HELP = "Where the journal of original values is kept."
