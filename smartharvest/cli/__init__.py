"""The command line: a command is a file and one entry below."""

from __future__ import annotations

import logging
import os
import sys
from typing import TextIO

import click

from smartharvest import __version__
from smartharvest.cli.command_group import Entry, LazyGroup
from smartharvest.cli.error_kinds import identifier
from smartharvest.cli.lab import COMMANDS as LAB
from smartharvest.cli.log_format import FORMATS, Json, Plain, formatter
from smartharvest.errors import RightsError, SmartHarvestError
from smartharvest.printable import printable, quoted, write_unless_blocked
from smartharvest.trusted import Untrusted

INTERRUPTED = 130
_formatter: logging.Formatter = Plain()
"""Of every message, once the options are parsed."""
READ_WITHIN_S = 0.05
"""So long a message waits for its reader."""
_CLOSE = 0.75
"""How alike a slip and the option that was meant are at least, as difflib counts."""

SECTIONS = {
    "Run": (
        Entry("doctor", "doctor:doctor", "Check whether this host is fit, and say what to fix."),
        Entry("observe", "observe:observe", "Measure what a service needs; nothing is lent."),
        Entry("agent", "agent:agent", "Lend the primary's idle cores to the elastic group."),
        Entry("run", "run:run", "Start a command in the elastic or the primary group."),
        Entry("elastic-vm", "elastic_vm:elastic_vm", "Start a virtual machine to lend cores to."),
        Entry("config", "config:config", "Print an example configuration, or the one in force."),
        Entry("check-config", "check_config:check_config", "List the mistakes in a configuration."),
        Entry(
            "install-service",
            "install_service:install_service",
            "Install the systemd unit and a first configuration.",
        ),
        Entry("completion", "completion:completion", "Print the completion script for a shell."),
    ),
    "Watch": (
        Entry("status", "status:status", "Show what every running agent senses and lends."),
        Entry("top", "top:top", "Show live which side has which cores, and why."),
        Entry("dashboard", "dashboard:dashboard", "Serve a page with the agents of this host."),
        Entry("explain", "explain:explain", "Explain in words what was lent, and why not more."),
        Entry("metrics", "metrics:metrics", "Print the metrics of every agent, or write a file."),
        Entry("report", "report:report", "Sum up a day: what was lent, the harm, what went wrong."),
        Entry("plot", "plot:plot", "Draw what was lent into a PNG."),
    ),
    "Steer": (
        Entry("pause", "pause:pause", "Take back all lent cores until resume."),
        Entry("resume", "resume:resume", "End a pause or an eviction."),
        Entry("beat", "beat:beat", "Count units of work of an elastic group."),
        Entry("evict", "evict:evict", "Freeze the elastic group until resume."),
        Entry("set-limit", "set_limit:set_limit", "Change how many cores may be lent."),
        Entry("set-policy", "set_policy:set_policy", "Change the policy."),
        Entry("reload", "reload:reload_", "Read the configuration file again."),
        Entry("restart", "restart:restart", "Replace the agent by the program installed now."),
    ),
    "Recover": (
        Entry("restore", "restore:restore", "Put back what a killed agent has left behind."),
    ),
    "Cluster": (
        Entry("adapter", "adapter:adapter", "Offer the idle cores to a cluster engine."),
        Entry("fleet", "fleet:fleet", "Place, simulate and price what a cluster could lend."),
        Entry("serverless", "serverless:serverless", "Balance functions over harvested cores."),
    ),
    "Lab": (
        Entry("demo", "lab.demo:demo", "Short for lab demo: lend cores here for a minute."),
        Entry("lab", "lab:lab", "Record, replay, simulate, reproduce; show a learned model."),
        Entry("record", "lab.record:record"),
        Entry("simulate", "lab.simulate:simulate"),
    ),
}  # fmt: skip

EPILOG = """\b
Examples:
  smartharvest doctor
  smartharvest agent --primary cgroup:web --elastic cgroup:batch --dry-run
  smartharvest agent --config /etc/smartharvest.toml
  smartharvest run --elastic -- make -j16
  smartharvest status

Exit codes: 0 done, 1 unexpected, 2 wrong usage or settings, 3 missing rights, 4 unusable target,
5 write refused by the kernel, 6 target vanished, 7 sensor failed, 8 groups managed by another
agent, 9 damaged journal, 10 unfit host (doctor), 11 unusable trace, 12 cluster engine failed,
13 metrics address or audit log unavailable, 130 interrupted. status: 0 running, 3 none, 4 orphaned.
"""


