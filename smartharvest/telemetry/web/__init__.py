"""The page: what agents do, live, read-only, over HTTP and server-sent events.

Needs starlette and uvicorn (the extra ``web``). The server is a process of its own; it asks the
agents' sockets, once a second and only while somebody looks.
"""
