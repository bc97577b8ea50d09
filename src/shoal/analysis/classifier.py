"""Can a column still be predicted? A classifier trained on the release against one of the source.

Both are logistic regressions (scikit-learn) on the quasi-identifiers as categories, values that few
records have taken together. Both learn from the same records of each fold and are tested on the
same other records. The first one learns and is tested with original values. The second one learns
from the records of the fold that are in the release, with the labels of the release; the records it
is tested on are generalized to the same levels, suppressed ones included, since those who use the
release want to predict for everybody. So what generalization and suppression cost is the difference
of two accuracies on the same records. The baseline always predicts the most frequent value.

A target that is a quasi-identifier itself is predicted at its level of the release by both, from
the other ones. Records without a value of the target are left out. Records come from counts, in the
order of their values, so a seed gives the same folds on every engine.
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.collapse.read import budget
from shoal.encode.rows import column_of, number_rows, weights_of
from shoal.encode.table import code_of
from shoal.engines.failures import unknown_column
from shoal.errors import BadData, MissingExtra, UserError

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.analysis.released import Measured
    from shoal.definition.model import Definition
    from shoal.values import Bools, Ints

FOLDS, SEED = 5, 20_260_101
MOST_RECORDS = 50_000
"""Larger tables are sampled down to so many records."""
RARE = 5
"""Values that fewer records of those to learn from have count as one value."""
MOST_VALUES = 100
"""A target with more different values is refused."""


@dataclass(frozen=True)
class Accuracy:
    """The share of right predictions: on average over the folds, and in each."""

    mean: float
    folds: tuple[float, ...]


@dataclass(frozen=True)
class Classification:
    """How well a target is predicted, by whom.

    `records` are those used: a sample where there were more, `available`.
    """

    target: str
    features: tuple[str, ...]
    values: int
    records: int
    available: int
    seed: int
    baseline: Accuracy
    original: Accuracy
    release: Accuracy


def check_target(definition: Definition, target: str) -> None:
    """Refuse, before anything is read, a target that is not released, or no scikit-learn."""
    released = definition.names("quasi-identifier", "sensitive", "keep")
    if target not in definition.attributes and definition.others != "keep":
        raise unknown_column(target, "the definition", tuple(definition.attributes))
    if target in definition.attributes and target not in released:
        raise UserError(
            f"the target {target!r} is not released, so no release can predict it",
            code="bad-target",
            hint="name a column with the role sensitive, keep or quasi-identifier",
        )
    if definition.quasi_identifiers == (target,):
        raise UserError(
            f"the target {target!r} is the only quasi-identifier, so nothing is left to predict it",
            code="bad-target",
            hint="name another column",
        )
    if find_spec("sklearn") is None:
        raise MissingExtra(
            "a classifier needs scikit-learn, which is not installed",
            code="missing-driver",
            hint="pip install 'shoal[ml]', or leave out the target",
        )


def classify(measured: Measured, target: str) -> Classification:
    """The accuracies for a target, by cross-validation."""
    rows = _Rows.of(measured, target)
    available = int(rows.weights.sum())
    records = rows.sample(np.random.default_rng(SEED))
    if rows.values < 2 or len(records) < FOLDS:
        raise BadData(
            f"the target {target!r} has fewer than two values in the release, or too few records",
            code="bad-target",
            hint="name a column with several values",
        )
    fold = np.random.default_rng(SEED).permutation(len(records)) % FOLDS
    with _one_thread():
        accuracies = np.array([rows.accuracies(records, fold == number) for number in range(FOLDS)])
    baseline, original, release = (
        Accuracy(float(column.mean()), tuple(column.tolist())) for column in accuracies.T
    )
    return Classification(
        target,
        rows.features,
        rows.values,
        len(records),
        available,
        SEED,
        baseline,
        original,
        release,
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Distinct combinations: values and labels of the features, the target, whether released."""

    features: tuple[str, ...]
    original: Ints
    generalized: Ints
    target: Ints
    values: int
    weights: Ints
    kept: Bools

    @classmethod
    def of(cls, measured: Measured, target: str) -> _Rows:
        """Count the source by the quasi-identifiers and the target."""
        table, names = measured.table, measured.prepared.definition.quasi_identifiers
        counted = _counted(measured, target)
        codes = []
        for attribute in table.attributes:
            column = column_of(counted, attribute.name)
            codes.append(code_of(attribute, list(column.counts))[column.rows])
        groups = [
            attribute.groups[level][each]
            for attribute, level, each in zip(table.attributes, measured.node, codes, strict=True)
        ]
        if target in names:
            index = names.index(target)
            attribute, level = table.attributes[index], measured.node[index]
            number, values = groups[index], len(attribute.hierarchy.labels[level])
        else:
            column = column_of(counted, target)
            number, values = column.rows, len(column.counts)
        if values > MOST_VALUES:
            raise BadData(
                f"the target {target!r} has {values:,} values, and {MOST_VALUES} are the most",
                code="bad-target",
                hint="name a column with fewer values",
            )
        chosen = [j for j, name in enumerate(names) if name != target]
        there = number < values
        return cls(
            tuple(names[j] for j in chosen),
            np.stack([codes[j] for j in chosen], axis=1)[there],
            np.stack([groups[j] for j in chosen], axis=1)[there],
            number[there],
            len(np.unique(number[there])),
            weights_of(counted)[there],
            _released(measured, groups)[there],
        )

    def sample(self, random: np.random.Generator) -> Ints:
        """The row of each record; a sample without replacement where there are too many."""
        weights = self.weights
        if int(weights.sum()) > MOST_RECORDS:
            weights = random.multivariate_hypergeometric(weights, MOST_RECORDS, method="marginals")
        return np.repeat(np.arange(len(weights)), weights)

    def accuracies(self, records: Ints, tested: Bools) -> tuple[float, float, float]:
        """Of the baseline, of original values and of the release, for one fold."""
        learnt, test = records[~tested], records[tested]
        right = self.target[test]
        most_frequent = int(np.bincount(self.target[learnt]).argmax())
        released = learnt[self.kept[learnt]]
        return (
            float((right == most_frequent).mean()),
            float((self._predict(self.original, learnt, test) == right).mean()),
            float((self._predict(self.generalized, released, test) == right).mean()),
        )

    def _predict(self, features: Ints, learnt: Ints, test: Ints) -> Ints:
        """What a model that learnt from some records says of others; -1 where it learnt nothing."""
        if not len(learnt):
            return np.full(len(test), -1, dtype=np.int64)
        features = _without_rare(features, learnt)
        rows = np.column_stack([features[learnt], self.target[learnt]])
        distinct, times = np.unique(rows, axis=0, return_counts=True)
        if len(np.unique(distinct[:, -1])) == 1:
            return np.full(len(test), distinct[0, -1], dtype=np.int64)
        model = _model()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fit that ends at its limit of steps is a fit too
            model.fit(distinct[:, :-1], distinct[:, -1], logisticregression__sample_weight=times)
        tested, again = np.unique(features[test], axis=0, return_inverse=True)
        predicted: Ints = model.predict(tested)[again.reshape(-1)]
        return predicted


