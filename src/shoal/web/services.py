"""What pages and the API share: made once, when the server starts, and passed to all of them."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.web.audit import Audit
from shoal.web.folder_lock import FolderLock, lock_folder
from shoal.web.jobs.queue import Jobs
from shoal.web.mart.results import MartResults
from shoal.web.mart.service import Marts
from shoal.web.projects import Projects
from shoal.web.settings import Settings
from shoal.web.store import Store
from shoal.web.uploads import Uploads
from shoal.web.users import Users

STORE_FILE = "shoal.sqlite"


@dataclass(frozen=True)
class Services:
    """Everything that a page or an API resource may use."""

    settings: Settings
    store: Store
    users: Users
    audit: Audit
    jobs: Jobs
    projects: Projects
    uploads: Uploads
    mart: Marts
    mart_results: MartResults
    lock: FolderLock

    def delete_old(self) -> None:
        """Delete uploads and projects that nobody used for as long as the server keeps them."""
        seconds = self.settings.limits.keep_seconds
        self.uploads.delete_old(seconds)
        for project in self.projects.delete_old(seconds):
            self.audit.record("-", "deleted after its time", f"project {project}")

    def close(self) -> None:
        """Close what was opened; the folder's lock last."""
        self.jobs.close()
        self.store.close()
        self.lock.release()


def open_services(settings: Settings) -> Services:
    """Open the private folder, which one server uses at a time, and everything in it."""
    lock = lock_folder(settings.folder)
    store = Store(settings.folder / STORE_FILE)
    seconds = settings.limits.session_seconds
    if settings.single_user:
        users = Users.single(store, seconds)
    else:
        users = Users(store, settings.users, seconds)
    audit = Audit(store)
    jobs = Jobs(store, settings.folder / "jobs", settings.limits)
    mart = Marts(settings, store, jobs, audit)
    return Services(
        settings=settings,
        store=store,
        users=users,
        audit=audit,
        jobs=jobs,
        projects=Projects(store, settings.folder),
        uploads=Uploads(store, settings.folder, settings.limits),
        mart=mart,
        mart_results=MartResults(mart, jobs),
        lock=lock,
    )
