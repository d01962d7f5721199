"""What is done to the agent's unit under a real systemd, by name."""

from __future__ import annotations

from typing import Final

from tests.lab.systemd.inside import faults, life, packages
from tests.lab.systemd.inside.scenario import Scenario

ALL: Final = {
    "install": Scenario(packages.install),
    "upgrade": Scenario(packages.upgrade),
    "install-service": Scenario(packages.install_service, ends_delegation=True),
    "delegation": Scenario(life.delegation, ends_stopped=False, ends_delegation=True),
    "start-stop": Scenario(life.start_and_stop),
    "sandbox": Scenario(life.sandbox),
    "least-rights": Scenario(life.least_rights),
    "reload": Scenario(life.reload),
    "log-levels": Scenario(life.log_levels),
    "daemon-reload": Scenario(life.daemon_reload),
    "late-primary": Scenario(life.late_primary),
    "late-batch": Scenario(life.late_batch),
    "kill": Scenario(faults.kill),
    "kill-guardian": Scenario(faults.kill_guardian),
    "kill-all": Scenario(faults.kill_all),
    "stopped": Scenario(faults.stopped),
    "wedged": Scenario(faults.wedged),
    "frozen": Scenario(faults.frozen),
    "full-at-start": Scenario(faults.full_at_start),
    "full-while-running": Scenario(faults.full_while_running),
    "full-logs": Scenario(faults.full_logs),
    "reboot": Scenario(life.before_reboot, after_reboot=life.after_reboot),
    "remove": Scenario(packages.remove, ends_stopped=False, ends_delegation=True),
}
