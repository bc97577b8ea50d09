"""Each mistake in a definition: named by its key, with a remedy, all of them together."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

import shoal
from shoal.definition.check import against_columns
from shoal.definition.model import Files
from shoal.definition.read import from_mapping, read
from shoal.errors import BadData, BadDefinition, Mistake

QI = {"role": "quasi-identifier"}
SOUND: Mapping[str, Any] = {"source": "x.csv", "k": 5, "attributes": {"q": QI}}


def found_in(data: object) -> list[Mistake]:
    with pytest.raises(BadDefinition) as caught:
        from_mapping(data)  # type: ignore[arg-type]
    text = str(caught.value).lower()
    assert "pydantic" not in text
    assert "input should" not in text
    return list(caught.value.mistakes)


def only(data: object) -> Mistake:
    (mistake,) = found_in(data)
    return mistake


def in_keys(**keys: object) -> Mistake:
    return only({**SOUND, **keys})


def in_attribute(attribute: object) -> Mistake:
    return only({**SOUND, "attributes": {"q": QI, "a": attribute}})


def in_hierarchy(hierarchy: object, **keys: object) -> Mistake:
    return in_attribute({**QI, "hierarchy": hierarchy, **keys})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "key", "words"),
    [
        ({"k": "five"}, "k", "'five' is not a whole number; write for example `k: 5`"),
        ({"k": 1}, "k", "must be at least 2"),
        ({"person": ["n", "n"]}, "person", "names a column twice"),
        ({"person": "q"}, "person", "only quasi-identifiers identify persons"),
        ({"person": {"id": 1}}, "person", "is not a list; write for example `person: patient_id`"),
        ({"risk": {}}, "risk", "demands nothing; write `average: 0.1` or"),
        ({"risk": 0.1}, "risk", "'0.1' is not a mapping; write for example `risk: {average: 0.1}`"),
        ({"risk": {"average": 0}}, "risk.average", "is 0, but must be above 0"),
        ({"risk": {"average": 1.5}}, "risk.average", "is 1.5, but must be at most 1"),
        ({"risk": {"averge": 0.1}}, "risk.averge", "did you mean 'average'?"),
        ({"risk": {"records above": 0.2}}, "risk.records above", "'0.2' is not a mapping"),
        (
            {"risk": {"records above": {"share": "1%"}}},
            "risk.records above.threshold",
            "is missing; write for example `threshold: 0.2`",
        ),
        (
            {"risk": {"records above": {"threshold": 0.2}}},
            "risk.records above.share",
            "is missing; write for example `share: 1%`",
        ),
        (
            {"risk": {"records above": {"threshold": 1, "share": 0.1}}},
            "risk.records above.threshold",
            "must be below 1",
        ),
        (
            {"risk": {"records above": {"threshold": 0.2, "share": "few"}}},
            "risk.records above.share",
            "'few' is not a share; write for example `5%` or `0.05`",
        ),
        (
            {"risk": {"records above": {"threshold": 0.2, "share": "100%"}}},
            "risk.records above.share",
            "must be below 1",
        ),
        (
            {"risk": {"average": 0.1}, "person": "name"},
            "risk",
            "is counted by records, and cannot be demanded by persons",
        ),
        ({"population": "p.csv"}, "population", "'p.csv' is not a mapping; write for example"),
        ({"population": {"k": 3}}, "population.source", "is missing; write for example `source:"),
        ({"population": {"source": "p.csv"}}, "population", "demands nothing; write `k: 3`"),
        ({"population": {"source": "p.csv", "k": 1}}, "population.k", "must be at least 2"),
        ({"population": {"source": "p.csv", "kk": 3}}, "population.kk", "is no known key"),
        (
            {"population": {"source": {"path": "p.csv", "heder": True}, "k": 3}},
            "population.source.heder",
            "did you mean 'header'?",
        ),
        (
            {"population": {"source": ["p.csv", {"path": "q.csv", "heder": True}], "k": 3}},
            "population.source.1.heder",
            "did you mean 'header'?",
        ),
        (
            {"population": {"source": "p.csv", "presence": 0.5}},
            "population.presence",
            "'0.5' is no pair of shares; write the least and the largest: `[0, 0.5]`",
        ),
        (
            {"population": {"source": "p.csv", "presence": [0.6, 0.1]}},
            "population",
            "[0.6, 0.1] are no shares that rise from 0 to 1",
        ),
        (
            {"population": {"source": "p.csv", "presence": [0, 1]}},
            "population",
            "demands nothing",
        ),
        (
            {"population": {"source": "p.csv", "k": 3}, "person": "name"},
            "population",
            "is counted by records, and cannot be demanded by persons",
        ),
        ({"strict": "very"}, "strict", "is not true or false; write for example `strict: true`"),
        ({"k": [5]}, "k", "a list is not a whole number"),
        ({"kk": 1}, "kk", "is no known key"),
        ({"suppresion": 1}, "suppresion", "did you mean 'suppression'?"),
        ({"suppression": "lots"}, "suppression", "write for example `suppression: 5%`"),
        ({"suppression": "150%"}, "suppression", "over 100 %"),
        ({"suppression": 5.5}, "suppression", "write `5.5%`"),
        ({"suppression": "-1"}, "suppression", "below 0"),
        ({"suppression": "-1%"}, "suppression", "below 0"),
        ({"suppressed": "gone"}, "suppressed", "possible here: 'drop', 'mark'"),
        ({"missing": "extendd"}, "missing.match", "did you mean 'extended'?"),
        ({"missing": {"values": "NA"}}, "missing.values", "not a list"),
        ({"missing": {"values": [True]}}, "missing.values.0", "put quotes around it"),
        ({"loss": "iyengr"}, "loss", "did you mean 'iyengar'?"),
        ({"search": {"strategy": "bax"}}, "search.strategy", "did you mean 'box'?"),
        ({"search": {"time_limit": 3}}, "search.time_limit", "did you mean 'time limit'?"),
        ({"search": {"time limit": "soon"}}, "search.time limit", "not a duration"),
        ({"search": {"time limit": 0}}, "search.time limit", "must be above 0"),
        ({"search": "fast"}, "search", "not a mapping"),
        ({"others": "qi"}, "others", "possible here: 'keep', 'drop'"),
        ({"source": {"url": "postgresql://h/d"}}, "source", "needs either `table` or `query`"),
        ({"source": {"url": "u", "table": "t", "query": "q"}}, "source", "either"),
        ({"source": "postgresql://host/db"}, "source", "does not say which table"),
        ({"source": {"url": "u", "spark": "t"}}, "source", "several kinds of locations"),
        ({"source": {"table": "t"}}, "source", "names no location"),
        ({"source": {"url": "u", "table": "t", "tabel": 1}}, "source.tabel", "did you mean"),
        ({"source": {"path": "x.csv", "header": "maybe"}}, "source.header", "true or false"),
        ({"source": {"path": "x.csv", "header": -1}}, "source.header", "the number of a row"),
        ({"source": {"path": "x.csv", "header": 2.5}}, "source.header", "write for example `head"),
        ({"source": {"path": "x.csv", "decimal": ";"}}, "source.decimal", "possible here: ','"),
        ({"source": {"spark": "x.csv", "decimal": ","}}, "source", "it has no `decimal`; leave"),
        ({"source": {"spark": "x.csv", "header": 3}}, "source", "names from the first row"),
        ({"source": {"url": "u", "table": "t", "decimal": ","}}, "source.decimal", "no known"),
        ({"source": ""}, "source.path", "no path of a file"),
        ({"source": {"path": "x.csv", "delimiter": ";;"}}, "source.delimiter", "one character"),
        ({"output": {"url": "sqlite://"}}, "output.table", "is missing"),
        ({"engine": {"memory limit": "much"}}, "engine.memory limit", "no amount of memory"),
        ({"output": {"path": "x", "format": "xlm"}}, "output.format", "did you mean 'xml'?"),
        ({"source": {"path": "x", "format": "exel"}}, "source.format", "did you mean 'excel'?"),
        ({"source": {"path": "x.xml", "options": {"rwo": "a"}}}, "source", "did you mean 'row'?"),
        ({"source": ["a.csv", {"path": "b", "renam": {}}]}, "source.1.renam", "mean 'rename'?"),
        ({"source": []}, "source", "lists no source"),
        ({"source": {"path": "x", "columns": ["a"], "rename": {"b": "c"}}}, "source", "not among"),
        ({"output": "x.csv"}, "output", "is a file of the source"),
        ({"output": "y.csv", "report": "y.csv"}, "report", "same file as the output"),
        ({"attributes": ["a"]}, "attributes", "a list is not a mapping"),
        ({"attributes": {}}, "attributes", "no quasi-identifier"),
        ({"attributes": {"a": "keep"}}, "attributes", "no quasi-identifier"),
        ({"attributes": {"a": {**QI, "priority": 0}}}, "attributes", "every priority is 0"),
    ],
)
def test_a_wrong_key_is_named_with_its_remedy(
    keys: Mapping[str, Any], key: str, words: str
) -> None:
    mistake = in_keys(**keys)
    assert mistake.key == key
    assert words in str(mistake)


@pytest.mark.parametrize(
    ("attribute", "key", "words"),
    [
        (None, "", "says nothing; give it a role"),
        ("identifer", ".role", "did you mean 'identifier'?"),
        ("quasi", ".role", "did you mean 'quasi-identifier'?"),
        ("zzz", ".role", "possible here: 'identifier', 'quasi-identifier'"),
        ({"limit": 3}, ".role", "is missing; write for example `role: quasi-identifier`"),
        ({**QI, "limt": 3}, ".limt", "did you mean 'limit'?"),
        ({**QI, "information_loss": [0]}, ".information_loss", "did you mean 'information loss'?"),
        ({**QI, "limit": -1}, ".limit", "at least 0"),
        ({**QI, "from": -1}, ".from", "at least 0"),
        ({**QI, "from": 3, "limit": 2}, ".from", "write a level from 0 to 2"),
        ({**QI, "hierarchy": {"mask": 3}, "from": 5}, ".from", "whose top level is 4"),
        ({"role": "keep", "from": 1}, ".from", "role quasi-identifier"),
        ({**QI, "priority": "high"}, ".priority", "'high' is not a number"),
        ({**QI, "priority": "nan"}, ".priority", "not a finite number"),
        ({**QI, "diversity": {"distinct": 2}}, ".diversity", "is not allowed for an attribute"),
        ({"role": "keep", "limit": 1}, ".limit", "role quasi-identifier"),
        ({"role": "keep", "priority": 1}, ".priority", "role quasi-identifier"),
        ({"role": "drop", "hierarchy": "suppress"}, ".hierarchy", "or sensitive"),
        ({"role": "keep", "information loss": [0]}, ".information loss", "role keep"),
        ({"role": "identifier", "closeness": {"t": 0.1}}, ".closeness", "role sensitive"),
        ("sensitive", "", "nothing is demanded of it"),
        ({"role": "sensitive", "diversity": {}}, ".diversity", "names no kind"),
        (
            {"role": "sensitive", "diversity": {"recursive": {"c": 1, "k": 2, "l": 2}}},
            ".diversity.recursive.k",
            "possible here: 'c', 'l'",
        ),
        ({"role": "sensitive", "closeness": {"t": 2}}, ".closeness.t", "at most 1"),
        (
            {"role": "sensitive", "closeness": {"t": 0.2, "distance": "hierarchical"}},
            ".closeness.distance",
            "needs a hierarchy",
        ),
        ({**QI, "information loss": [0, 2]}, ".information loss", "outside 0 to 1"),
        ({**QI, "information loss": [0, 1, 0.5]}, ".information loss", "falls"),
    ],
)
def test_a_wrong_attribute_is_named_with_its_remedy(
    attribute: object, key: str, words: str
) -> None:
    mistake = in_attribute(attribute)
    assert mistake.key == f"attributes.a{key}"
    assert words in str(mistake)


@pytest.mark.parametrize(
    ("hierarchy", "key", "words"),
    [
        ("supress", "", "did you mean 'suppress'?"),
        ("xyz", "", "write `suppress`, a file"),
        ({"interval": [5]}, "", "did you mean 'intervals'?"),
        ({"mask": 2, "cuts": [1]}, "", "several kinds at once: mask, cuts"),
        ([5], "", "a list is not a hierarchy"),
        ({"mask": 2, "form": "left"}, ".form", "did you mean 'from'?"),
        ({"mask": "x"}, ".mask", "not a list"),
        ({"mask": [1, "x"]}, ".mask.1", "'x' is not a whole number; write for example `mask: 5`"),
        ({"mask": [2, 1]}, ".mask", "must rise"),
        ({"mask": [0, 1]}, ".mask", "must rise from 1"),
        ({"mask": 0}, ".mask", "lists no level"),
        ({"mask": 10**9}, "", "longer than any code"),
        ({"intervals": [5, 12]}, ".intervals", "width 12 is no multiple of 5"),
        ({"intervals": [5, 5]}, ".intervals", "no multiple"),
        ({"intervals": [0]}, ".intervals", "not above 0"),
        ({"intervals": []}, ".intervals", "lists no level"),
        ({"intervals": [5], "bottom": 9, "top": 3}, ".bottom", "not below top"),
        ({"cuts": [3, 2]}, ".cuts", "do not rise"),
        ({"cuts": [[1, 2], [3]]}, ".cuts", "level 2 cuts at 3"),
        ({"cuts": [[1, 2], [1, 2]]}, ".cuts", "the same as level 1"),
        ({"cuts": []}, ".cuts", "lists no level"),
        ({"date": ["month", "day"]}, ".date", "day is not longer than month"),
        ({"date": ["week", "month"]}, ".date", "a week may lie in two months"),
        ({"date": []}, ".date", "lists no unit"),
        ({"date": ["fortnight"]}, ".date.0", "is not possible here"),
        ({"groups": [2, 3]}, ".groups", "size 3 is no multiple of 2"),
        ({"groups": [0]}, ".groups", "not above 0"),
        ({"tree": ["a"]}, ".tree", "a list is not a mapping"),
        ({"tree": {}}, ".tree", "write for example `tree:"),
        ({"tree": {"a": [True]}}, ".tree", "put quotes around it"),
        ({"tree": {"a": [""]}}, ".tree", "a label of the tree is empty"),
        ("no/such.csv", "", "there is no file 'no/such.csv'"),
    ],
)
def test_a_wrong_hierarchy_is_named_with_its_remedy(
    hierarchy: object, key: str, words: str
) -> None:
    mistake = in_hierarchy(hierarchy)
    assert mistake.key == f"attributes.a.hierarchy{key}"
    assert words in str(mistake)


HEIGHTS = [
    ("suppress", 0, 1),
    ({"mask": 5}, 5, 6),
    ({"intervals": [5, 10]}, 2, 3),
    ({"cuts": [[1, 2], [1]]}, 2, 3),
    ({"cuts": [[1, 2], []]}, 2, 2),
    ({"date": ["month", "year"]}, 2, 3),
    ({"groups": [2]}, 1, 2),
    ({"tree": {"x": {"y": ["1", "2"]}, "z": ["3"]}}, 3, 3),
    ({"tree": {"x": {"y": ["1", "2"], "z": None}}}, 2, 2),
]


@pytest.mark.parametrize(("hierarchy", "least", "greatest"), HEIGHTS)
def test_a_limit_above_the_greatest_height_is_a_mistake_and_at_it_is_none(
    hierarchy: object, least: int, greatest: int
) -> None:
    from_mapping({**SOUND, "attributes": {"a": {**QI, "hierarchy": hierarchy, "limit": greatest}}})
    mistake = in_hierarchy(hierarchy, limit=greatest + 1)
    assert mistake.key == "attributes.a.limit"
    assert f"from 0 to {greatest}" in mistake.remedy


@pytest.mark.parametrize(("hierarchy", "least", "greatest"), HEIGHTS)
def test_information_loss_has_one_number_for_each_level(
    hierarchy: object, least: int, greatest: int
) -> None:
    for height in (least, greatest):
        attribute = {**QI, "hierarchy": hierarchy, "information loss": [0] * (height + 1)}
        from_mapping({**SOUND, "attributes": {"a": attribute}})
    for wrong in ([0] * least, [0] * (greatest + 2)):
        mistake = in_hierarchy(hierarchy, **{"information loss": wrong})
        assert mistake.key == "attributes.a.information loss"


def test_the_height_of_a_hierarchy_file_is_read_from_it(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text('"a;b";x;*\nc;x;*\n')
    mistake = in_hierarchy(str(tmp_path / "h.csv"), limit=3)
    assert "whose top level is 2" in mistake.what


def test_a_missing_hierarchy_file_is_suggested_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "country.csv").write_text("a;*\n")
    assert "did you mean 'country.csv'?" in in_hierarchy(str(tmp_path / "countri.csv")).remedy


def test_widths_are_compared_as_the_decimals_they_are_written() -> None:
    attribute = {**QI, "hierarchy": {"intervals": ["0.1", "0.3", "0.9"]}}
    from_mapping({**SOUND, "attributes": {"a": attribute}})


def test_a_sensitive_attribute_may_have_a_hierarchy() -> None:
    closeness = {"t": 0.2, "distance": "hierarchical"}
    attribute = {
        "role": "sensitive",
        "hierarchy": {"tree": {"any": ["x", "y"]}},
        "closeness": closeness,
    }
    from_mapping({**SOUND, "attributes": {"q": QI, "a": attribute}})


def test_missing_keys_are_all_named() -> None:
    assert {m.key for m in found_in({})} == {"source", "k", "attributes"}


def test_all_mistakes_of_a_file_come_together_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(
        "source: x.csv\n"
        "k: five\n"
        "suppression: 200%\n"
        "lose: iyengar\n"
        "attributes:\n"
        "  zip: {role: quasi-identifier, hierarchy: {mask: 5}, limit: 9}\n"
        "  age:\n"
        "    role: quasi-identifier\n"
        "    hierarchy: {intervals: [5,\n"
        "      x]}\n"
        "  sex: sensitive\n"
        "  sex: keep\n"
    )
    with pytest.raises(BadDefinition) as caught:
        read(path)
    assert [(m.key, m.line) for m in caught.value.mistakes] == [
        ("k", 2),
        ("suppression", 3),
        ("lose", 4),
        ("attributes.zip.limit", 6),
        ("attributes.age.hierarchy.intervals.1", 9),
        ("attributes.sex", 11),
        ("attributes.sex", 12),
    ]
    assert str(caught.value).startswith(f"{path}: 7 mistakes\n  k (line 2): 'five' is not")


def test_a_broken_attribute_does_not_make_the_quasi_identifiers_vanish() -> None:
    mistake = only({**SOUND, "attributes": {"a": {**QI, "limit": "x"}, "b": "keep"}})
    assert mistake.key == "attributes.a.limit"


def test_a_mistake_hides_no_other_in_the_same_part() -> None:
    search = {"time limit": "soon", "strategy": "boxx"}
    attribute = {**QI, "hierarchy": {"mask": 3}, "limit": 9, "prioritty": 1}
    found = found_in({**SOUND, "search": search, "attributes": {"q": attribute}})
    assert {mistake.key for mistake in found} == {
        "search.time limit",
        "search.strategy",
        "attributes.q.prioritty",
        "attributes.q.limit",
    }


def test_no_quasi_identifier_is_seen_beside_a_broken_sensitive_attribute() -> None:
    sensitive = {"role": "sensitive", "diversity": {"distinct": 1}}
    found = found_in({**SOUND, "attributes": {"a": sensitive, "b": "keep"}})
    assert {m.key for m in found} == {"attributes", "attributes.a.diversity.distinct"}


def test_a_broken_key_makes_no_sound_one_look_wrong() -> None:
    hierarchical = {"t": 0.2, "distance": "hierarchical"}
    sensitive = {"role": "sensitive", "closeness": hierarchical, "hierarchy": "suppres"}
    assert in_attribute(sensitive).key == "attributes.a.hierarchy"
    weightless = {"a": {**QI, "priority": -1}, "b": {**QI, "priority": 0}}
    assert only({**SOUND, "attributes": weightless}).key == "attributes.a.priority"


def test_keys_that_are_no_text_are_mistakes() -> None:
    keys: dict[object, object] = {1: 2}
    keys.update(SOUND)
    assert found_in(keys)
    attributes: dict[object, object] = {"q": QI, 7: "keep"}
    assert found_in({**SOUND, "attributes": attributes})


@pytest.mark.parametrize(
    ("pattern", "path", "read_too"),
    [
        ("data/x.csv", "data/x.csv", True),
        ("data/x.csv", "data/../data/x.csv", True),
        ("data/x.csv", "x.csv", False),
        ("data/*.csv", "data/release.csv", True),
        ("data/*.csv", "data/out/release.csv", False),
        ("data/*.csv", "data/release.parquet", False),
        ("data/**/*.csv", "data/release.csv", True),
        ("data/**/*.csv", "data/a/b/release.csv", True),
    ],
)
def test_an_output_that_the_source_would_read_is_seen(
    pattern: str, path: str, read_too: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    assert Files(path=pattern).reads(Path(path)) is read_too


def test_attributes_that_the_source_lacks_are_mistakes_with_near_misses() -> None:
    definition = from_mapping({**SOUND, "attributes": {"zip": QI, "sex": "keep"}})
    with pytest.raises(BadDefinition) as caught:
        against_columns(definition, ["zipcode", "sex"], "x.csv")
    first, second = caught.value.mistakes
    assert first.key == "attributes.zip"
    assert str(first) == "attributes.zip: no column 'zip' in x.csv; did you mean 'zipcode'?"
    assert "'zipcode' of x.csv has no role" in second.what
    assert "`others: drop`" in second.remedy


def test_all_columns_without_a_role_are_listed() -> None:
    with pytest.raises(BadDefinition) as caught:
        against_columns(from_mapping(SOUND), ["q", "b", "c"], "x.csv", file="d.yaml")
    assert "2 columns of x.csv have no role: 'b', 'c'" in str(caught.value)
    assert caught.value.file == "d.yaml"


def test_others_get_their_role_in_the_order_of_the_source() -> None:
    definition = from_mapping({**SOUND, "others": "drop"})
    filled = against_columns(definition, ["c", "q", "b"], "x.csv")
    assert list(filled.attributes) == ["q", "c", "b"]
    assert filled.names("drop") == ("c", "b")
    assert definition.names("drop") == ()


def test_a_definition_that_names_every_column_is_unchanged() -> None:
    definition = from_mapping(SOUND)
    assert against_columns(definition, ["q"], "x.csv") is definition


@pytest.mark.parametrize("role", ["keep", "sensitive"])
def test_what_identifies_persons_is_not_released(role: str) -> None:
    attribute: dict[str, Any] = {"role": role}
    if role == "sensitive":
        attribute["diversity"] = {"distinct": 2}
    given = {**SOUND, "person": "id", "attributes": {"q": QI, "id": attribute}}
    with pytest.raises(BadDefinition, match="'id' identifies persons, but is released"):
        from_mapping(given)


def test_a_person_is_an_identifier_even_where_other_columns_are_kept() -> None:
    definition = from_mapping({**SOUND, "person": ["id", "q"], "others": "keep"})
    filled = against_columns(definition, ["c", "q", "id"], "x.csv")
    assert (filled.attributes["id"].role, filled.attributes["c"].role) == ("identifier", "keep")


def test_a_person_that_the_source_lacks_is_a_mistake() -> None:
    definition = from_mapping({**SOUND, "person": "patient", "others": "keep"})
    with pytest.raises(BadDefinition, match="person: no column 'patient' in x"):
        against_columns(definition, ["q", "patients"], "x.csv")


def test_data_in_place_of_a_definition_is_named_with_a_command_to_paste(tmp_path: Path) -> None:
    data = tmp_path / "my patients.csv"
    data.write_bytes(b"age,zip\n" * 2_000_000)
    with pytest.raises(BadDefinition) as refused:
        read(data)
    assert str(refused.value.mistakes[0]) == (
        f"file: is data, not a definition; try `shoal init '{data}'`"
    )


def test_a_file_of_something_else_has_one_mistake() -> None:
    result = {"status": "optimal", "levels": {}, "loss": 0.5, "records": 9, "strategy": "box"}
    assert str(only(result)) == (
        "file: is no definition: it has none of the keys `source`, `k` and `attributes`; give the "
        "file that says what to release"
    )
    assert len(found_in({"sources": "x.csv", "K": 5, "attribute": {}})) > 1


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_database_in_place_of_a_definition_or_of_a_file_is_named_with_its_url(
    kind: str, tmp_path: Path
) -> None:
    file = tmp_path / "the clinic.db"
    with connect(kind, file) as database:
        database.execute("CREATE TABLE patients (age TEXT)")
    command = f"shoal init '{kind}:///{file}' --table NAME"
    with pytest.raises(BadDefinition) as refused:
        read(file)
    assert str(refused.value.mistakes[0]) == f"file: is data, not a definition; try `{command}`"
    with pytest.raises(BadData, match="is a database") as unread:
        shoal.check(file, ["age"])
    assert unread.value.code == "unknown-format"
    assert command.removeprefix("shoal init ") in unread.value.hint


def connect(kind: str, file: Path) -> Any:
    """A connection to a new database that is closed in the end."""
    return closing(sqlite3.connect(file) if kind == "sqlite" else duckdb.connect(file))
