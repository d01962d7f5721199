"""What a host can do for harvesting, what stands in the way, and how to mend it."""

from smartharvest.doctor.finding import Finding, Host, Status
from smartharvest.doctor.host_checks import CHECKS, examine

__all__ = ["CHECKS", "Finding", "Host", "Status", "examine"]
