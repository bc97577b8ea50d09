"""Requests to the mart: who may do what, and that nothing is released before it may be."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from mart.clinic import read_csv
from shoal.errors import BadDefinition
from shoal.web.mart.service import OWNER
from shoal.web.refusals import Conflict, Forbidden, NotFound, Refusal
from shoal.web.services import Services, open_services
from shoal.web.settings import Account, Limits, MartSettings, Settings
from shoal.web.users import User
from web.marts import REQUEST, wait_for, write_mart

ANNA = User("anna", frozenset({"researcher"}))
BERT = User("bert", frozenset({"researcher"}))
CARA = User("cara", frozenset({"custodian"}))
DORA = User("dora", frozenset({"custodian", "researcher"}))
EMMA = User("emma", frozenset({"researcher"}))
ADAM = User("adam", frozenset({"admin"}))


@contextmanager
def server(folder: Path, approval: Literal["always", "never"], catalog: Path) -> Iterator[Services]:
    """The services of a server with a mart, whose jobs run."""
    mart = MartSettings(catalog, approval)
    settings = Settings(folder / "private", mart=mart, limits=Limits(jobs_per_user=5))
    services = open_services(settings)
    services.jobs.start()
    try:
        yield services
    finally:
        services.close()


@pytest.fixture(scope="module")
def approving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """A server on which a custodian decides."""
    folder = tmp_path_factory.mktemp("approving")
    with server(folder, "always", write_mart(folder / "mart", overlap="report")) as services:
        yield services


@pytest.fixture(scope="module")
def deciding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """A server on which the policy alone decides."""
    folder = tmp_path_factory.mktemp("deciding")
    with server(folder, "never", write_mart(folder / "mart")) as services:
        yield services


def released(services: Services, user: User, asked: str) -> None:
    state = wait_for(lambda: services.mart.get(user, asked).state, "released", "refused", "failed")
    assert state == "released", services.mart.get(user, asked).problem


def sent(services: Services, user: User = ANNA, **more: object) -> str:
    """A request that waits for a decision."""
    request = services.mart.draft(user, {**REQUEST, **more})
    assert services.mart.send(user, request.id).state == "waiting"
    return request.id


def entries(services: Services) -> list[str]:
    log = services.mart.settings.catalog.parent / "log.jsonl"
    return (
        [json.loads(line)["kind"] for line in log.read_text().splitlines()] if log.exists() else []
    )


def test_a_request_waits_until_a_custodian_approves_it_and_then_is_released(
    approving: Services,
) -> None:
    before = entries(approving)
    asked = sent(approving)
    preview = wait_for(lambda: approving.mart_results.preview(CARA, asked).state, "done", "failed")
    assert preview == "done"
    assert approving.mart.get(ANNA, asked).state == "waiting"
    assert entries(approving) == before
    found = approving.mart_results.preview(CARA, asked).answer
    assert found is not None
    assert found["refusal"] is None
    assert found["result"]["rows_released"] > 0
    with pytest.raises(NotFound):
        approving.mart_results.release(ANNA, asked)
    approving.mart.approve(CARA, asked, "a good purpose")
    released(approving, ANNA, asked)
    rows = read_csv(approving.mart_results.release(ANNA, asked))
    assert len(rows) == found["result"]["rows_released"]
    result = approving.mart_results.result(ANNA, asked)
    assert result["asker"] == "anna"
    assert result["output"] == "release.csv"
    assert "release" in approving.mart_results.report(ANNA, asked).read_text()
    assert entries(approving) == [*before, "released"]
    decided = approving.mart.get(ANNA, asked)
    assert (decided.decided_by, decided.reason) == ("cara", "a good purpose")


def test_a_refused_request_has_its_reason_and_releases_nothing(approving: Services) -> None:
    before, asked = entries(approving), sent(approving)
    with pytest.raises(BadDefinition):
        approving.mart.refuse(CARA, asked, "  ")
    approving.mart.refuse(CARA, asked, "ask for fewer columns")
    found = approving.mart.get(ANNA, asked)
    assert (found.state, found.reason, found.job) == ("refused", "ask for fewer columns", None)
    with pytest.raises(Conflict):
        approving.mart.approve(CARA, asked)
    assert entries(approving) == before


def test_nobody_decides_on_a_request_of_their_own(approving: Services) -> None:
    asked = sent(approving, DORA)
    for decide in (approving.mart.approve, approving.mart.refuse):
        with pytest.raises(Forbidden):
            decide(DORA, asked, "mine")
    with pytest.raises(Forbidden):
        approving.mart_results.preview(DORA, asked)
    assert approving.mart.get(DORA, asked).state == "waiting"


def test_a_single_user_decides_since_there_is_nobody_else(tmp_path: Path) -> None:
    mart = MartSettings(write_mart(tmp_path / "mart"), "always")
    services = open_services(Settings(tmp_path / "private", mart=mart, single_user=True))
    you = User("you", frozenset({"custodian", "researcher", "admin"}))
    asked = sent(services, you)
    assert services.mart.approve(you, asked).state == "approved"
    services.close()


def test_others_see_nothing_of_a_request_and_all_get_the_same_answer(approving: Services) -> None:
    asked, mart, results = sent(approving), approving.mart, approving.mart_results
    answers = set()
    for call in (
        lambda asked: mart.get(BERT, asked),
        lambda asked: mart.send(BERT, asked),
        lambda asked: mart.cancel(BERT, asked),
        lambda asked: mart.retry(BERT, asked),
        lambda asked: mart.save(BERT, asked, REQUEST),
        lambda asked: results.release(BERT, asked),
        lambda asked: results.report(BERT, asked),
        lambda asked: results.result(BERT, asked),
        lambda asked: results.phase(BERT, asked),
    ):
        for each in (asked, "0" * 32):
            with pytest.raises(NotFound) as refused:
                call(each)
            answers.add(str(refused.value))
    assert len(answers) == 1
    assert asked not in [each.id for each in mart.of(BERT)]
    assert mart.get(ANNA, asked).state == "waiting"


def test_drafts_are_for_their_asker_alone(approving: Services) -> None:
    draft = approving.mart.draft(ANNA, {"project": ["nothing like it"]})
    with pytest.raises(NotFound):
        approving.mart.get(CARA, draft.id)
    assert draft.id not in [each.id for each in approving.mart.everyone(CARA)]
    assert approving.mart.cancel(ANNA, draft.id) is None
    with pytest.raises(NotFound):
        approving.mart.get(ANNA, draft.id)


def test_roles_are_checked_for_everything(approving: Services) -> None:
    mart, results = approving.mart, approving.mart_results
    asked = sent(approving)
    for_researchers: tuple[Callable[[User], object], ...] = (
        lambda user: mart.draft(user, REQUEST),
        lambda user: mart.mistakes(user, REQUEST),
        lambda user: mart.of(user),
        lambda user: mart.send(user, asked),
        lambda user: mart.cancel(user, asked),
        lambda user: results.estimate(user, asked),
    )
    for_custodians: tuple[Callable[[User], object], ...] = (
        lambda user: mart.everyone(user),
        lambda user: mart.approve(user, asked),
        lambda user: mart.refuse(user, asked, "no"),
        lambda user: mart.preview_again(user, asked),
        lambda user: results.preview(user, asked),
        lambda user: results.log(user),
        lambda user: results.check_log(user),
    )
    for call in for_researchers:
        for user in (CARA, ADAM):
            with pytest.raises(Forbidden):
                call(user)
    for call in for_custodians:
        for user in (ANNA, BERT, ADAM):
            with pytest.raises(Forbidden):
                call(user)
    for either in (mart.view, lambda user: mart.get(user, asked)):
        with pytest.raises(Forbidden):
            either(ADAM)


def test_a_client_states_neither_asker_nor_path_nor_source(approving: Services) -> None:
    for more in (
        {"asker": "bert"},
        {"output": "/tmp/x.csv"},
        {"report": "/tmp/x.html"},
        {"source": "x"},
        {"search": {"strategy": "box"}},
        {"loss": "weighted"},
        {"format": "../../x"},
    ):
        with pytest.raises(BadDefinition):
            approving.mart.draft(ANNA, {**REQUEST, **more})


def test_a_request_with_mistakes_is_not_sent(approving: Services) -> None:
    draft = approving.mart.draft(ANNA, {"project": ["PT", "P"], "k": 2})
    with pytest.raises(BadDefinition) as refused:
        approving.mart.send(ANNA, draft.id)
    keys = {(each.key, each.code) for each in refused.value.mistakes}
    assert keys == {("project.1", "unknown-column"), ("purpose", "bad-definition")}
    assert approving.mart.get(ANNA, draft.id).state == "draft"
    assert {each.key for each in approving.mart.mistakes(ANNA, {**REQUEST, "k": 2})} == {"k"}


def test_a_sent_request_is_never_changed(approving: Services) -> None:
    asked = sent(approving)
    with pytest.raises(Conflict):
        approving.mart.save(ANNA, asked, {**REQUEST, "select": []})
    with pytest.raises(Conflict):
        approving.mart.send(ANNA, asked)
    assert approving.mart.cancel(ANNA, asked).state == "cancelled"  # type: ignore[union-attr]
    with pytest.raises(Conflict):
        approving.mart.approve(CARA, asked)


def test_nothing_is_estimated_where_a_custodian_decides(approving: Services) -> None:
    with pytest.raises(Forbidden):
        approving.mart_results.start_estimate(ANNA, REQUEST)


def test_jobs_of_the_mart_belong_to_no_user(approving: Services) -> None:
    asked = sent(approving)
    request = approving.mart.get(ANNA, asked)
    assert request.preview is not None
    for name in ("anna", "cara", "bert"):
        assert all(not job.task.startswith("mart") for job in approving.jobs.of(name))
        with pytest.raises(NotFound):
            approving.jobs.get(request.preview, name)
    account = Account(f"{OWNER}anna", "", frozenset({"researcher"}))
    settings = replace(approving.settings, users=(account,))
    with pytest.raises(ValueError, match="no user may be called"):
        type(approving.mart)(settings, approving.store, approving.jobs, approving.audit)


def test_the_policy_alone_decides_where_nobody_approves(deciding: Services) -> None:
    asked = deciding.mart.draft(ANNA, {**REQUEST, "format": "parquet"}).id
    assert deciding.mart.send(ANNA, asked).state in ("sent", "running", "released")
    released(deciding, ANNA, asked)
    assert deciding.mart_results.release(ANNA, asked).name == "release.parquet"

    # An overlap with it is refused by the mart, whose text the asker reads.
    asked = deciding.mart.draft(ANNA, {**REQUEST, "select": ["PT = 1", "age > 22"]}).id
    deciding.mart.send(ANNA, asked)
    wait_for(lambda: deciding.mart.get(ANNA, asked).state, "refused", "released", "failed")
    found = deciding.mart.get(ANNA, asked)
    assert found.state == "refused"
    assert found.problem is not None
    assert found.problem["code"] == "overlap"
    assert entries(deciding)[-2:] == ["released", "refused"]


def test_estimates_tell_magnitudes_are_logged_and_limited(deciding: Services) -> None:
    results = deciding.mart_results
    asked = results.start_estimate(EMMA, REQUEST)
    wait_for(lambda: results.estimate(EMMA, asked).state, "done", "failed")
    answer = results.estimate(EMMA, asked).answer
    assert answer is not None
    assert (answer["estimate"]["at_least"], answer["estimate"]["at_most"]) == (10, 99)
    assert entries(deciding)[-1] == "estimated"
    for user in (ANNA, DORA):
        with pytest.raises(NotFound):
            results.estimate(user, asked)
    for _ in range(19):
        deciding.mart.table.add_estimate("emma", most=100, since=0)
    with pytest.raises(Refusal) as refused:
        results.start_estimate(EMMA, REQUEST)
    assert refused.value.code == "too-many-estimates"


def test_a_broken_catalog_is_explained_to_custodians_alone(tmp_path: Path) -> None:
    catalog = write_mart(tmp_path / "mart")
    with server(tmp_path, "never", catalog) as services:
        asked = services.mart.draft(ANNA, REQUEST).id
        (tmp_path / "mart" / "findings.csv").unlink()
        services.mart.send(ANNA, asked)
        wait_for(lambda: services.mart.get(ANNA, asked).state, "refused", "failed")
        found = services.mart.get(ANNA, asked)
        assert found.state == "failed"
        assert found.problem is not None
        assert found.problem["code"] == "broken-mart"
        assert str(tmp_path) not in json.dumps(found.to_dict())
        catalog.write_text('{"mart": 3}')
        with pytest.raises(Refusal) as refused:
            services.mart.view(ANNA)
        assert refused.value.code == "broken-mart"
        with pytest.raises(BadDefinition):
            services.mart.view(CARA)


def test_a_restart_begins_a_request_again_that_was_approved(tmp_path: Path) -> None:
    """Also one whose server ended between the decision and the start of the job."""
    catalog = write_mart(tmp_path / "mart")
    with server(tmp_path, "always", catalog) as services:
        asked = sent(services)
        services.mart.table.change(asked, ("waiting",), state="approved", decided_by="cara")
    with server(tmp_path, "always", catalog) as services:
        assert services.mart.get(ANNA, asked).state in ("approved", "running")
        released(services, ANNA, asked)
        assert entries(services) == ["released"]


def test_a_release_that_was_deleted_says_so(deciding: Services) -> None:
    asked = deciding.mart.draft(BERT, REQUEST).id
    deciding.mart.send(BERT, asked)
    released(deciding, BERT, asked)
    deciding.store.write("DELETE FROM jobs WHERE owner = ?", (f"{OWNER}bert",))
    assert deciding.mart.get(BERT, asked).state == "released"
    with pytest.raises(NotFound, match="deleted"):
        deciding.mart_results.release(BERT, asked)
