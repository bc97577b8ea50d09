"""Explore: the lattice, one node, the best solutions, the frontier."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import shoal
from shoal.web.laid_out import layout_of
from shoal.web.projects import Project
from web.accessible import violations
from web.searched import THREE, beside, searched_demo
from web.server import Running

pytestmark = pytest.mark.slow
expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def project(ui_server: Running) -> Project:
    return searched_demo(ui_server.folder / "data", THREE)


@pytest.fixture(scope="module")
def truth(ui_server: Running, project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The definition with its files, as the custodian has them."""
    folder = tmp_path_factory.mktemp("own")
    with beside(ui_server.folder / "data") as services:
        layout = layout_of(services, project)
    (folder / layout["file"]).write_text(layout["text"], encoding="utf-8")
    for name, real in layout["files"].items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(Path(real).read_bytes())
    return Path(folder / layout["file"])


def open_explore(page: Page, project: Project) -> None:
    page.goto(f"/project/{project.id}/explore")
    page.wait_for_selector("svg.lattice")


def test_nodes_and_solutions_are_those_of_the_command_line(
    page: Page, project: Project, truth: Path
) -> None:
    open_explore(page, project)
    counted = shoal.lattice(truth)
    drawn = page.locator(".lattice-node")
    expect(drawn).to_have_count(counted.lattice)
    said = [each.get_attribute("aria-label") or "" for each in drawn.all()]
    by_node = {text.partition(":")[0]: text for text in said}
    for each in counted.nodes:
        text = by_node[f"({','.join(map(str, each.node))})"]
        assert (": safe" in text) == each.safe
        assert f"{each.suppressed:,} record" in text
        assert ("the optimum" in text) == (each.levels == counted.optimum)
    assert page.locator(".lattice-node.is-best.is-chosen").count() == 1
    page.get_by_text("The same as a table").click()
    expect(page.get_by_role("region", name="Nodes").locator("tbody tr")).to_have_count(50)
    page.wait_for_selector(".solution")
    listed = [each.inner_text() for each in page.locator(".solution-node").all()]
    best = shoal.solutions(truth, 12).solutions
    assert listed == [f"({','.join(map(str, each.levels.values()))})" for each in best]
    assert violations(page) == []


def test_the_lattice_is_walked_by_keyboard_and_a_safe_node_is_chosen(
    page: Page, project: Project, ui_server: Running
) -> None:
    open_explore(page, project)
    side = page.get_by_role("region", name="About this step")
    page.get_by_role("button", name="(0,0,0):").click()
    expect(side.get_by_text("would be suppressed")).to_be_visible()
    expect(side.get_by_role("button", name="Choose this one")).to_be_disabled()
    best = page.locator(".lattice-node.is-best")
    best.focus()
    page.keyboard.press("ArrowUp")
    focused = page.locator(".lattice-node:focus")
    name = (focused.get_attribute("aria-label") or "").partition(":")[0]
    page.keyboard.press("Enter")
    expect(focused).to_have_class(re.compile("is-selected"))
    expect(side.get_by_role("heading", level=2)).to_have_text(name)
    expect(side.get_by_text("Against the optimum")).to_be_visible()
    side.get_by_role("button", name="Choose this one").click()
    expect(page.locator(".lattice-node.is-chosen.is-selected")).to_have_count(1)
    with beside(ui_server.folder / "data") as services:
        saved = services.projects.get(project.id, "you")
    assert saved.chosen is not None
    assert f"({','.join(map(str, saved.chosen.values()))})" == name
    page.reload()
    page.wait_for_selector("svg.lattice")
    chosen = page.locator(".lattice-node.is-chosen").get_attribute("aria-label") or ""
    assert chosen.startswith(name)


def test_the_frontier_changes_the_demand_only_after_it_was_confirmed(
    page: Page, ui_server: Running
) -> None:
    project = searched_demo(ui_server.folder / "data", THREE)
    open_explore(page, project)
    page.get_by_role("tab", name="Frontier").click()
    page.get_by_role("button", name="Draw the frontier").click()
    page.get_by_role("button", name="k 10, 10% left out:").click()
    dialog = page.get_by_role("dialog", name="Change the demand?")
    expect(dialog).to_contain_text("At least 10 alike, up to 10% left out")
    dialog.get_by_role("button", name="Leave it").click()
    expect(dialog).to_be_hidden()

    def saved() -> Project:
        with beside(ui_server.folder / "data") as services:
            return services.projects.get(project.id, "you")

    assert saved().definition["k"] == 5
    page.get_by_role("button", name="k 10, 10% left out:").click()
    page.get_by_role("dialog").get_by_role("button", name="Change the demand").click()
    page.wait_for_url("**/search")
    assert (saved().definition["k"], saved().definition["suppression"]) == (10, "10%")
    page.goto(f"/project/{project.id}/explore")
    expect(page.get_by_role("heading", name="Search again")).to_be_visible()


def test_a_large_lattice_is_shown_around_the_optimum_and_walked_on(
    page: Page, ui_server: Running
) -> None:
    project = searched_demo(ui_server.folder / "data")
    open_explore(page, project)
    expect(page.get_by_text("90 of 600 nodes")).to_be_visible()
    name = page.locator(".solution-node").nth(4).inner_text()
    page.locator(".solution").nth(4).click()
    side = page.get_by_role("region", name="About this step")
    expect(side.get_by_role("heading", level=2)).to_have_text(name)
    page.get_by_role("button", name="Show the nodes around the described one").click()
    expect(page.get_by_role("button", name=f"{name}:")).to_have_class(re.compile("is-selected"))
