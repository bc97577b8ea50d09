/* Which attributes can fall together?
 *
 * The bounds of bounds.h let every attribute fall to its cheapest level as if the others stayed at
 * `hi`. Here sets of attributes are looked at. Let `D(j)` be the records that attribute `j` drops
 * one level below `hi`. At a node of the box some attributes, `F`, are below `hi` and others, `S`,
 * are at `hi`. The classes of the node are parts of those that each `D(j)` was counted in, so all
 * records of the union of `D(j)` over `F` are removed there, and in the union none counts twice:
 *
 * 4. If the removed records and the union are above the limit, no node has `F` below `hi`.
 * 5. The union pays for every attribute: for a fixed one its charge there, for one in `S` its
 *    charge at `hi`, for one in `F` its charge one level below `hi`, since charges only rise as a
 *    level falls. For an attribute in `F` this holds beside `g(j, l)` of bound 2: the larger counts.
 *
 * Every node of the box is in one of the boxes of such pairs of `F` and `S`. If none is left, the
 * box is closed; if an attribute is in no `F` that is left it stays at `hi`, and if it is in no `S`
 * it falls. A closed pair is a box of its own, with `hi` one lower in `F` and `lo` raised to `hi` in
 * `S`; the classes of its `hi` show 4 and 5 without any sets, so it is noted as a closed box.
 *
 * Counting the unions takes two passes for each attribute. So they are estimated first, from how
 * many records each attribute drops, and counted only if the estimate promises enough. The estimate
 * only decides whether to look; nothing is closed by it.
 */
#ifndef SHOAL_TOGETHER_H
#define SHOAL_TOGETHER_H

#include "bounds.h"
#include "counting.h"
#include "small.h"
#include "state.h"

/* The most attributes whose sets are looked at, those of the highest scores, and their sets. */
enum { TOGETHER = 8, SETS = 1 << TOGETHER };

/* An estimated union is this share of the sum of its parts, and a record of it costs an attribute
 * this share of the largest charge there. Unless the estimate closes the box, it must cut so many
 * levels. The boxes of mach2019 and of made-up tables took the least time with these numbers. */
#define SHARE_OF_SUM 0.85
#define SHARE_OF_CHARGE 0.7
enum { LEAST_CUTS = 2 };

/* What is known of the sets of some attributes, numbered from 0; a set is a bit mask of numbers.
 *
 * `others` is the least cost of all other attributes. By set: the records of its union, what these
 * cost the fixed attributes, and each of ours that stays or falls. `may_fall` and `may_stay` are
 * those that fall or stay in some pair that is not closed. */
typedef struct {
    int64_t count, attribute[TOGETHER];
    double others, dropped[SETS], due[SETS], staying[TOGETHER][SETS], falling[TOGETHER][SETS];
    uint32_t may_fall, may_stay;
} Together;

/* Choose the attributes of the highest scores: those that save most for what they drop. */
static void choose(const State *state, Together *together) {
    together->count = 0;
    together->others = 0.0;
    for (int64_t j = 0; j < state->attributes; j++) {
        together->others += AT(state->least, j);
        if (!(AT(state->score, j) > 0.0)) continue;
        int64_t n = together->count < TOGETHER ? together->count++ : TOGETHER;
        for (; n > 0 && AT(state->score, together->attribute[n - 1]) < AT(state->score, j); n--) {
            if (n < TOGETHER) together->attribute[n] = together->attribute[n - 1];
        }
        if (n < TOGETHER) together->attribute[n] = j;
    }
    for (int64_t n = 0; n < together->count; n++) {
        together->others -= AT(state->least, together->attribute[n]);
    }
}

/* The most that a suppressed record costs an attribute above its base at a level. */
static double largest_charge(const State *state, int64_t j, int64_t level) {
    const Doubles charge = charge_at(state, j, level);
    double most = 0.0;
    for (int64_t g = 0; g < groups_at(state, j, level); g++) most = greater(most, AT(charge, g));
    return most;
}

/* Estimate the unions by sums, and what they cost by the largest charges. */
static void estimate_unions(const State *state, int64_t depth, Together *together) {
    const Int64s lo = lo_of(state, depth), hi = hi_of(state, depth);
    const uint32_t sets = 1u << together->count;
    double fixed = 0.0;
    for (int64_t j = 0; j < state->attributes && !state->geometric; j++) {
        if (AT(lo, j) == AT(hi, j)) fixed += SHARE_OF_CHARGE * largest_charge(state, j, AT(hi, j));
    }
    together->dropped[0] = 0.0;
    for (int64_t n = 0; n < together->count; n++) {
        const int64_t j = together->attribute[n];
        const int64_t dropped = AT(BY_LEVEL(state, dropped, depth, j), AT(hi, j) - 1);
        for (uint32_t set = 0; set < 1u << n; set++) {
            together->dropped[set | 1u << n] = together->dropped[set] + SHARE_OF_SUM * dropped;
        }
    }
    for (uint32_t set = 0; set < sets; set++) together->due[set] = together->dropped[set] * fixed;
    for (int64_t n = 0; n < together->count; n++) {
        const int64_t j = together->attribute[n], level = AT(hi, j);
        const double at = SHARE_OF_CHARGE * largest_charge(state, j, level);
        const double below = SHARE_OF_CHARGE * largest_charge(state, j, level - 1);
        for (uint32_t set = 0; set < sets; set++) {
            together->staying[n][set] = together->dropped[set] * at;
            together->falling[n][set] = together->dropped[set] * below;
        }
    }
}

