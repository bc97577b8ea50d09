"""A Shoal server from Python: `shoal.Client`. It needs nothing of Shoal but its errors.

- `server`, which comes first: the client with its uploads and jobs.
- `mart`: requests to the server's data mart.
- `session`: what every call shares: the address, the token, and errors as Shoal's own.
"""

from shoal.client.server import Client as Client
