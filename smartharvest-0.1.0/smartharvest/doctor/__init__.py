"""What a host offers for lending cores, what stands in the way, and how to fix it."""

from smartharvest.doctor.finding import Finding, Host, Status
from smartharvest.doctor.host_checks import CHECKS, examine

__all__ = ["CHECKS", "Finding", "Host", "Status", "examine"]