/* Turn sums over the records that exactly a set drops into sums over its union: first into sums
 * over those that only members of a set drop, then into all but those of the other members. */
static void unite(double *sums, int64_t count) {
    const uint32_t full = (1u << count) - 1;
    for (uint32_t one = 1; one <= full; one *= 2) {
        for (uint32_t first = one; first <= full; first += 2 * one) {
            for (uint32_t set = first; set < first + one; set++) sums[set] += sums[set - one];
        }
    }
    const double all = sums[full];
    for (uint32_t set = 0; set <= full / 2; set++) {
        const double by_set = all - sums[full - set];
        sums[full - set] = all - sums[set];
        sums[set] = by_set;
    }
}

/* Write into `chosen` which of the attributes drop each tuple one level below `hi`: of all tuples,
 * or of the `listed` ones (small.h). */
static void mark_dropped(State *state, int64_t depth, const Together *together, bool listed) {
    const Frame *frame = frame_at(state, depth);
    const int64_t tuples = listed ? AT(state->small, TUPLES) : frame->tuples;
    const int64_t classes = listed ? AT(state->small, CLASSES) : frame->classes;
    const UInt32s marks = PART(state->chosen, 0, tuples), cell_of = PART(state->order, 0, tuples);
    for (int64_t n = 0; n < tuples; n++) AT(marks, n) = 0;
    for (int64_t i = 0; i < together->count; i++) {
        const int64_t j = together->attribute[i];
        const int64_t level = AT(hi_of(state, depth), j) - 1;
        const Splitters by = split_by_one(state, j, level);
        const int64_t cells = (classes + 1) * by.width;
        if (cells + by.width > state->number.length) continue;
        if (listed) {
            tally_small(state, frame, j, level);
        } else {
            tally_into(state, frame, &by, cell_of);
        }
        for (int64_t at = 0; at < cells; at++) AT(state->number, at) = !stays(state, at, cells);
        for (int64_t n = 0; n < tuples; n++) {
            AT(marks, n) |= AT(state->number, AT(cell_of, n)) << i;
        }
        AT(state->done, WORK) += 2 * tuples;
    }
}

/* The unions of the records that the attributes drop, and what these cost. */
static void count_unions(State *state, int64_t depth, Together *together) {
    const Frame *frame = frame_at(state, depth);
    const bool listed = list_small(state, frame);
    const int64_t count = together->count;
    const int64_t tuples = listed ? AT(state->small, TUPLES) : frame->tuples;
    const UInt32s class_of = listed ? state->small_class : classes_of(state, frame);
    const Int32s weights = weights_of(state, frame);
    mark_dropped(state, depth, together, listed);
    charge_fixed(state, depth);
    for (uint32_t set = 0; set < 1u << count; set++) {
        together->dropped[set] = together->due[set] = 0.0;
        for (int64_t n = 0; n < count; n++) {
            together->staying[n][set] = together->falling[n][set] = 0.0;
        }
    }
    for (int64_t n = 0; n < tuples; n++) {
        const uint32_t set = AT(state->chosen, n), c = AT(class_of, n);
        if (set == 0 || c == 0) continue;
        const int64_t t = listed ? AT(state->small_tuple, n) : n;
        const double weight = (double)AT(weights, t);
        together->dropped[set] += weight;
        if (!state->geometric) together->due[set] += weight * AT(state->fixed, c);
        for (int64_t i = 0; i < count; i++) {
            const int64_t j = together->attribute[i], level = AT(hi_of(state, depth), j);
            const uint32_t code = AT(column_of(state, frame, j), t);
            const uint32_t at = AT(group_at(state, j, level), code);
            const uint32_t below = AT(group_at(state, j, level - 1), code);
            together->staying[i][set] += weight * AT(charge_at(state, j, level), at);
            together->falling[i][set] += weight * AT(charge_at(state, j, level - 1), below);
        }
    }
    unite(together->dropped, count);
    unite(together->due, count);
    for (int64_t n = 0; n < count; n++) {
        unite(together->staying[n], count);
        unite(together->falling[n], count);
    }
}

/* The least that attribute `j` costs between two levels where dropped records cost it `more`. */
static double least_between(const State *state, int64_t depth, int64_t j, int64_t low, int64_t high,
                            double more) {
    const Doubles paid = BY_LEVEL(state, paid, depth, j), extra = BY_LEVEL(state, extra, depth, j);
    double least = INFINITY;
    for (int64_t level = low; level <= high; level++) {
        double own = level < AT(hi_of(state, depth), j) ? AT(extra, level) : 0.0;
        own = AT(state->base, at_level(state, j, level)) + AT(paid, level) + greater(own, more);
        least = lesser(least, own);
    }
    return joined(state, j, least);
}

