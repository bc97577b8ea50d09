"""What a request may ask for: every rule of the policy, checked before any record is read.

Only the largest share of a source needs counts; `check_share` is called once they are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.definition.demands import Diversity, Recursive
from shoal.errors import Refused, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shoal.mart.catalog import Catalog, ColumnRef, Policy, SharedColumn
    from shoal.mart.request import Request


@dataclass(frozen=True)
class BrokenRule:
    """A rule that a request breaks: the key of the request, the rule, and what is allowed."""

    key: str
    rule: str
    remedy: str


def check_request(
    catalog: Catalog, request: Request, asker: str | None, columns: Sequence[ColumnRef]
) -> None:
    """Refuse a request that breaks a rule; the error names every broken rule and what is allowed.

    `columns` are the projected ones. A selected column counts as released with them: whoever asked
    for `Sender = Surgery` knows the sender of every record.
    """
    if broken := broken_rules(catalog, request, asker, columns):
        raise _refused(catalog, broken)


def broken_rules(
    catalog: Catalog, request: Request, asker: str | None, columns: Sequence[ColumnRef]
) -> list[BrokenRule]:
    """Every rule that a request breaks; the columns of its conditions count as released."""
    selected = [catalog.find(condition.column) for condition in request.select]
    released = tuple(dict.fromkeys((*columns, *selected)))
    return [
        *_of_askers(catalog, asker, released),
        *_of_k(catalog.policy, request),
        *_of_suppression(catalog.policy, request),
        *_of_diversity(catalog.policy, request),
        *_of_apart(catalog, released),
    ]


def check_share(catalog: Catalog, source: str, persons: int, of_all: int) -> None:
    """Refuse a release with more than the allowed share of a source's persons.

    The numbers are not told: those of two refused requests that differ in one condition would tell
    of a single person.
    """
    share = catalog.policy.share
    if share is not None and persons > round(share * of_all, 9):
        rule = f"it takes more than {_shown(share)} of the persons of {source!r} (share)"
        raise _refused(catalog, [BrokenRule("select", rule, "select fewer records")])


def demanded_k(catalog: Catalog, request: Request) -> int:
    """The number of persons that each class must have."""
    return catalog.policy.k if request.k is None else max(request.k, catalog.policy.k)


def demanded_diversity(
    catalog: Catalog, request: Request, column: SharedColumn
) -> Diversity | None:
    """What policy, request and column together demand of a sensitive column."""
    return strongest((catalog.policy.diversity, request.diversity, column.diversity))


def strongest(demands: Iterable[Diversity | None]) -> Diversity | None:
    """One demand that implies all the given ones.

    A greater l is stricter in every kind; in (c,l)-diversity so is a smaller c.
    """
    given = [demand for demand in demands if demand is not None]
    if not given:
        return None
    recursive = [demand.recursive for demand in given if demand.recursive is not None]
    return Diversity(
        distinct=max((each.distinct for each in given if each.distinct is not None), default=None),
        entropy=max((each.entropy for each in given if each.entropy is not None), default=None),
        recursive=Recursive(
            c=min(each.c for each in recursive), l=max(each.l for each in recursive)
        )
        if recursive
        else None,
    )


def _refused(catalog: Catalog, broken: Sequence[BrokenRule]) -> Refused:
    rules = "; ".join(each.rule for each in broken)
    return Refused(
        f"the policy of the mart {catalog.name!r} refuses the request: {rules}",
        code="policy",
        hint="; ".join(dict.fromkeys(each.remedy for each in broken)),
    )


def _of_askers(
    catalog: Catalog, asker: str | None, released: Sequence[ColumnRef]
) -> Iterator[BrokenRule]:
    """Who may ask at all, and who may ask for each source; without a list everybody may."""
    lists = {"this mart": catalog.policy.askers}
    for name in dict.fromkeys(ref.source for ref in released):
        lists[f"the source {name!r}"] = catalog.sources[name].askers
    closed = [what for what, allowed in lists.items() if allowed is not None]
    if asker is None and closed:
        yield BrokenRule(
            "asker",
            f"it does not say who asks, and {closed[0]} is not for everybody (askers)",
            "say who asks: `asker: NAME` in the request, or `--asker NAME`",
        )
        return
    for what, allowed in lists.items():
        if allowed is not None and asker not in allowed:
            yield BrokenRule(
                "asker",
                f"{asker!r} may not ask for {what} (askers)",
                "ask for columns of other sources, or ask the owner of the mart to be admitted",
            )


def _of_k(policy: Policy, request: Request) -> Iterator[BrokenRule]:
    if request.k is not None and request.k < policy.k:
        rule = f"k is {request.k}, below {policy.k}"
        yield BrokenRule("k", rule, f"write `k: {policy.k}` or more")


def _of_suppression(policy: Policy, request: Request) -> Iterator[BrokenRule]:
    """A share is compared with a share, a number of records with a number; 0 is always allowed."""
    asked, most = request.suppression, policy.suppression
    if asked == 0:
        return
    if most == 0:
        rule = "it lets records be suppressed, and none may be"
        yield BrokenRule("suppression", rule, "write `suppression: 0`")
    elif isinstance(asked, int) != isinstance(most, int):
        kind = "a number of records" if isinstance(most, int) else "a share of the records"
        yield BrokenRule(
            "suppression",
            f"suppression must be {kind}, as in the policy",
            f"write `suppression: {_shown(most)}` or less",
        )
    elif asked > most:
        yield BrokenRule(
            "suppression",
            f"suppression is {_shown(asked)}, above {_shown(most)}",
            f"write `suppression: {_shown(most)}` or less",
        )


def _shown(suppression: float) -> str:
    return str(suppression) if isinstance(suppression, int) else f"{100 * suppression:.6g}%"


def _of_diversity(policy: Policy, request: Request) -> Iterator[BrokenRule]:
    """A kind that both state must not be weaker in the request; what only one states holds too."""
    asked, least = request.diversity, policy.diversity
    if asked is None or least is None:
        return
    for kind in ("distinct", "entropy"):
        ours, theirs = getattr(least, kind), getattr(asked, kind)
        if ours is not None and theirs is not None and theirs < ours:
            what = f"{kind} diversity is {theirs:g}, below {ours:g}"
            remedy = f"write `{kind}: {ours:g}` or more, or leave it out"
            yield BrokenRule("diversity", what, remedy)
    if asked.recursive is not None and least.recursive is not None:
        ours, theirs = least.recursive, asked.recursive
        if theirs.c > ours.c or theirs.l < ours.l:
            what = f"recursive diversity is weaker than {{c: {ours.c:g}, l: {ours.l}}}"
            remedy = f"write `recursive: {{c: {ours.c:g}, l: {ours.l}}}`, or leave it out"
            yield BrokenRule("diversity", what, remedy)


def _of_apart(catalog: Catalog, released: Sequence[ColumnRef]) -> Iterator[BrokenRule]:
    for group in catalog.policy.apart:
        if {catalog.find(name) for name in group} <= set(released):
            yield BrokenRule(
                "project",
                f"{quoted(group)} are never released together (apart)",
                "leave one of them out, in `project` and in `select`",
            )
