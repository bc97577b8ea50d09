"""The data mart on a server: researchers send requests, custodians decide, jobs release.

What may be released is decided by `shoal.mart` alone. This package keeps the requests and their
states, and says who may do what. Read in this order:

- model.py: a request with its states, and what a client may say in one.
- table.py: the requests in SQLite; each change of a state names the state that it leaves.
- catalog.py: the catalog that server.toml names, as each user may see it.
- service.py: `Marts`, what pages and the API use.
- working.py: what the tasks of the mart share.
- results.py: what became of a request: previews, releases, reports, estimates, the log.
"""
