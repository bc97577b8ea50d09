/* A lower bound for all local recodings by prices: the dual.
 *
 * Every record has a price. If in every label the prices of no `k` of its records are in sum above
 * what these records cost there, then the prices of all records are a lower bound: a released group
 * has at least `k` records, the sum over its `k` records with the highest price less cost is at most
 * 0, so the least of these is at most 0, and so are all others. A suppressed record costs UNIT, which
 * no price exceeds.
 *
 * `cap_labels` lowers prices until that holds. It visits the labels by fixing the level of one
 * attribute after the other. A list of tuples that agree in the attributes fixed so far can be left
 * when no `k` of its records are priced above what the fixed attributes cost them: under it, lists
 * only shrink and costs only rise. Lowering a price never breaks another label. Where the effort is
 * spent, the prices of a list are lowered to what the fixed attributes cost. So the result is a
 * bound whatever the effort. All numbers are whole.
 */
#ifndef SHOAL_LOCAL_PRICES_H
#define SHOAL_LOCAL_PRICES_H

#include "local.h"

/* Indices of `done`: tuples visited, labels visited, labels that were too cheap, lists given up. */
enum { VISITED, LABELS, CAPPED, GIVEN_UP, PRICES_DONE };

typedef struct {
    /* Sizes; `levels` pads all hierarchies, `most_ranks` is more than any attribute has. */
    int64_t attributes, tuples, levels, most_ranks, k, effort;
    /* Attributes in the order in which they are fixed. `cost` is that of each code (local.h);
     * `shift[j, l]` bits of a path are below level `l`; `rank[j, t]` orders the codes by paths. */
    Int64s cost_from, codes_of, cost, lowest, limit, ranks, shift;
    UInt64s path;
    UInt32s codes, rank;
    Int64s weights, price;
    /* By depth: the tuples of the current list, what the fixed attributes cost each, and how long
     * the list was that last began at a position. Then space to sort, and the top of a list. */
    Int32s list;
    Int64s paid;
    Int32s run;
    Int64s counted;
    Int32s spare_list;
    Int64s spare_paid, top, done;
} Prices;

/* The most tuples to visit; another thread sets it to 0 to end this soon. */
static inline int64_t effort_of(const Prices *prices) {
    return __atomic_load_n(&prices->effort, __ATOMIC_RELAXED);
}

/* The sum of price less cost of the `k` records of a list where it is highest, which are put into
 * `top`; -1 if the list has fewer records. */
static int64_t top_of_list(const Prices *prices, int64_t depth, int64_t first, int64_t last) {
    const int64_t n = prices->tuples, k = prices->k;
    int64_t found = 0, sum = 0;
    for (int64_t at = first; at < last; at++) {
        const int64_t t = AT(prices->list, depth * n + at);
        const int64_t over = AT(prices->price, t) - AT(prices->paid, depth * n + at);
        for (int64_t i = smaller(AT(prices->weights, t), k); i > 0; i--) {
            if (found == k && over <= AT(prices->top, k - 1)) break;
            if (found == k) {
                sum -= AT(prices->top, k - 1);
            } else {
                found++;
            }
            int64_t place = found - 1;
            for (; place > 0 && AT(prices->top, place - 1) < over; place--) {
                AT(prices->top, place) = AT(prices->top, place - 1);
            }
            AT(prices->top, place) = over;
            sum += over;
        }
    }
    return found < k ? -1 : sum;
}

/* Lower the prices of a list to at most `over` above what its fixed attributes cost. */
static void cap_list(Prices *prices, int64_t depth, int64_t first, int64_t last, int64_t over) {
    const int64_t n = prices->tuples;
    for (int64_t at = first; at < last; at++) {
        int64_t *price = &AT(prices->price, AT(prices->list, depth * n + at));
        *price = smaller(*price, AT(prices->paid, depth * n + at) + over);
    }
}

/* How far the prices in `top` may be above the costs, so that they sum to at most 0: those below
 * the costs leave room for the others, the lowest of them first. */
static int64_t most_over(const Prices *prices) {
    int64_t room = 0, positive = 0;
    while (positive < prices->k && AT(prices->top, positive) > 0) positive++;
    for (int64_t i = positive; i < prices->k; i++) room -= AT(prices->top, i);
    for (; positive > 0; positive--) {
        const int64_t least = AT(prices->top, positive - 1);
        if (least * positive > room) return room / positive;
        room -= least;
    }
    return INT64_MAX;
}

