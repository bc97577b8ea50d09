"""The page Hierarchies in a real browser: every editor, by mouse and by keyboard."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from shoal.definition.read import from_mapping
from shoal.web.projects import Project, Projects
from shoal.web.services import STORE_FILE
from shoal.web.store import Store
from web.accessible import looks, violations
from web.seeded import seed_project
from web.server import Running

pytestmark = pytest.mark.slow

SCRIPT = "<script>alert(1)</script>"
CITIES = {"Oslo": 40, "Bergen": 12, "Turku": 9, "Rome": 55, "Bari": 7}
ODD = {SCRIPT: 3, "ירושלים": 4, "👩‍🔬 lab": 2, "x" * 10_000: 1}
TREE = {
    "north": {"Norway": ["Oslo", "Bergen"], "Finland": ["Turku"]},
    "south": {"Italy": ["Rome", "Bari"]},
}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a column for each kind of hierarchy."""
    file = tmp_path_factory.mktemp("records") / "people.csv"
    cities = [city for city, count in (CITIES | ODD).items() for _ in range(count)]
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(["city", "age", "zip", "birth", "sex", "name <b>"])
        for i in range(2_000):
            age, birth = i * 7 % 100, f"19{30 + i % 59}-{1 + i % 12:02d}-{1 + i % 28:02d}"
            city = cities[i % len(cities)]
            writer.writerow([city, age, 10_000 + i % 300, birth, "mf"[i % 2], f"person {i:04d}"])
    return file


class Seeded:
    """A project in the running server, and what it has saved."""

    def __init__(self, server: Running, source: Path, **attributes: Any) -> None:
        self._data = server.folder / "data"
        columns = {"city": "drop", "age": "drop", "zip": "drop", "birth": "drop", "sex": "drop"}
        said = {**columns, "name <b>": "drop", **attributes}
        definition = {"k": 5, "attributes": said}
        self.project = seed_project(self._data, source, definition)
        self.address = f"/project/{self.project.id}/hierarchies"

    @contextmanager
    def _projects(self) -> Iterator[Projects]:
        store = Store(self._data / STORE_FILE)
        try:
            yield Projects(store, self._data)
        finally:
            store.close()

    def now(self) -> Project:
        with self._projects() as projects:
            return projects.get(self.project.id, "you")

    def hierarchy(self, column: str) -> Any:
        said = self.now().attributes[column]
        return said.get("hierarchy") if isinstance(said, dict) else None

    def rows(self, column: str) -> set[tuple[str, ...]]:
        """The rows of the saved hierarchy of a column, as a definition would have them."""
        attribute = {"role": "quasi-identifier", "hierarchy": self.hierarchy(column)}
        with self._projects() as projects:
            folder = projects.folder(self.project)
        mapping = {"source": "-", "k": 2, "attributes": {column: attribute}}
        kind = from_mapping(mapping, folder=folder).attributes[column].hierarchy
        assert kind is not None
        return set(kind.rows(column, {}).rows)


Seed = Callable[..., Seeded]


@pytest.fixture
def seed(ui_server: Running, records: Path) -> Seed:
    def make(**hierarchies: Any) -> Seeded:
        attributes = {
            name: {"role": "quasi-identifier", **({"hierarchy": said} if said else {})}
            for name, said in hierarchies.items()
        }
        return Seeded(ui_server, records, **attributes)

    return make


def row(page: Page, label: str) -> Any:
    return page.locator(".ht-row", has=page.locator(f'bdi:text-is("{label}")'))


def labels(page: Page) -> list[str]:
    return page.locator(".ht-row bdi").all_inner_texts()


def eventually(check: Callable[[], bool], page: Page) -> None:
    """Wait until something that the server saves is saved."""
    for _ in range(100):
        if check():
            return
        page.wait_for_timeout(50)
    assert check()


def open_tree(page: Page, seeded: Seeded) -> None:
    page.goto(seeded.address)
    page.wait_for_selector(".ht-row")


