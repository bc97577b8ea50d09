"""The data decides how high some hierarchies are; what a definition says of levels must fit."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import shoal

BIRTHS = {"birth": ["1890-01-02", "1890-03-04", "1990-01-02", "1990-03-04"]}


def anonymize(**keys: Any) -> Any:
    birth = {"role": "quasi-identifier", "hierarchy": {"date": ["year", "century"]}, **keys}
    return shoal.anonymize(pa.table(BIRTHS), {}, k=2, attributes={"birth": birth}, loss="weighted")


def test_a_loss_for_each_level_is_taken() -> None:
    assert anonymize(**{"information loss": [0, 0.2, 0.6, 1]}).num_rows == 4


def test_losses_that_are_not_one_for_each_level_of_the_data_are_refused() -> None:
    with pytest.raises(shoal.BadData, match="3 numbers, but on this data") as error:
        anonymize(**{"information loss": [0, 0.2, 0.6]})
    assert error.value.code == "losses-of-levels"