/* Sort a list by the ranks of the attribute at its depth. */
static void sort_list(Prices *prices, int64_t depth, int64_t first, int64_t last) {
    const int64_t n = prices->tuples, row = depth * n, ranks = AT(prices->ranks, depth);
    if (last - first < 24 || ranks > 16 * (last - first)) {
        for (int64_t at = first + 1; at < last; at++) {
            const int32_t t = AT(prices->list, row + at);
            const int64_t paid = AT(prices->paid, row + at);
            int64_t to = at;
            for (; to > first
                   && AT(prices->rank, row + AT(prices->list, row + to - 1))
                       > AT(prices->rank, row + t);
                 to--) {
                AT(prices->list, row + to) = AT(prices->list, row + to - 1);
                AT(prices->paid, row + to) = AT(prices->paid, row + to - 1);
            }
            AT(prices->list, row + to) = t;
            AT(prices->paid, row + to) = paid;
        }
        return;
    }
    for (int64_t i = 0; i <= ranks; i++) AT(prices->counted, i) = 0;
    for (int64_t at = first; at < last; at++) {
        AT(prices->counted, AT(prices->rank, row + AT(prices->list, row + at)) + 1) += 1;
    }
    for (int64_t i = 0; i < ranks; i++) AT(prices->counted, i + 1) += AT(prices->counted, i);
    for (int64_t at = first; at < last; at++) {
        const int32_t t = AT(prices->list, row + at);
        const int64_t to = AT(prices->counted, AT(prices->rank, row + t))++;
        AT(prices->spare_list, to) = t;
        AT(prices->spare_paid, to) = AT(prices->paid, row + at);
    }
    for (int64_t i = 0; i < last - first; i++) {
        AT(prices->list, row + first + i) = AT(prices->spare_list, i);
        AT(prices->paid, row + first + i) = AT(prices->spare_paid, i);
    }
}

static void cap_labels(Prices *prices, int64_t depth, int64_t first, int64_t last);

/* Visit the tuples of a list that agree at a level of the next attribute. */
static void cap_run(Prices *prices, int64_t depth, int64_t first, int64_t last, int64_t level) {
    const int64_t n = prices->tuples, row = depth * n, next = row + n;
    const int64_t base =
        AT(prices->cost_from, depth) + level * AT(prices->codes_of, depth);
    for (int64_t at = first; at < last; at++) {
        const int32_t t = AT(prices->list, row + at);
        AT(prices->list, next + at) = t;
        AT(prices->paid, next + at) =
            AT(prices->paid, row + at) + AT(prices->cost, base + AT(prices->codes, row + t));
    }
    cap_labels(prices, depth + 1, first, last);
}

/* Lower prices until no label under this list is too cheap. A run that is as long as at the level
 * below has the same tuples at a higher cost, so it needs no visit. */
static void cap_labels(Prices *prices, int64_t depth, int64_t first, int64_t last) {
    const int64_t n = prices->tuples, row = depth * n;
    AT(prices->done, VISITED) += last - first;
    if (top_of_list(prices, depth, first, last) <= 0) return;
    if (depth == prices->attributes) {
        AT(prices->done, LABELS) += 1;
        AT(prices->done, CAPPED) += 1;
        cap_list(prices, depth, first, last, most_over(prices));
        return;
    }
    if (AT(prices->done, VISITED) > effort_of(prices)) {
        AT(prices->done, GIVEN_UP) += 1;
        cap_list(prices, depth, first, last, 0);
        return;
    }
    sort_list(prices, depth, first, last);
    for (int64_t at = first; at < last; at++) AT(prices->run, row + at) = 0;
    for (int64_t level = AT(prices->lowest, depth); level <= AT(prices->limit, depth); level++) {
        const int64_t shift = AT(prices->shift, depth * prices->levels + level);
        for (int64_t start = first, end; start < last; start = end) {
            const uint64_t path = AT(prices->path, row + AT(prices->list, row + start)) >> shift;
            for (end = start + 1; end < last; end++) {
                if (AT(prices->path, row + AT(prices->list, row + end)) >> shift != path) break;
            }
            if (AT(prices->run, row + start) == end - start) continue;
            AT(prices->run, row + start) = (int32_t)(end - start);
            cap_run(prices, depth, start, end, level);
        }
    }
}

/* Start with one list of all tuples. */
static void cap_all(Prices *prices) {
    for (int64_t i = 0; i < PRICES_DONE; i++) AT(prices->done, i) = 0;
    for (int64_t t = 0; t < prices->tuples; t++) {
        AT(prices->list, t) = (int32_t)t;
        AT(prices->paid, t) = 0;
    }
    cap_labels(prices, 0, 0, prices->tuples);
}

static bool prices_are_right(const Prices *prices) {
    const int64_t m = prices->attributes, n = prices->tuples, rows = m + 1;
    return m > 0 && m <= MOST_ATTRIBUTES && n > 0 && n < INT32_MAX && prices->k > 0
        && prices->levels > 0 && prices->cost_from.length == m && prices->codes_of.length == m
        && prices->lowest.length == m && prices->limit.length == m && prices->ranks.length == m
        && prices->shift.length == m * prices->levels && prices->path.length == m * n
        && prices->codes.length == m * n && prices->rank.length == m * n
        && prices->weights.length == n && prices->price.length == n
        && prices->list.length == rows * n && prices->paid.length == rows * n
        && prices->run.length == rows * n && prices->counted.length == prices->most_ranks + 1
        && prices->spare_list.length == n && prices->spare_paid.length == n
        && prices->top.length == prices->k && prices->done.length == PRICES_DONE;
}

#endif
