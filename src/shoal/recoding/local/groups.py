"""Find groups: neighbours, packing, repair and annealing (search/compiled/local*.h), step by step.

Every step is a generator that yields often, so that a caller can look at the clock. Random orders
come from a fixed seed, and threads write only what is theirs: the groups are the same for every
number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from shoal.recoding.local.memory import Memory
from shoal.search.compiled.structures import Array, Arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.recoding.local.prepare import Costs, Prepared
    from shoal.values import Ints

SEED = 20261116
PASSES = 20
"""Orders in which tuples are compared with their neighbours."""

WINDOW, NEAREST = 8, 16
"""How far tuples are compared in an order, and how many of the nearest are listed."""

COSTLY = (0.4, 0.1, 0.02)
"""Shares of the costliest tuples that get more neighbours, `MORE` in each round."""

MORE = 8

BATCH, CLAIMS, REPAIRS = 4096, 8192, 1024
"""Tuples that a thread takes at a time, balls and groups between two looks at the clock."""

LISTS = ("near", "distance", "listed")
"""The arrays that have the neighbours of each tuple."""

ENOUGH = 0.0002
"""Repair ends when a sweep gains less than this share."""

ANNEALED, COOLINGS, HEAT = 0.3, 40, 0.4
"""Annealing moves this share of the tuples, the costliest, at so many temperatures that fall from
this multiple of what a record costs on average."""


@dataclass(eq=False)
class Groups:
    """The groups of one problem, and how they get better."""

    prepared: Prepared
    costs: Costs
    pool: ThreadPoolExecutor
    memory: Memory = field(init=False)
    seed: int = SEED

    def __post_init__(self) -> None:
        self.memory = Memory(self.prepared, self.costs)
        self._random = np.random.default_rng(self.seed)
        self._path = self.prepared.path
        self.memory.call("build")

    @property
    def total(self) -> int:
        """What all records cost, in units."""
        return self.memory.total

    @property
    def group_of(self) -> Ints:
        """The group of each tuple: 0 for suppressed, -1 for none."""
        return self.memory.arrays["group_of"].astype(np.int64)

    @property
    def levels(self) -> NDArray[np.uint8]:
        """The levels of each group."""
        return self.memory.arrays["level"]

    @property
    def paid(self) -> Ints:
        """What a record of each tuple pays now."""
        found: Ints = self.memory.arrays["price"][self.memory.arrays["group_of"]]
        return found

    def set(self, group_of: Ints) -> None:
        """Begin with these groups."""
        self.memory.arrays["group_of"][:] = group_of
        self.memory.call("build")

    def cut(self) -> None:
        """Groups at once: runs of tuples in one order, each as long as it takes to be safe."""
        order = self.memory.arrays["order"]
        self.memory.demand_size(self.prepared.together.packed)
        every = np.arange(len(self._path))
        order[: len(every)] = np.lexsort((self._key(every), *self._labels_at_limits()))
        self.memory.call("cut", len(every))
        self.set(self.group_of)

    def _labels_at_limits(self) -> list[NDArray[np.uint64]]:
        """The labels at the limits of attributes that have several there: tuples with different
        ones may not have one label."""
        highest = [(j, each.steps[0]) for j, each in enumerate(self.prepared.paths)]
        return [self._path[:, j] >> np.uint64(step.shift) for j, step in highest if step.bits]

    def pack(self) -> Iterator[None]:
        """Pack all tuples into groups. Around those that fit nowhere whole groups are merged; one
        that is not safe even so has all tuples that may have a label with it."""
        arrays = self.memory.arrays
        self.memory.demand_size(self.prepared.together.packed)
        self.set(np.full(len(self._path), -1))
        free = np.arange(len(self._path))
        saved: list[tuple[Ints, Arrays]] = []
        while len(free):
            if len(free) < len(self._path):
                saved.append((free, {name: arrays[name][free] for name in LISTS}))
            yield from self.compare(free, NEAREST, fresh=True)
            yield from self._score(free)
            made = 0
            while self.memory.heaped > 0:
                made += self.memory.call("claim", CLAIMS)
                yield
            free = np.flatnonzero(arrays["group_of"] < 0)
            if made == 0:
                break
        yield from self._place(free)
        for tuples, lists in reversed(saved):
            for name, rows in lists.items():
                arrays[name][tuples] = rows

    def _place(self, free: Ints) -> Iterator[None]:
        """Put tuples into their cheapest groups, or merge groups around them."""
        for t in free.tolist():
            if self.memory.arrays["group_of"][t] < 0 and not self.memory.call("join", t):
                while self.memory.call("merge", t):
                    yield
            yield

    def replace(self, tuples: Ints) -> Iterator[None]:
        """Take tuples out of their groups, which must be taken out whole, and find others."""
        group_of = self.group_of
        group_of[tuples] = -1
        self.set(group_of)
        yield from self._place(tuples)

    def _score(self, free: Ints) -> Iterator[None]:
        arrays, number = self.memory.arrays, len(free)
        arrays["order"][:number] = free
        self.memory.call("reach", number)
        yield from self._shared("score", number)
        self.memory.call("heap", number)

    def extend_lists(self) -> Iterator[None]:
        """More neighbours for the tuples that pay most, found among themselves."""
        costly = np.argsort(-self.paid, kind="stable")
        for i, share in enumerate(COSTLY):
            chosen = np.sort(costly[: int(share * len(costly))])
            yield from self.compare(chosen, NEAREST + (i + 1) * MORE, fresh=False)

    def compare(self, tuples: Ints, most: int, *, fresh: bool) -> Iterator[None]:
        """List the nearest of these tuples for each of them."""
        arrays, number = self.memory.arrays, len(tuples)
        if number < 2:
            return
        if fresh:
            arrays["listed"][tuples] = 0
        for _ in range(PASSES):
            arrays["order"][:number] = tuples[np.argsort(self._key(tuples), kind="stable")]
            yield from self._in_batches("compare", number, (number,), (WINDOW, most))
        near, listed = arrays["near"].copy(), arrays["listed"].copy()
        copies = (Array(near.ctypes.data, near.size), Array(listed.ctypes.data, listed.size))
        yield from self._in_batches("compare_neighbours", number, copies, (most,))

    def _key(self, tuples: Ints) -> NDArray[np.uint64]:
        """A key of each of these tuples: the steps of all attributes in a random order, each
        attribute from its highest level down, as many as fit."""
        steps = [[step for step in each.steps if step.bits] for each in self.prepared.paths]
        turns = np.array([j for j, each in enumerate(steps) for _ in each], np.int64)
        self._random.shuffle(turns)
        key, used, taken = np.zeros(len(tuples), np.uint64), 0, [0] * len(steps)
        for j in turns.tolist():
            step = steps[j][taken[j]]
            taken[j] += 1
            if used + step.bits > 64:
                break
            bits = self._path[tuples, j] >> np.uint64(step.shift)
            if step.bits < 64:
                bits &= np.uint64(2**step.bits - 1)
                key <<= np.uint64(step.bits)
            key |= bits
            used += step.bits
        return key

    def _in_batches(
        self, name: str, number: int, before: tuple[object, ...], after: tuple[object, ...]
    ) -> Iterator[None]:
        """Call a function on batches of the order, in threads.

        A caller that goes no further waits for the batches that run: they use the memory.
        """

        def batch(first: int) -> int:
            return self.memory.call(name, *before, first, min(first + BATCH, number), *after)

        work = [self.pool.submit(batch, first) for first in range(0, number, BATCH)]
        try:
            for each in work:
                each.result()
                yield
        finally:
            wait([each for each in work if not each.cancel()])

    def _shared(self, name: str, number: int) -> Iterator[None]:
        """The same; by one thread where groups are tallied in memory that all share."""
        if self.memory.only_sizes:
            yield from self._in_batches(name, number, (), ())
            return
        for first in range(0, number, BATCH):
            self.memory.call(name, first, min(first + BATCH, number))
            yield

    def split(self) -> Iterator[None]:
        """Split groups from the top down, as long as that lowers their cost."""
        arrays = self.memory.arrays
        self.memory.demand_size(self.prepared.together.packed)
        groups = np.flatnonzero(arrays["count"] > 1)
        while len(groups):
            groups = groups[groups > 0]
            arrays["order"][: len(groups)] = groups
            before = arrays["changed"].copy()
            for first in range(0, len(groups), REPAIRS):
                self.memory.call("split", first, min(first + REPAIRS, len(groups)))
                yield
            groups = np.flatnonzero((arrays["changed"] != before) & (arrays["count"] > 1))

    def repair(self) -> Iterator[None]:
        """Sweeps over all groups, the costliest first, until one gains little."""
        arrays = self.memory.arrays
        self.memory.demand_size(self.prepared.k)
        while True:
            before = self.total
            groups = np.flatnonzero(arrays["count"] > 0)
            groups = groups[np.argsort(-arrays["price"][groups], kind="stable")]
            arrays["order"][: len(groups)] = groups
            for first in range(0, len(groups), REPAIRS):
                self.memory.call("repair", first, min(first + REPAIRS, len(groups)))
                yield
            if self.total >= before - before * ENOUGH:
                return

    def anneal(self, steps: int) -> Iterator[None]:
        """Random moves of the costliest tuples, `steps` for each of them, then repair.

        Groups that cost more in the end are given up for those from before.
        """
        arrays, before, total = self.memory.arrays, self.group_of, self.total
        self.memory.demand_size(self.prepared.k)
        chosen = max(1, int(ANNEALED * len(before)))
        arrays["order"][:chosen] = np.argsort(-self.paid, kind="stable")[:chosen]
        average = total / max(int(self.prepared.problem.table.records), 1)
        for i in range(COOLINGS):
            heat = int(average * HEAT * (1 - i / COOLINGS))
            seed = int(self._random.integers(2**62))
            self.memory.call("anneal", chosen, max(1, chosen * steps // COOLINGS), heat, seed)
            yield
        yield from self.repair()
        if self.total > total:
            self.set(before)
