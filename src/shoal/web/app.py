"""The whole application: FastAPI with the REST API, NiceGUI with the pages, and the guard."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from nicegui import app, client, ui
from starlette.staticfiles import StaticFiles

from shoal.version import __version__
from shoal.web import api, pages
from shoal.web.answers import answer_errors, log, where
from shoal.web.headers import NonceLoader
from shoal.web.security import Guard
from shoal.web.services import Services
from shoal.web.signatures import remember_signatures
from shoal.web.sockets import close_ended, guard_sockets

STATIC = Path(__file__).parent / "static"


def create_app(services: Services) -> Guard:
    """The ASGI application. NiceGUI has one app in a process, so this can be called once."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        services.jobs.start()
        cleaning = asyncio.create_task(_clean(services))
        try:
            yield
        finally:
            cleaning.cancel()
            services.close()

    main = FastAPI(
        title="Shoal",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{api.PREFIX}/openapi.json",
        lifespan=lifespan,
    )
    for router in api.routers(services):
        main.include_router(router, prefix=api.PREFIX)
    answer_errors(main)
    answer_errors(app)
    main.mount("/static", StaticFiles(directory=STATIC))
    pages.register_all(services)
    _mount_pages(main, services)
    return Guard(main, services)


def _mount_pages(main: FastAPI, services: Services) -> None:
    """NiceGUI with nothing but its pages: no storage, no markdown, no transport but websockets."""
    remember_signatures()
    client.templates.env.loader = NonceLoader(client.templates.env.loader)
    ui.run_with(
        main,
        title="Shoal",
        dark=None,
        language="en-US",
        show_welcome_message=False,
        reconnect_timeout=10,
        storage_secret=None,
        tailwind=False,
        favicon=STATIC / "shoal.svg",
        markdown=False,
    )
    guard_sockets(services.users)


async def _clean(services: Services) -> None:
    """Close, every minute, what ended sessions hold open; delete, every hour, what is too old."""
    for minute in itertools.count():
        try:
            if minute % 60 == 0:
                await asyncio.to_thread(services.delete_old)
            await close_ended(services.users)
        except Exception as error:
            log.error("cleaning failed: %s", where(error))
        await asyncio.sleep(60)
