"""Decide: one sentence, warnings to tick, accept or decline; nothing is written before."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from shoal.web.projects import Project
from web.accessible import violations
from web.searched import THREE, beside, releases, search, searched_demo
from web.server import Running

pytestmark = pytest.mark.slow
expect.set_options(timeout=30_000)


def test_a_declined_release_writes_nothing_and_keeps_the_reason(
    page: Page, ui_server: Running
) -> None:
    data = ui_server.folder / "data"
    project = searched_demo(data, THREE)
    before = releases(data)
    page.goto(f"/project/{project.id}/decide")
    expect(page.get_by_text("every record is like at least 4 others")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Decline").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("too   coarse <b>for us</b>")
    dialog.get_by_role("button", name="Decline").click()
    expect(page.get_by_text("Reason: too coarse <b>for us</b>")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Reason: too coarse <b>for us</b>")).to_be_visible()
    assert releases(data) == before
    with beside(data) as services:
        saved = services.projects.get(project.id, "you")
        actions = [each.action for each in services.audit.latest(5)]
    assert saved.decision is not None
    assert saved.decision["accepted"] is False
    assert "declined a release: too coarse <b>for us</b>" in actions
    assert "release" not in saved.jobs


def test_warnings_must_be_ticked_and_a_change_makes_the_release_outdated(
    page: Page, ui_server: Running
) -> None:
    data = ui_server.folder / "data"
    project = searched_demo(data, {**THREE, "name": "keep"})
    before = releases(data)
    page.goto(f"/project/{project.id}/decide")
    accept = page.get_by_role("button", name="Accept and release")
    expect(accept).to_be_disabled()
    ticks = page.get_by_role("checkbox", name="I have read this and accept it")
    for tick in ticks.all():
        expect(accept).to_be_disabled()
        tick.click()
    expect(accept).to_be_enabled()
    assert releases(data) == before
    accept.click()
    expect(page.get_by_role("button", name="Download the release")).to_be_visible()
    assert len(releases(data)) == len(before) + 1
    assert violations(page) == []

    def changed(**keys: object) -> Project:
        with beside(data) as services:
            now = services.projects.get(project.id, "you")
            return services.projects.change(now, definition={**now.definition, **keys})

    changed(k=7)
    page.reload()
    expect(page.get_by_text("The release is outdated")).to_be_visible()
    expect(page.get_by_role("heading", name="Search again")).to_be_visible()
    with beside(data) as services:
        search(services, services.projects.get(project.id, "you"))
    page.reload()
    expect(page.get_by_text("Release (")).to_be_visible()
    expect(page.get_by_text("The release is outdated")).to_be_visible()
    expect(accept).to_be_disabled()


def test_downloads_are_for_the_owner_alone_and_are_not_kept_by_anybody(
    team_server: Running,
) -> None:
    data = team_server.folder / "data"
    project = searched_demo(data, THREE, owner="alice")
    address = f"/project/{project.id}/download"
    with team_server.client("alice") as alice, team_server.client("bob") as bob:
        assert alice.get(f"{address}/release").status_code == 404
        release_as(data, project)
        found = alice.get(f"{address}/release")
        assert found.status_code == 200
        assert found.headers["cache-control"] == "no-store"
        assert found.headers["content-disposition"] == 'attachment; filename="patients-release.csv"'
        report = alice.get(f"{address}/report")
        assert report.headers["content-disposition"].startswith("attachment;")
        assert b"Release of patients.csv" in report.content
        for name in ("yaml", "xml", "json", "transformation", "result"):
            assert alice.get(f"{address}/{name}").status_code == 200
        for name in ("nothing", "..", "%2e%2e", "..%2f..%2fshoal.sqlite", "arguments.json"):
            assert alice.get(f"{address}/{name}").status_code in (404, 400, 307)
        unknown = bob.get(f"/project/{'0' * 32}/download/release")
        for name in ("release", "report", "yaml"):
            refused = bob.get(f"{address}/{name}")
            assert refused.status_code == 404
            assert refused.content == unknown.content
        with team_server.client(None) as nobody:
            answer = nobody.get(f"{address}/release", headers={"accept": "application/json"})
            assert answer.status_code == 401


def release_as(data: Path, project: Project) -> None:
    """Release a project as its page does, without the page."""
    import time

    from shoal.web.found import standing_of
    from shoal.web.project_definition import fingerprint
    from shoal.web.release_files import release_arguments

    with beside(data) as services:
        standing = standing_of(services, project)
        assert standing is not None
        arguments = release_arguments(services, project, standing)
        job = services.jobs.submit("release", arguments, owner=project.owner, project=project.id)
        services.projects.note_job(project, "release", job.id, fingerprint(project, services))
        while not services.jobs.get(job.id, project.owner).has_ended:
            time.sleep(0.05)
