"""Jobs: long work in processes of its own, with limits, that survives a restart of the server.

- `model.py`: a job, its events, and what a task gets.
- `queue.py`: `Jobs`, what pages and the API use; all checks of owners.
- `table.py`: the rows in SQLite; every change of a state.
- `runner.py`: the thread that starts workers, reads what they say, publishes, and watches limits.
- `fork_server.py`: the process that workers are forked from; `worker.py`: what a worker does.
- `events.py`: the events of the pipeline as JSON; `limits.py`: memory, time, and what is said then.

A job's files are in `running/ID-ATTEMPT` until it is done, and are then published by one rename to
`done/ID`. States: waiting, running, then done, failed, cancelled or interrupted. What was running
when the server ended is begun again once, from its arguments.
"""