def test_without_a_quasi_identifier_the_page_says_what_to_do(page: Page, seed: Seed) -> None:
    page.goto(seed().address)
    expect(page.get_by_role("heading", name="No quasi-identifier yet")).to_be_visible()
    page.get_by_role("button", name="Go to Columns").click()
    page.wait_for_url("**/columns")


def test_proposals_are_shown_with_their_reason_and_saved_when_going_on(
    page: Page, seed: Seed
) -> None:
    seeded = seed(age=None, zip=None, birth=None, sex=None)
    page.goto(seeded.address)
    expect(page.get_by_text("Proposed. Every value is a number")).to_be_visible(timeout=20_000)
    states = page.locator(".hier-column")
    expect(states).to_have_count(4)
    expect(states.nth(0)).to_contain_text("all 100 values covered")
    expect(states.nth(1)).to_contain_text("5 levels above")
    expect(page.locator(".level-row")).to_have_count(5)
    expect(page.locator(".level-row").nth(3)).to_contain_text("[0,20)")
    page.get_by_role("button", name="Next: Demand").click()
    page.wait_for_url("**/demand")
    assert seeded.hierarchy("age") == {"intervals": [5, 10, 20]}
    assert seeded.hierarchy("zip") == {"mask": 5}
    assert seeded.hierarchy("birth") == {"date": ["month", "year", "decade"]}
    assert seeded.hierarchy("sex") == "suppress"


def test_a_tree_is_edited_with_the_mouse_and_every_edit_can_be_undone(
    page: Page, seed: Seed
) -> None:
    cities = {"north": TREE["north"], "south": TREE["south"], "odd": list(ODD)}
    seeded = seed(city={"tree": cities})
    open_tree(page, seeded)
    expect(row(page, "Oslo")).to_contain_text("605 records")
    before = seeded.rows("city")
    row(page, "Bari").drag_to(row(page, "Finland"))
    expect(page.get_by_text("Moved 1 entry to Finland.")).to_be_visible()
    eventually(lambda: ("Bari", "Finland", "north", "*") in seeded.rows("city"), page)
    row(page, "Norway").dblclick()
    page.keyboard.type("Norge")
    page.keyboard.press("Enter")
    eventually(lambda: ("Oslo", "Norge", "north", "*") in seeded.rows("city"), page)
    row(page, "Norge").click()
    row(page, "Finland").click(modifiers=["Control"])
    page.get_by_role("button", name="Merge selected").click()
    eventually(lambda: ("Bari", "Norge", "north", "*") in seeded.rows("city"), page)
    row(page, "Turku").click()
    page.get_by_role("button", name="Split").click()
    page.get_by_label("New name").fill("Suomi")
    page.keyboard.press("Enter")
    eventually(lambda: ("Turku", "Suomi", "north", "*") in seeded.rows("city"), page)
    expect(page.locator(".level-row").nth(1)).to_contain_text("Suomi")
    panel = page.locator(".hier-right")
    for _ in range(5):
        done = seeded.now().version
        panel.get_by_role("button", name="Undo").click()
        eventually(lambda done=done: seeded.now().version > done, page)  # type: ignore[misc]
    eventually(lambda: seeded.rows("city") == before, page)
    expect(row(page, "Norway")).to_be_visible()
    panel.get_by_role("button", name="Redo").click()
    eventually(lambda: ("Bari", "Finland", "north", "*") in seeded.rows("city"), page)


