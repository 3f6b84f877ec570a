"""Serving the studio on this machine, and to nobody else."""

from __future__ import annotations

import socket
from collections.abc import Callable
from urllib.parse import urlsplit

from flask import Flask, Response, abort, request
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from conceptlab.errors import InputError
from conceptlab.studio.app import build
from conceptlab.studio.context import Studio

HOST = "127.0.0.1"
_NAMES = {"127.0.0.1", "localhost", "[::1]"}


def guard(server: Flask) -> None:
    """Answer only requests made to this machine by its own pages.

    Listening on 127.0.0.1 keeps other machines out, but not a web page in the same browser: it could point a name of
    its own at 127.0.0.1, or post from its own address. Both show in the headers."""

    @server.before_request
    def refuse_strangers() -> None:
        if _host(request.host) not in _NAMES:
            abort(403, "the studio answers only to localhost")
        origin = request.headers.get("Origin")
        if origin and _host(urlsplit(origin).netloc) not in _NAMES:
            abort(403, "the studio answers only to its own pages")

    @server.after_request
    def say_so(response: Response) -> Response:
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["X-Frame-Options"] = "DENY"
        response.headers["Referrer-Policy"] = "no-referrer"
        # What the page may use: itself. Dash starts from inline scripts and plotly.js compiles its shaders' loops.
        response.headers["Content-Security-Policy"] = (
            "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
            "script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
            "frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
        )
        return response


def _host(netloc: str) -> str:
    return netloc.rsplit(":", 1)[0] if not netloc.endswith("]") else netloc


class _Quiet(WSGIRequestHandler):
    """Every poll of every viewer in the terminal would bury what matters."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


def listen(studio: Studio, port: int) -> BaseWSGIServer:
    """A server with a thread for each request, ready to serve; port 0 takes any free one."""
    if not 0 <= port <= 65535:
        raise InputError(f"--port {port}: ports go from 0, which takes any free one, to 65535")
    try:
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((HOST, port))
    except OSError as error:
        raise InputError(
            f"port {port} cannot be had ({error.strerror}); choose another with --port"
        ) from error
    app = build(studio)
    guard(app.server)  # pyright: ignore[reportArgumentType]
    return make_server(HOST, port, app.server, threaded=True, request_handler=_Quiet)  # pyright: ignore[reportArgumentType]


def serve(studio: Studio, port: int, tell: Callable[[str], None]) -> None:
    """Serve until interrupted."""
    server = listen(studio, port)
    tell(f"http://{HOST}:{server.server_port}")
    try:
        server.serve_forever()
    finally:
        server.server_close()