@click.group(
    cls=LazyGroup,
    sections=SECTIONS,
    moved={entry.name: f"lab {entry.name}" for entry in LAB},
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EPILOG,
)
@click.version_option(__version__, prog_name="smartharvest")
@click.option("--debug", is_flag=True, help="Log everything, and show tracebacks.")
@click.option(
    "--log-format",
    type=click.Choice(FORMATS),
    default="auto",
    show_default=True,
    envvar="SMARTHARVEST_LOG_FORMAT",
    help="How messages look; auto has the journal's priorities under systemd.",
)
@click.pass_context
def cli(context: click.Context, debug: bool, log_format: str) -> None:
    """Lend a latency-sensitive service's idle cores to a batch group, and take them back in time.

    The service is the primary, the batch group is the elastic group.
    """
    context.obj = {"debug": debug, "log_format": log_format}
    handler = _Messages(sys.stderr)
    global _formatter  # noqa: PLW0603
    _formatter = formatter(log_format, _descriptor(sys.stderr))
    handler.setFormatter(_formatter)
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.INFO, handlers=[handler], force=True
    )
    logging.getLogger("matplotlib").setLevel(logging.NOTSET if debug else logging.WARNING)
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)


class _Messages(logging.StreamHandler[TextIO]):
    """Lines on standard error; a reader that is slow holds up nobody and misses some."""

    _missed = 0

    def emit(self, record: logging.LogRecord) -> None:
        try:
            fd = self.stream.fileno()
        except (OSError, AttributeError, ValueError):  # a file in memory
            super().emit(record)
            return
        line = self.format(record) + self.terminator
        if self._missed:
            line = f"smartharvest: {self._missed} messages before this found no reader\n{line}"
        try:
            # One that fell behind once is not waited for again.
            taken = write_unless_blocked(fd, line, 0.0 if self._missed else READ_WITHIN_S)
        except OSError:
            return
        self._missed = 0 if taken else self._missed + 1


def _descriptor(stream: TextIO) -> int:
    try:
        return stream.fileno()
    except (OSError, AttributeError, ValueError):  # a file in memory
        return -1


def main(args: list[str] | None = None) -> None:
    """The entry point: turns every failure into one line and an exit code."""
    _keep_standard_streams()
    arguments = sys.argv[1:] if args is None else args
    debug = "--debug" in arguments
    try:
        sys.exit(cli.main(args=arguments, prog_name="smartharvest", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error = _with_best_guess(error)
        fail(f"{error.format_message()}{_help_hint(error)}", error.exit_code)
    except click.Abort:
        fail("stopped", INTERRUPTED)
    except SmartHarvestError as error:
        _show_traceback(debug)
        fail(str(error), error.exit_code)
    except Untrusted as error:
        _show_traceback(debug)
        fail(str(error), RightsError.exit_code)
    except ImportError as error:
        _show_traceback(debug)
        fail(_what_is_missing(error), 1)
    except BrokenPipeError:
        # The reader of our output has gone, so no message reaches it.
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:
        _show_traceback(debug)
        fail(f"unexpected {type(error).__name__}: {error} (--debug shows where)", 1)


def _keep_standard_streams() -> None:
    """Opens those that the caller has closed: a journal or lock that got such a number would take
    what is printed."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(fd, True)
    os.close(fd)


def fail(message: str, code: int) -> None:
    """Prints the one line of a failure, with its identifier, and exits with ``code``."""
    text = printable(" ".join(message.split()))
    kind = identifier(text, code)
    shown = _formatter.format(
        logging.makeLogRecord(
            {
                "name": "smartharvest", "msg": text, "args": (), "error": kind,
                "exit_code": code, "levelno": logging.ERROR, "levelname": "ERROR",
            }
        )
    )  # fmt: skip
    told_apart = isinstance(_formatter, Json) or code == INTERRUPTED
    click.echo(shown if told_apart else f"{shown} [{kind}]", err=True)
    sys.exit(code)


def _what_is_missing(error: ImportError) -> str:
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not (error.name or "").startswith("smartharvest.core"):
        return f"unexpected {type(error).__name__}: {error} (--debug shows where)"
    return (
        f"{here}: this copy is not built: its C core is missing ({error.name}); "
        f"run pip install -e {quoted(os.path.dirname(here))}, or the smartharvest that is installed"
    )


def _with_best_guess(error: click.ClickException) -> click.ClickException:
    """Click suggests up to three options, in the alphabet's order; the closest one is enough."""
    if not isinstance(error, click.NoSuchOption) or not error.possibilities:
        return error
    import difflib  # for a slip alone

    close = difflib.get_close_matches(error.option_name, error.possibilities, n=1, cutoff=_CLOSE)
    return click.NoSuchOption(error.option_name, error.message, close, error.ctx)


def _help_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f" (see {context.command_path} --help)" if context is not None else ""


def _show_traceback(debug: bool) -> None:
    if debug:
        import traceback

        traceback.print_exc()
