"""The web application: pages and REST in one server. It contains no privacy logic.

Read in this order:

- `app` puts everything together, `services` lists what pages and the API share.
- `settings_file` reads server.toml into `settings`. `local` is `shoal ui`, `team` is `shoal serve`;
  both run `serving`. `store` is the SQLite file; every module defines its own tables.
- `users` knows tokens and sessions. `security` stands before every request and websocket, with
  `origins`, `bodies`, `rates` and `headers`; `sockets` guards what NiceGUI receives. `audit`
  writes down who did what.
- `refusals` are the errors that have an HTTP status; `answers` turns errors into pages and
  problems. `places` keeps paths and addresses of the server out of them.
- `projects`, `uploads` and `jobs/` keep what users have; `tasks/` is what jobs do; `mart/` are the
  requests of researchers.
- `pages/` has one file for each page, `api/` one for each resource. Both are found by their module:
  a page module has `register(services)`, an API module `router(services)`.
"""

from __future__ import annotations

import importlib.util

from shoal.errors import MissingExtra

if importlib.util.find_spec("nicegui") is None:
    raise MissingExtra(
        "the web application needs NiceGUI, which is not installed",
        code="missing-driver",
        hint="install it: pip install 'shoal[web]'",
    )