def test_a_tree_is_edited_with_the_keyboard_alone(page: Page, seed: Seed) -> None:
    seeded = seed(city={"tree": {**TREE, "odd": list(ODD)}})
    open_tree(page, seeded)
    press = page.keyboard.press
    row(page, "*").focus()
    for _ in range(4):
        press("ArrowDown")
    expect(row(page, "Bergen")).to_be_focused()
    press("Alt+ArrowUp")
    eventually(lambda: labels(page).index("Bergen") < labels(page).index("Oslo"), page)
    press("Alt+ArrowLeft")
    eventually(lambda: ("Bergen", "Bergen", "north", "*") in seeded.rows("city"), page)
    expect(row(page, "Bergen")).to_be_focused()
    press("Alt+ArrowRight")
    eventually(lambda: ("Bergen", "Finland", "north", "*") in seeded.rows("city"), page)
    expect(row(page, "Bergen")).to_be_focused()
    press("g")
    expect(page.get_by_label("New name")).to_be_focused()
    page.keyboard.type("alone")
    press("Enter")
    expect(row(page, "alone")).to_be_focused()
    eventually(lambda: ("Bergen", "alone", "Finland", "north", "*") in seeded.rows("city"), page)
    press("Delete")
    eventually(lambda: ("Bergen", "Finland", "north", "*") in seeded.rows("city"), page)
    expect(row(page, "Finland")).to_be_focused()
    press("F2")
    page.keyboard.type("Italy")
    press("Enter")
    expect(page.get_by_text("Not done: two labels of level 1 would be the same")).to_be_visible()
    row(page, "Finland").focus()
    press("ArrowLeft")
    expect(row(page, "Finland")).to_have_attribute("aria-expanded", "false")
    press("v")
    page.get_by_role("combobox", name="Group").fill("south")
    page.get_by_role("option", name="* › south", exact=True).click()
    page.get_by_role("button", name="Move", exact=True).press("Enter")
    eventually(lambda: ("Turku", "Finland", "south", "*") in seeded.rows("city"), page)
    row(page, "*").focus()
    press("Control+z")
    eventually(lambda: ("Turku", "Finland", "north", "*") in seeded.rows("city"), page)


def test_values_that_are_not_covered_are_named_and_added(page: Page, seed: Seed) -> None:
    seeded = seed(city={"tree": TREE})
    open_tree(page, seeded)
    expect(page.locator(".hier-column")).to_contain_text("4 of 9 values not covered")
    card = page.get_by_role("alert")
    expect(card).to_contain_text("does not cover 4 values of the data")
    expect(card).to_contain_text("uncovered-value")
    expect(card).to_contain_text(SCRIPT)
    assert len(card.inner_text()) < 1_000
    page.get_by_role("button", name="Add 4 values to the tree").click()
    expect(page.locator(".hier-column")).to_contain_text("all 9 values covered")
    assert (SCRIPT, SCRIPT, SCRIPT, "*") in seeded.rows("city")
    assert seeded.hierarchy("city").keys() == {"path"}, "a definition cannot hold 10,000 characters"


def test_five_thousand_values_are_shown_in_pages_and_found(
    page: Page, seed: Seed, tmp_path: Path, ui_server: Running
) -> None:
    file = tmp_path / "codes.csv"
    rows = "".join(f"code {i:04d},{i % 7}\n" for i in range(5_000))
    file.write_text("code,other\n" + rows, encoding="utf-8")
    definition = {
        "k": 5,
        "attributes": {"code": {"role": "quasi-identifier"}, "other": "drop"},
    }
    project = seed_project(ui_server.folder / "data", file, definition)
    page.goto(f"/project/{project.id}/hierarchies")
    page.get_by_role("button", name="Tree", exact=True).click(timeout=20_000)
    expect(page.get_by_text("rows 1 to 150 of 5,001")).to_be_visible()
    assert page.locator(".ht-row").count() == 150
    page.get_by_role("button", name="Later").click()
    expect(row(page, "code 0149")).to_be_visible()
    page.get_by_label("Find a value or group").fill("code 42")
    expect(page.locator(".ht-row")).to_have_count(101)
    row(page, "code 4200").click()
    row(page, "code 4299").click(modifiers=["Shift"])
    page.get_by_role("button", name="Group", exact=True).click()
    page.get_by_label("New name").fill("forty-two")
    page.keyboard.press("Enter")
    expect(page.locator(".level-row").nth(1)).to_contain_text("forty-two")
    expect(page.locator(".level-row").nth(1)).to_contain_text("4,901 labels")


