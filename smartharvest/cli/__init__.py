"""The command line: one command per file."""

from __future__ import annotations

import logging
import sys
import traceback

import click

from smartharvest import __version__
from smartharvest.cli.adapter import adapter
from smartharvest.cli.agent import agent
from smartharvest.cli.audit import explain, plot
from smartharvest.cli.command_list import CommandList
from smartharvest.cli.completion import completion
from smartharvest.cli.config import check_config, config
from smartharvest.cli.demo import demo
from smartharvest.cli.doctor import doctor
from smartharvest.cli.elastic_vm import elastic_vm
from smartharvest.cli.model import model
from smartharvest.cli.observe import observe
from smartharvest.cli.record import record
from smartharvest.cli.replay import replay
from smartharvest.cli.reproduce import reproduce
from smartharvest.cli.restore import restore
from smartharvest.cli.run import run
from smartharvest.cli.simulate import simulate
from smartharvest.cli.status import status
from smartharvest.cli.steer import STEERING
from smartharvest.cli.top import top
from smartharvest.errors import SmartHarvestError
from smartharvest.printable import printable


@click.group(
    cls=CommandList,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="smartharvest")
@click.option("--debug", is_flag=True, help="Log everything, and show tracebacks.")
@click.pass_context
def cli(context: click.Context, debug: bool) -> None:
    """Lend a latency-sensitive service's idle cores to a batch group, and take them back in time.

    Exit codes: 0 done, 1 unexpected, 2 wrong settings, 3 missing rights, 4 a target that cannot
    be, 5 a write the kernel refused, 6 a target that vanished, 7 the sensor failed, 8 another agent
    has the groups, 9 a damaged journal, 10 a host that is not fit (doctor), 11 a
    trace that cannot be read or written, 12 a cluster engine that refuses, 130 interrupted.
    """
    context.obj = {"debug": debug}
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Printable("smartharvest: %(message)s"))
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.INFO, handlers=[handler], force=True
    )
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)


class _Printable(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return printable(super().formatMessage(record))


COMMANDS = (
    agent,
    run,
    observe,
    model,
    doctor,
    record,
    replay,
    reproduce,
    status,
    restore,
    demo,
    elastic_vm,
    simulate,
    config,
    check_config,
    explain,
    plot,
    top,
    *STEERING,
    adapter,
    completion,
)
for command in COMMANDS:
    cli.add_command(command)


def main(args: list[str] | None = None) -> None:
    """The entry point: turns every failure into one line and an exit code."""
    arguments = sys.argv[1:] if args is None else args
    debug = "--debug" in arguments
    try:
        sys.exit(cli.main(args=arguments, prog_name="smartharvest", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        fail(f"{error.format_message()}{_help_hint(error)}", error.exit_code)
    except click.Abort:
        fail("stopped", 130)
    except SmartHarvestError as error:
        _show_traceback(debug)
        fail(str(error), error.exit_code)
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody to tell.
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:
        _show_traceback(debug)
        fail(f"unexpected {type(error).__name__}: {error} (--debug shows where)", 1)


def fail(message: str, code: int) -> None:
    click.echo(f"smartharvest: {printable(' '.join(message.split()))}", err=True)
    sys.exit(code)


def _help_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f" (see {context.command_path} --help)" if context is not None else ""


def _show_traceback(debug: bool) -> None:
    if debug:
        traceback.print_exc()
