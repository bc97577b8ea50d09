"""The web application: pages and REST in one server. It contains no privacy logic.

Read in this order:

- `app` puts everything together, `services` lists what pages and the API share.
- `settings` reads server.toml. `store` is the SQLite file; every module defines its own tables.
- `users` knows tokens and sessions. `security` stands before every request and websocket;
  `sockets` guards what NiceGUI receives. `audit` writes down who did what.
- `refusals` are the errors that have an HTTP status.
- `pages/` has one file for each page, `api/` one for each resource. Both are found by their module:
  a page module has `register(services)`, an API module `router(services)`.
"""
