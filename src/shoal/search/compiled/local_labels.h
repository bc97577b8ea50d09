/* A lower bound record by record: a released record shares its label with `k` records, itself
 * included, so it costs at least what the cheapest such label costs.
 *
 * That label is sought among all tuples within a radius (local_sets.h). A label with any other tuple
 * costs at least the distance to it, so their cheapest label, or the radius, is a bound.
 *
 * Attributes are fixed one after the other, each to a level. The tuples that agree with the first one
 * at the levels fixed so far are left. A label under such a branch costs at least what the fixed
 * attributes cost, plus what the rest of the attributes costs for the nearest tuples that make `k`
 * records: one of these, or one that is no nearer, is under the label. The branch of the least bound
 * is followed first, so the first that has all attributes fixed is the cheapest label. Where the
 * effort is spent, the least bound of an open branch counts.
 *
 * An attribute at whose level all nearest tuples agree is no branch. Levels beyond MOST_STEPS are put
 * together: with the tuples of the highest and the cost of the lowest of them. */
#ifndef SHOAL_LOCAL_LABELS_H
#define SHOAL_LOCAL_LABELS_H

#include "local_sets.h"

/* Most levels of an attribute that branches tell apart, and most words of a set of near tuples. */
enum { MOST_STEPS = 16, MOST_WORDS = 8 };

/* The levels of attribute `j` at which the nearest tuples agree with tuple `t`; how much they cost
 * above the lowest level, in sum. */
static int64_t meet_nearest(const Labels *labels, Around *around, int64_t t, int64_t j,
                            int64_t count) {
    const int64_t m = labels->attributes;
    const int64_t lowest = row_at(labels, around, j, AT(labels->lowest, j));
    int64_t sum = 0;
    for (int64_t s = 0; s < count; s++) {
        const int64_t u = AT(around->near, s);
        const uint64_t different = AT(labels->path, t * m + j) ^ AT(labels->path, u * m + j);
        const uint8_t level = AT(labels->level_of_bit, j * 65 + highest_bit(different));
        AT(around->level, j * around->most + s) = level;
        sum += row_at(labels, around, j, level) - lowest;
    }
    return sum;
}

static inline void add_to_set(UInt64s set, int64_t s) {
    AT(set, s / 64) |= (uint64_t)1 << (s % 64);
}

/* The steps of attribute `j`: rising levels, what each costs, and the tuples that agree there. */
static void set_steps(const Labels *labels, Around *around, int64_t j, int64_t count) {
    const int64_t words = around->words;
    int64_t steps = 0, level = AT(labels->lowest, j);
    while (level <= AT(labels->limit, j)) {
        int64_t next = AT(labels->limit, j) + 1;
        const int64_t at = smaller(steps, MOST_STEPS - 1);
        const UInt64s set = ROW(around->step_set, j * MOST_STEPS + at, words);
        if (steps < MOST_STEPS) {
            AT(around->step_cost, j * MOST_STEPS + at) = row_at(labels, around, j, level);
            steps++;
        }
        for (int64_t w = 0; w < words; w++) AT(set, w) = 0;
        for (int64_t s = 0; s < count; s++) {
            const int64_t met = AT(around->level, j * around->most + s);
            if (met <= level) {
                add_to_set(set, s);
            } else {
                next = smaller(next, met);
            }
        }
        level = next;
    }
    AT(around->steps, j) = steps;
}

/* The attributes with several levels, the one first that costs the nearest tuples most; how many.
 * `fixed` is what the others cost. */
static int64_t order_attributes(const Labels *labels, Around *around, int64_t t, int64_t count,
                                int64_t *fixed) {
    int64_t chosen = 0, cost[MOST_ATTRIBUTES];
    *fixed = 0;
    for (int64_t j = 0; j < labels->attributes; j++) {
        const int64_t above = meet_nearest(labels, around, t, j, count);
        if (above == 0) {
            *fixed += row_at(labels, around, j, AT(labels->lowest, j));
            continue;
        }
        set_steps(labels, around, j, count);
        int64_t at = chosen++;
        for (; at > 0 && cost[at - 1] < above; at--) {
            cost[at] = cost[at - 1];
            AT(around->order, at) = AT(around->order, at - 1);
        }
        cost[at] = above;
        AT(around->order, at) = (int32_t)j;
    }
    return chosen;
}