def test_intervals_have_widths_and_ends_and_mistakes_are_shown_where_they_are_made(
    page: Page, seed: Seed
) -> None:
    seeded = seed(age={"intervals": [5, 10]})
    page.goto(seeded.address)
    page.get_by_label("Level 2: wide").fill("7")
    expect(page.get_by_text("width 7 is no multiple of 5 before it")).to_be_visible()
    assert seeded.hierarchy("age") == {"intervals": [5, 10]}
    page.get_by_label("Level 2: wide").fill("20")
    eventually(lambda: seeded.hierarchy("age") == {"intervals": [5, 20]}, page)
    expect(page.get_by_text("is no multiple")).to_have_count(0)
    page.get_by_role("button", name="Add a level").click()
    eventually(lambda: seeded.hierarchy("age") == {"intervals": [5, 20, 40]}, page)
    page.get_by_label("All from this upwards share one interval").fill("90")
    eventually(lambda: seeded.hierarchy("age").get("top") == 90, page)
    expect(page.locator(".level-row").nth(1)).to_contain_text(">=90")
    page.get_by_role("slider").press("ArrowLeft")
    eventually(lambda: seeded.hierarchy("age").get("top") == 89, page)
    page.get_by_role("button", name="Restore the proposed one").click()
    eventually(lambda: seeded.hierarchy("age") == {"intervals": [5, 10, 20]}, page)


def test_cut_points_are_dragged_added_and_removed(page: Page, seed: Seed) -> None:
    seeded = seed(age={"intervals": [5, 10]})
    page.goto(seeded.address)
    page.get_by_role("button", name="Cut points").click(timeout=20_000)
    eventually(lambda: seeded.hierarchy("age") == {"cuts": [[25, 50, 75], [50]]}, page)
    first = page.get_by_role("slider").first
    first.press("ArrowRight")
    eventually(lambda: seeded.hierarchy("age")["cuts"][0][0] == 26, page)
    expect(page.get_by_role("slider").first).to_be_focused()
    # The numbers line is drawn again after a change: for a moment it has no place.
    eventually(lambda: first.locator("circle").bounding_box() is not None, page)
    box = first.locator("circle").bounding_box()
    line = page.locator(".nl-hit").first.bounding_box()
    assert box is not None
    assert line is not None
    page.mouse.move(box["x"] + 9, box["y"] + 9)
    page.mouse.down()
    page.mouse.move(box["x"] - 30, box["y"] + 9, steps=4)
    page.mouse.up()
    eventually(lambda: seeded.hierarchy("age")["cuts"][0][0] < 26, page)
    page.mouse.click(line["x"] + line["width"] * 0.8, line["y"] + 17)
    eventually(lambda: len(seeded.hierarchy("age")["cuts"][0]) == 4, page)
    page.get_by_role("slider").first.press("Delete")
    eventually(lambda: len(seeded.hierarchy("age")["cuts"][0]) == 3, page)
    page.get_by_label("Level 2: cut points").fill("18, 65")
    page.get_by_label("Level 2: cut points").press("Enter")
    eventually(lambda: seeded.hierarchy("age")["cuts"][1] == [18, 65], page)
    assert {18, 65} <= set(seeded.hierarchy("age")["cuts"][0])


def test_masks_and_neighbours_are_lists_of_steps(page: Page, seed: Seed) -> None:
    seeded = seed(zip=None)
    page.goto(seeded.address)
    page.get_by_role("button", name="beginning").click(timeout=20_000)
    eventually(lambda: seeded.hierarchy("zip") == {"mask": 5, "from": "left"}, page)
    page.get_by_label("Remove level 1").click()
    eventually(lambda: seeded.hierarchy("zip")["mask"] == [2, 3, 4, 5], page)
    expect(page.locator(".level-row").nth(1)).to_contain_text("**000")
    page.get_by_role("button", name="Neighbours").click()
    eventually(lambda: seeded.hierarchy("zip") == {"groups": [5, 25]}, page)
    page.get_by_role("button", name="Mask").click()
    eventually(lambda: seeded.hierarchy("zip") == {"mask": [2, 3, 4, 5], "from": "left"}, page)


