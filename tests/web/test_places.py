"""Places of the server are kept out of what users read."""

from shoal.engines.options import without_password
from shoal.web.places import without_places

ADDRESS = "postgresql://reader:pw@db.internal:5433/clinic"
ARGUMENTS = {
    "layout": {
        "mapping": {
            "source": [
                {"path": "/srv/private/patients.csv"},
                {"url": ADDRESS, "table": "stays"},
            ],
            "attributes": {"unit": {"hierarchy": {"tree": {"/a": ["/a/b", "the"]}}}},
        },
        "files": {"data.csv": "/var/shoal/uploads/data-00ff.csv"},
    }
}


def test_paths_and_addresses_of_a_job_are_replaced_everywhere() -> None:
    problem = {
        "title": "no folder /srv/private (for patients.csv)",
        "detail": f"cannot connect to db.internal:5433 as {without_password(ADDRESS)}",
        "mistakes": [{"what": "/var/shoal/uploads/data-00ff.csv is empty", "line": 3}],
    }
    assert without_places(problem, ARGUMENTS) == {
        "title": "no folder of the server (for the source)",
        "detail": "cannot connect to the server as the source",
        "mistakes": [{"what": "the source is empty", "line": 3}],
    }


def test_labels_that_look_like_paths_are_no_places() -> None:
    said = "the value '/a/b' and the label '/a' of data.csv"
    assert without_places(said, ARGUMENTS) == said
