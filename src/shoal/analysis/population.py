"""How many people are unique in the population that a table was drawn from? Four estimators.

All of them see only the class sizes of the sample: `classes[s]` classes of `s` records. With n
records in u classes, a population of N people and the sampling fraction p = n / N:

- Zayatz: the share of sample uniques that are population uniques, by Bayes' rule with
  hypergeometric sampling.
- Pitman (Hoshino 2001): the Ewens-Pitman model, fitted by maximum likelihood. The expectation is
  the exact one for N people, not its limit for large N.
- SNB (Chen and Keller-McNulty 1998): the shifted negative binomial model, fitted to the numbers of
  uniques and twins. The number of population classes is Shlosser's estimate.
- Dankar et al. 2012: a rule that picks one of them by the sampling fraction.

Where an estimator has no answer, it says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

SMALL_FRACTION = 0.1
"""Up to this sampling fraction, Dankar's rule trusts Pitman's model."""

TOLERANCE = 1e-9
"""Relative error at which an equation counts as solved."""


@dataclass(frozen=True)
class Sample:
    """The class sizes of a sample, and the size of the population it was drawn from."""

    classes: Mapping[int, int]
    population: int

    @property
    def records(self) -> int:
        return sum(size * number for size, number in self.classes.items())

    @property
    def number(self) -> int:
        """The number of classes."""
        return sum(self.classes.values())

    @property
    def fraction(self) -> float:
        return self.records / self.population

    def of_size(self, size: int) -> int:
        return self.classes.get(size, 0)


@dataclass(frozen=True)
class Estimate:
    """Population uniques by one estimator: a number of people, or the reason why there is none."""

    uniques: float | None
    reason: str = ""


@dataclass(frozen=True)
class Estimates:
    """All estimators; `dankar_uses` names the one that Dankar's rule picked."""

    zayatz: Estimate
    pitman: Estimate
    snb: Estimate
    dankar: Estimate
    dankar_uses: str


def estimate(sample: Sample) -> Estimates:
    """Population uniques by every estimator.

    Without sample uniques all say 0: a population unique in the sample is unique there too, and
    nothing is known of people outside of it.
    """
    if not sample.of_size(1):
        none = Estimate(0.0, "no record of the sample is unique")
        return Estimates(none, none, none, none, "")
    found = {"zayatz": zayatz(sample), "pitman": pitman(sample), "snb": snb(sample)}
    chosen = _dankar(sample, found)
    return Estimates(**found, dankar=found[chosen], dankar_uses=chosen)


def _dankar(sample: Sample, found: Mapping[str, Estimate]) -> str:
    """Small fractions: Pitman, else Zayatz. Larger ones: the smaller of Zayatz and SNB."""
    if sample.fraction <= SMALL_FRACTION * (1 + TOLERANCE):
        return "zayatz" if found["pitman"].uniques is None else "pitman"
    other, own = found["snb"].uniques, found["zayatz"].uniques
    return "snb" if other is not None and own is not None and other < own else "zayatz"


def zayatz(sample: Sample) -> Estimate:
    """c_1 / p times the probability that a sample unique comes from a population class of one.

    A population class of s people gives exactly one record with the hypergeometric probability
    P_s. The shares of class sizes in the population are taken from the sample.
    """
    weights = {
        size: number * _one_drawn(size, sample.records, sample.population)
        for size, number in sample.classes.items()
    }
    share = weights[1] / sum(weights.values())
    return Estimate(sample.of_size(1) * share / sample.fraction)


def _one_drawn(marked: int, drawn: int, everybody: int) -> float:
    """The probability that exactly one of the marked people is drawn."""
    rest = everybody - marked
    if drawn - 1 > rest or drawn < 1:
        return 0.0
    return math.exp(
        math.log(marked) + _log_binomial(rest, drawn - 1) - _log_binomial(everybody, drawn)
    )