/* `rest[d, s]` is what the attributes from depth `d` on cost under the label with tuple `s`. */
static void sum_rest(const Labels *labels, Around *around, int64_t depths, int64_t count) {
    for (int64_t s = 0; s < count; s++) AT(around->rest, depths * around->most + s) = 0;
    for (int64_t d = depths; d-- > 0;) {
        const int64_t j = AT(around->order, d);
        for (int64_t s = 0; s < count; s++) {
            const int64_t level = AT(around->level, j * around->most + s);
            AT(around->rest, d * around->most + s) =
                AT(around->rest, (d + 1) * around->most + s) + row_at(labels, around, j, level);
        }
    }
}

/* The least rest with which the tuples of a set make `need` records; -1 if they are fewer. */
static int64_t rest_of_set(const Labels *labels, Around *around, UInt64s set, int64_t depth,
                           int64_t need) {
    int64_t found = 0;
    if (need <= 0) return 0;
    for (int64_t w = 0; w < around->words; w++) {
        for (uint64_t left = AT(set, w); left != 0; left &= left - 1) {
            const int64_t s = w * 64 + __builtin_ctzll(left);
            const int64_t rest = AT(around->rest, depth * around->most + s);
            int64_t records = smaller(AT(labels->weights, AT(around->near, s)), need);
            for (; records > 0; records--) {
                if (found == need && rest >= AT(around->top, need - 1)) break;
                int64_t at = found < need ? found++ : need - 1;
                for (; at > 0 && AT(around->top, at - 1) > rest; at--) {
                    AT(around->top, at) = AT(around->top, at - 1);
                }
                AT(around->top, at) = rest;
            }
        }
    }
    return found < need ? -1 : AT(around->top, need - 1);
}

/* Whether the branch at `a` comes before a branch: a lower bound, else more attributes fixed. */
static inline bool branch_before(const Around *around, int64_t a, int64_t bound, int64_t depth) {
    const int64_t other = AT(around->open_bound, a);
    return other < bound || (other == bound && AT(around->open_depth, a) >= depth);
}

static void set_branch(Around *around, int64_t to, int64_t bound, int64_t cost, int64_t depth,
                       UInt64s set) {
    AT(around->open_bound, to) = bound;
    AT(around->open_cost, to) = cost;
    AT(around->open_depth, to) = (int32_t)depth;
    for (int64_t w = 0; w < around->words; w++) {
        AT(around->open_set, to * around->words + w) = AT(set, w);
    }
}

static void copy_branch(Around *around, int64_t to, int64_t from) {
    set_branch(around, to, AT(around->open_bound, from), AT(around->open_cost, from),
               AT(around->open_depth, from), ROW(around->open_set, from, around->words));
}

/* A heap of open branches; one place behind its end is used to move them. */
static void push_branch(Around *around, int64_t *open, int64_t bound, int64_t cost, int64_t depth,
                        UInt64s set) {
    int64_t at = (*open)++;
    for (; at > 0 && !branch_before(around, (at - 1) / 2, bound, depth); at = (at - 1) / 2) {
        copy_branch(around, at, (at - 1) / 2);
    }
    set_branch(around, at, bound, cost, depth, set);
}

/* Move the first branch behind the end of the heap; where it is. */
static int64_t pop_branch(Around *around, int64_t *open) {
    const int64_t last = --(*open), spare = around->branches - 1;
    int64_t at = 0;
    copy_branch(around, spare, 0);
    if (last == 0) return spare;
    const int64_t bound = AT(around->open_bound, last), depth = AT(around->open_depth, last);
    for (int64_t child = 1; child < last; child = 2 * at + 1) {
        if (child + 1 < last
            && branch_before(around, child + 1, AT(around->open_bound, child),
                             AT(around->open_depth, child))) {
            child++;
        }
        if (!branch_before(around, child, bound, depth)) break;
        copy_branch(around, at, child);
        at = child;
    }
    copy_branch(around, at, last);
    return spare;
}

