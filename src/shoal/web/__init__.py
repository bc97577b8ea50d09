"""The web application: pages and REST in one server. It contains no privacy logic.

- `app` puts everything together, `services` lists what pages and the API share. `local` is `shoal
  ui`, `team` is `shoal serve`; both run `serving`. `settings_file` reads server.toml into
  `settings`; `store` is the SQLite file, in a private folder (`folder_lock`).
- `users` knows tokens and sessions. `security` stands before every request and websocket, with
  `origins`, `bodies`, `rates`, `headers`, `slow_headers` and `sockets`. `audit` writes down who did
  what. `refusals` have an HTTP status; `answers`, `problems` and `remedies` are what users read of
  errors, and `places` hides paths and addresses in them.
- `projects` (with `project_definition`, `project_data`, `cached_table`, `checked`, `edits`,
  `column_roles`, `steps`, `found`, `laid_out`, `release_files`, `commands`), `uploads` (with
  `upload_kinds`) and `jobs/` keep what users have; `tasks/` is what jobs do, with `watching`.
  `mart/` are the requests of researchers, `hierarchies/` edits trees.
- `pages/` has one file for each page, `api/` one for each resource: `register(services)` in a page
  module, `router(services)` in an API module, with `node_words`, `numbers` and `signatures`.
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
