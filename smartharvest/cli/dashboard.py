"""``smartharvest dashboard``: the agents of this host on a page."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.agent_request import places
from smartharvest.cli.command_group import examples
from smartharvest.cli.settings_options import settings_options
from smartharvest.config.addresses import is_loopback, parse_address
from smartharvest.errors import ConfigError
from smartharvest.telemetry.web.listening import listen, require_libraries
from smartharvest.telemetry.web.token import read_token

EPILOG = examples(
    "smartharvest dashboard",
    "smartharvest dashboard --listen 127.0.0.1:8080",
    "smartharvest dashboard --from http://127.0.0.1:19464/metrics",
    "smartharvest dashboard --listen 0.0.0.0:9465 --token-file /etc/smartharvest/web.token",
)


@click.command(epilog=EPILOG)
@settings_options("state_dir")
@click.option("--listen", "address", default="127.0.0.1:9465", show_default=True,
              metavar="ADDRESS", help="Where the page is served.")  # fmt: skip
@click.option("--from", "urls", multiple=True, metavar="URL",
              help="Show the agent with these metrics, too: http://HOST:9464/metrics.")  # fmt: skip
@click.option("--token-file", metavar="FILE", help="A file with the token that the page asks for.")
def dashboard(address: str, urls: tuple[str, ...], token_file: str | None, **options: Any) -> None:
    """Serve a page with every agent of this host, until ctrl-C.

    --from adds agents of other hosts, by their metrics: what those have no place for (CPUs,
    decisions) is missing, and their past begins when somebody looks.

    It only reads. An address that other hosts reach needs --token-file; the page is not encrypted,
    so that a proxy with TLS or an SSH tunnel belongs in front of it. Members of the agents'
    status_group need no root. Needs starlette and uvicorn: pip install 'smartharvest[web]'.
    """
    parse_address(address, "--listen")
    if token_file is None and not is_loopback(address):
        raise ConfigError("--listen: other hosts could reach it; use 127.0.0.1, or --token-file")
    require_libraries("dashboard")
    from smartharvest.telemetry.web.app import make_app
    from smartharvest.telemetry.web.by_metrics import ByMetrics
    from smartharvest.telemetry.web.hub import Hub
    from smartharvest.telemetry.web.serving import run
    from smartharvest.telemetry.web.sources import Host

    token = None if token_file is None else read_token(token_file, "--token-file")
    host = Host(place["state_dir"] for place in places(options))
    others = [ByMetrics(url) for url in urls]
    hub = Hub(lambda: [*host.agents(), *others], lambda: host.orphans)
    listener = listen(address, "--listen")
    click.echo(f"The page is at http://{address}/ (ctrl-C ends it)")
    run(make_app(hub, token), listener, hub.close)