def _log_binomial(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def pitman(sample: Sample) -> Estimate:
    """The expected uniques among N people of the Ewens-Pitman model fitted to the sample."""
    fitted = fit_pitman(sample)
    if fitted is None:
        return Estimate(None, "the likelihood of Pitman's model has no maximum with 0 < alpha < 1")
    theta, alpha = fitted
    everybody = sample.population
    logarithm = (
        math.log(everybody)
        + math.lgamma(theta + 1)
        - math.lgamma(theta + alpha)
        + _log_gamma_ratio(everybody + theta, alpha - 1)
    )
    return Estimate(min(math.exp(logarithm), float(everybody)))


def _log_gamma_ratio(x: float, step: float) -> float:
    """log of Gamma(x + step) / Gamma(x), without loss of digits for large x (Stirling)."""
    if x < 1e6:
        return math.lgamma(x + step) - math.lgamma(x)
    y = x + step
    return (y - 0.5) * math.log1p(step / x) + step * math.log(x) - step + (1 / y - 1 / x) / 12


def fit_pitman(sample: Sample) -> tuple[float, float] | None:
    """theta and alpha of greatest likelihood, or None.

    For a fixed alpha the derivative by theta changes its sign once, so theta is found by bisection.
    Along these the derivative by alpha is followed to its change of sign, by bisection again.
    """

    def best_theta(alpha: float) -> float | None:
        return _falling_root(lambda theta: _by_theta(sample, theta, alpha), 1e-9, 1e15)

    def slope(alpha: float) -> float | None:
        theta = best_theta(alpha)
        return None if theta is None else _by_alpha(sample, theta, alpha)

    low, high = 1e-4, 1 - 1e-6
    at_low, at_high = slope(low), slope(high)
    if at_low is None or at_low <= 0 or (at_high is not None and at_high >= 0):
        return None
    alpha = _change_of_sign(slope, low, high, positive=True)
    theta = best_theta(alpha)
    return None if theta is None else (theta, alpha)


def _by_theta(sample: Sample, theta: float, alpha: float) -> float:
    """The derivative of the log-likelihood by theta."""
    return _sum_of_classes(sample, theta, alpha) - (
        digamma(theta + sample.records) - digamma(theta + 1)
    )


def _by_alpha(sample: Sample, theta: float, alpha: float) -> float:
    """The derivative of the log-likelihood by alpha."""
    rising = (sample.number - 1 - theta * _sum_of_classes(sample, theta, alpha)) / alpha
    base = digamma(1 - alpha)
    falling = sum(
        number * (digamma(size - alpha) - base)
        for size, number in sample.classes.items()
        if size > 1
    )
    return rising - falling


def _sum_of_classes(sample: Sample, theta: float, alpha: float) -> float:
    """The sum of 1 / (theta + i alpha) for i from 1 to the number of classes less one."""
    start = theta / alpha
    return (digamma(start + sample.number) - digamma(start + 1)) / alpha


def _falling_root(function: Callable[[float], float], low: float, high: float) -> float | None:
    """Where a function that is positive first and negative then changes its sign."""
    if function(low) <= 0 or function(high) >= 0:
        return None
    for _ in range(200):
        middle = math.sqrt(low * high)
        if function(middle) > 0:
            low = middle
        else:
            high = middle
        if high <= low * (1 + 1e-15):
            break
    return low


def digamma(x: float) -> float:
    """The derivative of log Gamma, for x > 0: raised above 10, then the asymptotic series."""
    total = 0.0
    while x < 10:
        total -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240))))
    return total + math.log(x) - 0.5 / x - series


def snb(sample: Sample) -> Estimate:
    """K b^a of the shifted negative binomial model whose expected uniques and twins are seen."""
    if not sample.of_size(2):
        return Estimate(None, "the sample has no class of two records, which the SNB model needs")
    if sample.fraction >= 1:
        return Estimate(float(sample.of_size(1)))
    number = shlosser(sample)
    roots = list(fit_snb(sample, number))
    if not roots:
        return Estimate(None, "the equations of the SNB model have no solution")
    uniques = {round(number * math.exp(a * math.log(b)), 6) for a, b in roots}
    if len(uniques) > 1:
        return Estimate(None, "the equations of the SNB model have several solutions")
    return Estimate(min(uniques.pop(), float(sample.population)))


