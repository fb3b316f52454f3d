"""The web application around the page: Gradio without its connections to elsewhere, and headers that keep the browser at home."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from ui.web.diagnoses import DiagnosisReader
from ui.web.session import Room, SessionRegistry

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
HEADERS = {
    # 'unsafe-eval' and 'unsafe-inline' are Gradio's; what matters is that nothing is fetched from or sent to another host
    b"content-security-policy": b"default-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; img-src 'self' data: blob:; "
    b"font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
}


def quiet_gradio() -> None:
    """Keep Gradio from calling home; to be called before it is imported."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")


def create_app(room: Room, reader: DiagnosisReader, auth: Sequence[tuple[str, str]] | None = None, loopback_only: bool = True) -> App:
    """The application, ready to be served; all state lives in it, none in modules.

    Args:
        room: cases, knowledge and where traces are kept.
        reader: reads typed diagnoses.
        auth: who may log in; None: nobody has to.
        loopback_only: answer only requests addressed to this machine, so that no other site can reach the page through its visitor.
    """
    quiet_gradio()
    import gradio as gr
    from fastapi import FastAPI

    from ui.web.page import Page
    from ui.web.theme import asset, make_theme

    registry = SessionRegistry(room)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await registry.close()

    outer = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    served = gr.mount_gradio_app(
        outer,
        Page(registry, reader).build(),
        path="/",
        auth=list(auth) if auth else None,
        auth_message="Simulated patients. Research and education only; not medical advice.",
        footer_links=[],
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        mcp_server=False,
        pwa=False,
        show_error=False,
        theme=make_theme(),
        css=asset("bedside.css"),
        head=f"<script>{asset('bedside.js')}</script>",
    )
    return _guarded(served, loopback_only)


def _guarded(app: App, loopback_only: bool) -> App:
    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        if loopback_only and _host_of(scope) not in LOOPBACK:
            await send({"type": "http.response.start", "status": 421, "headers": [(b"content-type", b"text/plain")]})
            await send({"type": "http.response.body", "body": b"This page answers on loopback addresses only.\n"})
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS.items()]
            await send(message)

        await app(scope, receive, with_headers)

    return guarded


def _host_of(scope: Scope) -> str:
    """The host a request is addressed to, without its port."""
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()