def test_dates_have_units_and_a_format(page: Page, seed: Seed) -> None:
    seeded = seed(birth={"date": ["month", "year"]})
    page.goto(seeded.address)
    page.get_by_role("checkbox", name="week").click(timeout=20_000)
    expect(page.get_by_text("a week may lie in two months")).to_be_visible()
    page.get_by_role("checkbox", name="week").click()
    page.get_by_role("checkbox", name="decade").click()
    eventually(lambda: seeded.hierarchy("birth") == {"date": ["month", "year", "decade"]}, page)
    page.get_by_role("combobox", name="Dates are written as").click()
    page.get_by_role("option", name="31.03.2026").click()
    expect(page.get_by_text("0 of 2,000 values are dates of this format.")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("uncovered-value")


def test_an_uploaded_file_is_checked_and_edited_as_a_tree(
    page: Page, seed: Seed, tmp_path: Path
) -> None:
    seeded = seed(sex=None)
    page.goto(seeded.address)
    page.get_by_role("button", name="Upload a file").click(timeout=20_000)
    bad = tmp_path / "sex.csv"
    bad.write_text("m;male;*\nf;female\n", encoding="utf-8")
    page.locator("input[type=file]").set_input_files(bad)
    card = page.get_by_role("dialog").get_by_role("alert")
    expect(card).to_contain_text("sex.csv line 2 has 2 cells where sex.csv line 1 has 3")
    expect(card).to_contain_text("ragged-hierarchy")
    assert seeded.hierarchy("sex") is None
    good = tmp_path / "good.csv"
    good.write_text("m,male,*\nf,female,*\n", encoding="utf-8")
    page.locator("input[type=file]").set_input_files(good)
    expect(row(page, "female")).to_be_visible()
    assert seeded.hierarchy("sex") == {"tree": {"male": ["m"], "female": ["f"]}}


def test_the_page_has_no_serious_accessibility_problem_and_fits(page: Page, seed: Seed) -> None:
    seeded = seed(city={"tree": TREE}, age={"cuts": [[20, 40], [40]]}, birth=None, zip=None)
    for index, ready in enumerate(
        (".ht-row", ".nl-edge", 'button:has-text("beginning")', '[role="checkbox"]')
    ):
        page.goto(f"{seeded.address}?c={index}")
        page.locator(ready).first.wait_for()
        for width in looks(page):
            if width > 1000 or index < 2:
                assert [each for each in violations(page) if "q-loading-bar" not in each] == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_sensitive_column_compared_by_its_hierarchy_gets_a_tree(
    page: Page, ui_server: Running, records: Path
) -> None:
    closeness = {"t": 0.3, "distance": "hierarchical"}
    seeded = Seeded(
        ui_server,
        records,
        city={"role": "sensitive", "closeness": closeness},
        sex={"role": "quasi-identifier"},
    )
    page.goto(f"{seeded.address}?c=1")
    expect(page.get_by_text("Closeness by the hierarchy needs a tree")).to_be_visible()
    expect(row(page, "Oslo")).to_be_visible()
    page.get_by_role("button", name="Next: Demand").click()
    page.wait_for_url("**/demand")
    assert ("Oslo", "*") in seeded.rows("city")


def test_a_column_with_very_many_values_is_tried_by_a_worker(
    page: Page, ui_server: Running, tmp_path: Path
) -> None:
    file = tmp_path / "many.csv"
    file.write_text("code,other\n" + "".join(f"{i:06d},1\n" for i in range(20_001)))
    definition = {"k": 5, "attributes": {"code": {"role": "quasi-identifier"}, "other": "drop"}}
    project = seed_project(ui_server.folder / "data", file, definition)
    page.goto(f"/project/{project.id}/hierarchies")
    expect(page.locator(".hier-column")).to_contain_text(
        "all 20,001 values covered", timeout=20_000
    )
    expect(page.get_by_role("button", name="Tree", exact=True)).to_have_count(0)
    page.get_by_label("Remove level 1").click()
    expect(page.locator(".level-row").nth(1)).to_contain_text("201 labels", timeout=20_000)
