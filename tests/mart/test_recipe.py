"""The recipe of a release: what the log stores is what comes back."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.mart.catalog import ColumnRef
from shoal.mart.conditions import Condition
from shoal.mart.recipe import JOINT, Recipe, ReleasedClass

PT, PN = ColumnRef("findings", "PT"), ColumnRef("findings", "P.N")
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3)
refs = st.builds(ColumnRef, names, names)


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    columns = draw(
        st.dictionaries(
            names, st.lists(refs, min_size=1, max_size=3, unique=True).map(tuple), max_size=3
        )
    )
    classes = {
        name: tuple(
            ReleasedClass(tuple(labels), records, persons)
            for labels, records, persons in draw(
                st.lists(
                    st.tuples(
                        st.lists(st.none() | names, min_size=len(group), max_size=len(group)),
                        st.integers(1),
                        st.integers(1),
                    ),
                    max_size=4,
                )
            )
        )
        for name, group in columns.items()
    }
    return Recipe(
        scope=draw(st.sampled_from(["source", "joint"])),
        k=draw(st.integers(2)),
        sources=tuple(draw(st.lists(names))),
        columns=columns,
        levels=draw(st.dictionaries(refs, st.integers(0))),
        classes=classes,
        conditions=tuple(
            draw(st.lists(st.builds(Condition, column=names, operator=st.just("missing"))))
        ),
        optional=tuple(draw(st.lists(names))),
        complete=draw(st.booleans()),
        rows=draw(st.integers(1)),
        persons=draw(st.integers(1)),
        tied=draw(st.booleans()),
    )


@settings(max_examples=50)
@given(recipe=recipes())
def test_every_recipe_comes_back_from_its_json(recipe: Recipe) -> None:
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe


def test_each_label_is_stored_once() -> None:
    classes = tuple(ReleasedClass(("[1-2]", str(i)), 5, 4) for i in range(10))
    recipe = Recipe(
        scope="joint",
        k=4,
        sources=("findings",),
        columns={JOINT: (PT, PN)},
        levels={PT: 2, PN: 0},
        classes={JOINT: classes},
        rows=50,
        persons=40,
        conditions=(Condition(column="PT", operator="in", values=("1a", "1b")),),
    )
    text = json.dumps(recipe.to_json())
    assert text.count("[1-2]") == 1
    assert Recipe.from_json(json.loads(text)) == recipe
    assert recipe.quasi_identifiers == (PT, PN)