def _without_rare(features: Ints, learnt: Ints) -> Ints:
    """The features with one number for all values that few of the records to learn from have."""
    columns = []
    for column in features.T:
        numbers = np.bincount(column[learnt], minlength=int(column.max()) + 1)
        columns.append(np.where(numbers[column] < RARE, len(numbers), column))
    return np.stack(columns, axis=1)


def _one_thread() -> AbstractContextManager[object]:
    """Let the linear algebra use one thread: several ones are slower on problems of this size."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


def _model() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    return make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=100))


def _counted(measured: Measured, target: str) -> pa.Table:
    """The combinations of the quasi-identifiers and the target in the source, in their order."""
    definition = measured.prepared.definition
    if target not in {column.name for column in measured.source.columns()}:
        known = [column.name for column in measured.source.columns()]
        raise unknown_column(target, measured.source.name, known)
    names = definition.quasi_identifiers
    columns = tuple(dict.fromkeys((*names, target)))
    complete = names if definition.missing.match == "basic" else ()
    most = budget(definition)
    counted = measured.source.count_by(
        columns, definition.missing.values, complete=complete, at_most=most
    )
    if counted.num_rows > most:
        raise BadData(
            f"there are more than {most:,} combinations of the quasi-identifiers and {target!r}, "
            "and no more may be read",
            code="too-many-tuples",
            hint="allow more with `engine: {tuples: ...}`, or leave out the target",
        )
    return counted.sort_by([(name, "ascending") for name in columns])


def _released(measured: Measured, groups: list[Ints]) -> Bools:
    """Whether the class of each counted row is in the release, from its groups."""
    table, classes = measured.table, measured.classes
    of_tuples = [
        attribute.groups[level][codes]
        for attribute, codes, level in zip(
            table.attributes, table.codes, measured.node, strict=True
        )
    ]
    sizes = [
        len(attribute.hierarchy.labels[level]) + 1
        for attribute, level in zip(table.attributes, measured.node, strict=True)
    ]
    joined = [np.append(a, b) for a, b in zip(of_tuples, groups, strict=True)]
    number, found = number_rows(joined, sizes)
    kept = np.zeros(found, dtype=np.bool_)
    kept[number[: table.tuples]] = classes.kept[classes.class_of]
    return kept[number[table.tuples :]]
