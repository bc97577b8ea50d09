"""A Shoal server from Python: `shoal.Client`. It needs nothing of Shoal but its errors.

`server` is the client with its uploads and jobs, `mart` the requests to the server's data mart,
`session` what every call shares.
"""

from shoal.client.server import Client as Client