def shlosser(sample: Sample) -> float:
    """The number of classes in the population (Haas and Stokes 1998)."""
    p, classes = sample.fraction, sample.classes.items()
    q = 1 - p
    first = sum(s * p * p * (1 - p * p) ** (s - 1) * c for s, c in classes)
    first /= sum(q**s * ((1 + p) ** s - 1) * c for s, c in classes)
    second = sum(q**s * c for s, c in classes) / sum(s * p * q ** (s - 1) * c for s, c in classes)
    return sample.number + sample.of_size(1) * first * second * second


def fit_snb(sample: Sample, number: float) -> Iterator[tuple[float, float]]:
    """All (a, b) with the expected uniques and twins of the sample, for a number of classes K.

    For each b the first equation has at most two solutions a, since the logarithm of its right side
    is concave in a. Along each of these two branches the second equation is followed over a grid
    of b, and every change of sign is bisected.
    """
    grid = [1 / (1 + math.exp(-x / 8)) for x in range(-200, 161)]
    for upper in (False, True):

        def excess(b: float, upper: bool = upper) -> float | None:
            a = _shape(sample, number, b, upper=upper)
            return None if a is None else _twins(sample, number, a, b)

        for left, right in pairwise(grid):
            ends = _ends(excess, left, right)
            before, after = (excess(end) for end in ends) if ends else (None, None)
            if not ends or before is None or after is None or (before > 0) == (after > 0):
                continue
            b = _change_of_sign(excess, *ends, positive=before > 0)
            a = _shape(sample, number, b, upper=upper)
            if a is not None and abs(_twins(sample, number, a, b)) < 1e-6:
                yield a, b


def _ends(
    function: Callable[[float], float | None], low: float, high: float
) -> tuple[float, float] | tuple[()]:
    """The part of an interval in which a function has values, where it has them at one end."""
    at_low, at_high = function(low), function(high)
    if at_low is None and at_high is None:
        return ()
    if at_low is not None and at_high is not None:
        return low, high
    inside, outside = (low, high) if at_high is None else (high, low)
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if function(middle) is None else (middle, outside)
    return (low, inside) if at_high is None else (inside, high)


def _change_of_sign(
    function: Callable[[float], float | None], low: float, high: float, *, positive: bool
) -> float:
    for _ in range(200):
        middle = (low + high) / 2
        value = function(middle)
        if value is not None and (value > 0) == positive:
            low = middle
        else:
            high = middle
    return low


def _shape(sample: Sample, number: float, b: float, *, upper: bool) -> float | None:
    """The a below (or above) the greatest value of the first equation that solves it, if any."""
    p = sample.fraction
    d = (1 - p) * (1 - b)
    ratio, odds = math.log(b) - math.log1p(-d), d / (1 - d)
    target = math.log(sample.of_size(1)) - math.log(number * p)

    def excess(a: float) -> float:
        return a * ratio + math.log1p(a * odds) - target

    peak = max(-1 / ratio - 1 / odds, 0.0)
    if excess(peak) < 0:
        return None
    low, high = peak, max(2 * peak, 1.0)
    if upper:
        while excess(high) > 0:
            high *= 2
    else:
        low, high = peak, 0.0
        if excess(0.0) > 0:
            return None
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return low


def _twins(sample: Sample, number: float, a: float, b: float) -> float:
    """The logarithm of the expected twins over those of the sample."""
    p = sample.fraction
    d = (1 - p) * (1 - b)
    return (
        math.log(number * a)
        + a * math.log(b)
        + 2 * math.log(p)
        + math.log1p(-b)
        + math.log(2 - (1 - a) * d)
        - math.log(2)
        - (a + 2) * math.log1p(-d)
        - math.log(sample.of_size(2))
    )