/* Why no node is left where `falls` are below `hi` and `stays` at `hi`, the others anywhere; -1
 * where nodes may be left. */
static int64_t why_closed(const State *state, int64_t depth, const Together *together,
                          uint32_t falls, uint32_t stays, double most) {
    const double removed = (double)frame_at(state, depth)->removed + together->dropped[falls];
    double cost = together->others + together->due[falls];
    if (removed > (double)state->limit) return INFEASIBLE;
    for (int64_t n = 0; n < together->count; n++) {
        const int64_t j = together->attribute[n], top = AT(hi_of(state, depth), j);
        const bool below = falls >> n & 1, at = stays >> n & 1;
        const double more = below ? together->falling[n][falls] : together->staying[n][falls];
        const int64_t low = at ? top : AT(lo_of(state, depth), j);
        cost += least_between(state, depth, j, low, top - below, more);
    }
    return cost > most ? BOUND : -1;
}

/* Note the box of a pair of sets. */
static void note_pair(State *state, int64_t depth, const Together *together, int64_t why,
                      uint32_t falls, uint32_t stays) {
    for (int64_t n = 0; n < together->count; n++) {
        const int64_t j = together->attribute[n], top = AT(hi_of(state, depth), j);
        AT(state->low, j) = stays >> n & 1 ? top : AT(lo_of(state, depth), j);
        AT(state->high, j) = top - (falls >> n & 1);
    }
    note(state, why, state->low, state->high);
}

/* Close what can be closed of the pairs that contain two given sets, from large boxes to small.
 *
 * Without notes, `may_fall` and `may_stay` grow by what is left. Where they cannot grow, nothing is
 * looked at. With notes, nothing may be left. */
static void close_pairs(State *state, int64_t depth, Together *together, uint32_t falls,
                        uint32_t stays, double most, bool notes) {
    const uint32_t full = (1u << together->count) - 1, open = full & ~(falls | stays);
    const uint32_t fall = (falls | open) & ~together->may_fall;
    const uint32_t stay = (stays | open) & ~together->may_stay;
    if (!notes && fall == 0 && stay == 0) return;
    const int64_t why = why_closed(state, depth, together, falls, stays, most);
    if (why >= 0) {
        if (notes) note_pair(state, depth, together, why, falls, stays);
    } else if (open == 0) {
        together->may_fall |= falls;
        together->may_stay |= stays;
    } else {
        const uint32_t next = open & ~(open - 1);
        close_pairs(state, depth, together, falls | next, stays, most, notes);
        close_pairs(state, depth, together, falls, stays | next, most, notes);
    }
}

/* Find what is left of all pairs: how many attributes cannot fall or cannot stay. */
static int64_t find_closed(State *state, int64_t depth, Together *together, double most) {
    int64_t cuts = 0;
    together->may_fall = together->may_stay = 0;
    close_pairs(state, depth, together, 0, 0, most, false);
    for (int64_t n = 0; n < together->count; n++) {
        cuts += (together->may_fall >> n & 1) == 0;
        cuts += (together->may_stay >> n & 1) == 0;
    }
    return cuts;
}

/* Note all that is closed: part after part, no pair twice. */
static void note_closed(State *state, int64_t depth, Together *together, double most) {
    uint32_t falls = 0, stays = 0;
    if ((together->may_fall | together->may_stay) == 0) {
        close_pairs(state, depth, together, 0, 0, most, true);
        return;
    }
    for (int64_t n = 0; n < together->count; n++) {
        const uint32_t one = 1u << n;
        if ((together->may_fall & one) == 0) {
            close_pairs(state, depth, together, falls | one, stays, most, true);
            stays |= one;
        } else if ((together->may_stay & one) == 0) {
            close_pairs(state, depth, together, falls, stays | one, most, true);
            falls |= one;
        }
    }
}

/* Look at the sets of attributes that can fall together. The levels that are left become `low` and
 * `high`; whether the box is closed. */
static bool cut_together(State *state, int64_t depth, double best) {
    const Int64s lo = lo_of(state, depth), hi = hi_of(state, depth);
    const double most = best + COST_TOLERANCE;
    Together together;
    if (state->values != NULL || by_persons(state)) return false;
    if (state->log && AT(state->done, NOTED) >= NOTES) return false;
    choose(state, &together);
    if (together.count < 2) return false;
    estimate_unions(state, depth, &together);
    if (find_closed(state, depth, &together, most) < LEAST_CUTS) return false;
    count_unions(state, depth, &together);
    if (find_closed(state, depth, &together, most) == 0) return false;
    if (state->log) note_closed(state, depth, &together, most);
    for (int64_t j = 0; j < state->attributes; j++) {
        AT(state->low, j) = AT(lo, j);
        AT(state->high, j) = AT(hi, j);
    }
    for (int64_t n = 0; n < together.count; n++) {
        const int64_t j = together.attribute[n];
        if (!(together.may_fall >> n & 1)) AT(state->low, j) = AT(hi, j);
        if (!(together.may_stay >> n & 1)) AT(state->high, j) = AT(hi, j) - 1;
    }
    return (together.may_fall | together.may_stay) == 0;
}

#endif
