"""The page's server of an agent: ``LISTENER AGENT``, descriptors that it inherits.

Standard input has one line: the token, or nothing.
"""

from __future__ import annotations

import logging
import socket
import sys

from smartharvest.telemetry.web.app import make_app
from smartharvest.telemetry.web.hub import Hub
from smartharvest.telemetry.web.rights import drop_rights
from smartharvest.telemetry.web.serving import Server, run
from smartharvest.telemetry.web.sources import Inherited


def main(arguments: list[str]) -> None:
    logging.basicConfig(format="smartharvest: page: %(message)s", level=logging.WARNING)
    listener, connection = (socket.socket(fileno=int(number)) for number in arguments)
    token = sys.stdin.readline().strip() or None
    connection.setblocking(False)
    agents: list[Inherited] = []
    hub = Hub(lambda: agents)
    app = make_app(hub, token)

    async def open_agent(server: Server) -> None:
        agent = Inherited(connection, server.end)
        await agent.open()
        agents.append(agent)
        drop_rights()  # everything is imported and open

    run(app, listener, hub.close, open_agent)


if __name__ == "__main__":
    main(sys.argv[1:])