/* Follow a branch: fix its next attribute to each of its levels. A level at which the same tuples
 * agree as below costs no less, so it is left out. */
static void follow(const Labels *labels, Around *around, int64_t *open, int64_t from, int64_t need,
                   int64_t most) {
    const int64_t words = around->words, depth = AT(around->open_depth, from);
    const int64_t j = AT(around->order, depth);
    const UInt64s set = ROW(around->open_set, from, words);
    int64_t before = -1;
    for (int64_t i = 0; i < AT(around->steps, j); i++) {
        const UInt64s step = ROW(around->step_set, j * MOST_STEPS + i, words);
        uint64_t held[MOST_WORDS];
        int64_t count = 0;
        for (int64_t w = 0; w < words; w++) {
            held[w] = AT(set, w) & AT(step, w);
            count += __builtin_popcountll(held[w]);
        }
        if (count == before) continue;
        before = count;
        const UInt64s left = {held, words};
        const int64_t rest = rest_of_set(labels, around, left, depth + 1, need);
        const int64_t cost =
            AT(around->open_cost, from) + AT(around->step_cost, j * MOST_STEPS + i);
        if (rest >= 0 && cost + rest < most) {
            push_branch(around, open, cost + rest, cost, depth + 1, left);
        }
    }
}

/* What the cheapest label costs with `need` records of the first `count` nearest tuples; at most
 * `most`. */
static int64_t cheapest_label(const Labels *labels, Around *around, int64_t t, int64_t count,
                              int64_t need, int64_t most) {
    int64_t fixed, open = 0;
    const int64_t depths = order_attributes(labels, around, t, count, &fixed);
    sum_rest(labels, around, depths, count);
    uint64_t held[MOST_WORDS] = {0};
    const UInt64s every = {held, around->words};
    for (int64_t s = 0; s < count; s++) add_to_set(every, s);
    const int64_t rest = rest_of_set(labels, around, every, 0, need);
    if (rest < 0 || fixed + rest >= most) return most;
    push_branch(around, &open, fixed + rest, fixed, 0, every);
    for (int64_t followed = 0; open > 0; followed++) {
        const int64_t from = pop_branch(around, &open), bound = AT(around->open_bound, from);
        if (AT(around->open_depth, from) == depths || followed >= labels->effort
            || open + MOST_STEPS >= around->branches) {
            return bound;
        }
        follow(labels, around, &open, from, need, most);
    }
    return most;
}

/* What a record of a tuple costs at least, where it is known to cost at most `most`. */
static int64_t least_of_label(const Labels *labels, Around *around, int64_t t, int64_t most) {
    const int64_t own = set_row(labels, around, t), need = labels->k - AT(labels->weights, t);
    int64_t known;
    if (need <= 0 || own >= most) return smaller(own, most);
    const int64_t near = find_near(labels, around, t, most - own, &known);
    return cheapest_label(labels, around, t, near, need, own + known);
}

static bool around_is_right(const Labels *labels, const Around *around) {
    const int64_t m = labels->attributes, most = around->most, words = around->words;
    const int64_t blocks = (labels->words + BLOCK - 1) / BLOCK, open = around->branches;
    return words > 0 && words <= MOST_WORDS && most == words * 64 && open > MOST_STEPS
        && around->row.length == m * (labels->levels + 1)
        && around->digits.length == blocks * DIGITS * BLOCK
        && around->far.length == labels->words && around->near.length == most
        && around->level.length == m * most && around->rest.length == (m + 1) * most
        && around->order.length == m && around->steps.length == m
        && around->step_cost.length == m * MOST_STEPS
        && around->step_set.length == m * MOST_STEPS * words
        && around->open_bound.length == open && around->open_cost.length == open
        && around->open_depth.length == open && around->open_set.length == open * words
        && around->top.length == labels->k;
}

#endif
