/* Shrink a box by lower bounds of the cost of its nodes.
 *
 * A *box* is the set of nodes between `lo` and `hi`. The classes of every node of the box are parts
 * of those of `hi`, so what is removed at `hi` is removed at every node:
 *
 * 1. Records removed at `hi` are removed in the whole box. Above the limit, the box is empty.
 * 2. Let attribute `j` be at level `l`. The classes of `hi`, lowered to `l` in `j`, that fail are
 *    dropped at every node of the box with that level. So attribute `j` adds at least `g(j, l)`,
 *    its base and what removed and dropped records pay above that, and a node costs at least the
 *    sum over the attributes of the least `g(j, l)` among the levels left to them.
 * 3. Records dropped by `(j, l)` also pay for the attributes whose level is fixed, which nothing in
 *    2 has charged for. This `due(j, l)` may be added for one attribute.
 *
 * Levels whose bound is above the best cost are cut off at either end. Each time `hi` falls the
 * classes split, more records are removed, and all bounds rise: often the box closes without
 * branching. What is known of a box (dropped, extra, due) stays a lower bound in every box inside
 * it, so only attributes that were not priced since `hi` fell are counted again, the highest score
 * first.
 *
 * With the geometric aggregate the cost of a node is the sum of log(1 + priority * loss) over the
 * attributes, which rises with each of them, so 2 holds unchanged; 3 adds costs of different
 * attributes and is left out.
 */
#ifndef SHOAL_BOUNDS_H
#define SHOAL_BOUNDS_H

#include "counting.h"
#include "persons.h"
#include "sensitive.h"
#include "small.h"
#include "splitting.h"
#include "state.h"

/* Tolerance when costs are compared, relative where they are above 1: rounding closes no box. */
#define COST_TOLERANCE 1e-10

/* Costs that differ by less are equal, and removed records decide. Equal costs can differ by more,
 * since they are summed in another order; then an exact check decides. */
#define TIE 1e-13

/* Why a box is closed. */
enum { INFEASIBLE, BOUND, SINGLE };

static double cost_of_classes(State *state, int64_t depth); /* class_loss.h */
static bool cut_together(State *state, int64_t depth, double best); /* together.h */

/* Write down that the box between `lo` and `hi` is closed, for a proof that others can check. */
static void note(State *state, int64_t why, Int64s lo, Int64s hi) {
    if (!state->log) return;
    const int64_t m = state->attributes;
    const Int64s line = ROW(state->notes, AT(state->done, NOTED), 1 + 2 * m);
    AT(line, 0) = why;
    for (int64_t j = 0; j < m; j++) {
        AT(line, 1 + j) = AT(lo, j);
        AT(line, 1 + m + j) = AT(hi, j);
    }
    AT(state->done, NOTED) += 1;
}

/* Write down that the part of a box with levels `low` to `high` of attribute `j` is closed. */
static void note_levels(State *state, int64_t why, Int64s lo, Int64s hi, int64_t j, int64_t low,
                        int64_t high) {
    if (!state->log) return;
    const int64_t m = state->attributes;
    const Int64s line = ROW(state->notes, AT(state->done, NOTED), 1 + 2 * m);
    note(state, why, lo, hi);
    AT(line, 1 + j) = low;
    AT(line, 1 + m + j) = high;
}

/* The best cost that this thread knows. */
static inline double best_cost(const State *state) {
    return lesser(AT(state->best, 0), shared_now(state, BEST_COST));
}

/* What a dropped record of each class costs the attributes whose level is fixed. */
static void charge_fixed(State *state, int64_t depth) {
    const Frame *frame = frame_at(state, depth);
    const Int64s lo = lo_of(state, depth), hi = hi_of(state, depth);
    const Doubles fixed = PART(state->fixed, 0, frame->classes + 1);
    const int64_t m = state->attributes;
    for (int64_t c = 0; c < fixed.length; c++) AT(fixed, c) = 0.0;
    for (int64_t j = 0; j < m; j++) {
        if (AT(lo, j) != AT(hi, j)) continue;
        const UInt32s group = group_at(state, j, AT(hi, j));
        const Doubles charge = charge_at(state, j, AT(hi, j));
        for (int64_t c = 1; c < fixed.length; c++) {
            AT(fixed, c) += AT(charge, AT(group, AT(state->sample, (frame->at_sample + c) * m + j)));
        }
    }
}

/* What attribute `j` adds to the cost of a node that costs it this much. */
static inline double joined(const State *state, int64_t j, double cost) {
    return state->geometric ? log1p(AT(state->priority, j) * cost) : cost;
}

/* The least that attribute `j` at a level adds to the cost of a node of a box. */
static inline double at_least(const State *state, int64_t depth, int64_t j, int64_t level) {
    const double paid = AT(BY_LEVEL(state, paid, depth, j), level);
    double more = AT(state->owed, depth * state->attributes + j);
    if (level < AT(hi_of(state, depth), j)) {
        more = greater(more, AT(BY_LEVEL(state, extra, depth, j), level));
    }
    return joined(state, j, AT(state->base, at_level(state, j, level)) + paid + more);
}

/* What the drops of attribute `j` at a level cost the fixed ones; add it for one `j` only. */
static inline double due_at(const State *state, int64_t depth, int64_t j, int64_t level) {
    if (state->geometric || level == AT(hi_of(state, depth), j)) return 0.0;
    return AT(BY_LEVEL(state, due, depth, j), level);
}

/* A bound of a box: the sum of the `least` costs of all attributes, the largest due that may be
 * added, and the attribute whose it is. */
typedef struct { double total, bonus; int64_t by; } Bound;

/* The bound of the levels between `low` and `high`. */
static Bound bound_of(State *state, int64_t depth) {
    Bound bound = {0.0, 0.0, state->attributes};
    for (int64_t j = 0; j < state->attributes; j++) {
        double alone = INFINITY, more = INFINITY;
        for (int64_t level = AT(state->low, j); level <= AT(state->high, j); level++) {
            const double cost = at_least(state, depth, j, level);
            alone = lesser(alone, cost);
            more = lesser(more, cost + due_at(state, depth, j, level));
        }
        AT(state->least, j) = alone;
        bound.total += alone;
        if (more - alone > bound.bonus) {
            bound.bonus = more - alone;
            bound.by = j;
        }
    }
    return bound;
}

/* Cut off levels of attribute `j` from both ends while their bound is above `most`, where the
 * `others` cost at least this much; whether any was. */
static bool cut_levels(State *state, int64_t depth, int64_t j, double others, double most) {
    const Int64s low = state->low, high = state->high;
    bool changed = false;
    for (int64_t side = 0; side < 2; side++) {
        while (AT(low, j) <= AT(high, j)) {
            const int64_t level = side == 0 ? AT(low, j) : AT(high, j);
            double own = at_least(state, depth, j, level);
            own += due_at(state, depth, j, level);
            if (others + own <= most) break;
            note_levels(state, BOUND, low, high, j, level, level);
            AT(low, j) += 1 - side;
            AT(high, j) -= side;
            changed = true;
        }
    }
    return changed;
}

/* Cut off levels whose bound is above the best cost, until none is left to cut.
 *
 * `low` and `high` become the lowest and highest levels left, and `score` of each attribute says
 * how much pricing it or branching on it may gain: the cost at `hi` above the least, times what one
 * level below drops. Returns whether the box is closed. */
static bool cut(State *state, int64_t depth, double best) {
    const Int64s lo = lo_of(state, depth), hi = hi_of(state, depth);
    const Int64s low = state->low, high = state->high;
    const double most = best + COST_TOLERANCE;
    const int64_t m = state->attributes;
    Frame *frame = frame_at(state, depth);
    Bound bound;
    for (int64_t j = 0; j < m; j++) {
        AT(low, j) = AT(lo, j);
        AT(high, j) = AT(hi, j);
    }
    for (bool changed = true; changed;) {
        bound = bound_of(state, depth);
        if (bound.total > most) {
            note(state, BOUND, low, high);
            return true;
        }
        if (bound.total + bound.bonus > most) {
            /* One note per level: at each the dropped records are removed, and pay everywhere. */
            for (int64_t level = AT(low, bound.by); level <= AT(high, bound.by); level++) {
                note_levels(state, BOUND, low, high, bound.by, level, level);
            }
            return true;
        }
        changed = false;
        for (int64_t j = 0; j < m; j++) {
            changed |= cut_levels(state, depth, j, bound.total - AT(state->least, j), most);
            if (AT(low, j) > AT(high, j)) return true;
        }
    }
    for (int64_t j = 0; j < m; j++) {
        AT(state->score, j) = -1.0;
        if (AT(low, j) < AT(high, j)) {
            const double gain = at_least(state, depth, j, AT(hi, j)) - AT(state->least, j);
            const int64_t below = AT(BY_LEVEL(state, dropped, depth, j), AT(hi, j) - 1);
            AT(state->score, j) = gain * (double)(below + 1);
        }
    }
    frame->bound = greater(frame->bound, bound.total + bound.bonus);
    return false;
}

/* What each level of attribute `j` from `lo` up to below `hi` would drop and cost. */
static void price_levels(State *state, int64_t depth, int64_t j) {
    if (state->values != NULL) {
        price_levels_by_values(state, depth, j);
    } else if (!tally_fits(state, frame_at(state, depth), j, AT(lo_of(state, depth), j))) {
        price_levels_by_class(state, depth, j);
    } else if (by_persons(state)) {
        price_levels_by_persons(state, depth, j);
    } else {
        price_levels_by_size(state, depth, j);
    }
    AT(state->fresh, depth * state->attributes + j) = true;
}

/* Raise `lo` in attribute `j` above the levels that drop more than the limit allows. */
static void raise_lowest(State *state, int64_t depth, int64_t j) {
    const Int64s lo = lo_of(state, depth), hi = hi_of(state, depth);
    const Int64s dropped = BY_LEVEL(state, dropped, depth, j);
    const int64_t removed = frame_at(state, depth)->removed;
    int64_t level = AT(lo, j);
    while (level < AT(hi, j) && removed + AT(dropped, level) > state->limit) level++;
    if (level > AT(lo, j)) {
        note_levels(state, INFEASIBLE, lo, hi, j, AT(lo, j), level - 1);
        AT(lo, j) = level;
    }
}

/* Add a candidate. */
static void add_candidate(State *state, Int64s node, double cost, int64_t removed) {
    const int64_t at = AT(state->done, FOUND);
    const Int64s levels = ROW(state->nodes, at, state->attributes);
    AT(state->costs, at) = cost;
    AT(state->removed, at) = removed;
    for (int64_t j = 0; j < state->attributes; j++) AT(levels, j) = AT(node, j);
    AT(state->done, FOUND) = at + 1;
}

/* What `hi` costs, where all classes that owe anything are suppressed. */
static double cost_of_top(State *state, int64_t depth) {
    if (state->class_loss != NULL) return cost_of_classes(state, depth);
    double total = 0.0;
    for (int64_t j = 0; j < state->attributes; j++) {
        const int64_t level = AT(hi_of(state, depth), j);
        double cost = AT(state->base, at_level(state, j, level));
        cost += AT(BY_LEVEL(state, paid, depth, j), level);
        if (state->values != NULL) cost += failed_cost(state, j);
        total += joined(state, j, cost);
    }
    return total;
}

/* Make `hi` a candidate unless it is worse than the best, ties by removed records. When costs are
 * exact the best cost falls at once for all threads. */
static void offer(State *state, int64_t depth) {
    const Frame *frame = frame_at(state, depth);
    const Doubles best = state->best;
    const double cost = cost_of_top(state, depth), known = best_cost(state);
    const int64_t removed = frame->removed + frame->failing;
    if (removed > state->limit) return;
    if (cost > known + COST_TOLERANCE * greater(1.0, known)) return;
    if (cost >= AT(best, 0) - TIE && (double)removed > AT(best, 1)) return;
    if (state->exact) {
        if (cost <= AT(best, 0) + TIE) AT(best, 1) = (double)removed;
        AT(best, 0) = lesser(cost, AT(best, 0));
        share_cost(state, cost);
    }
    add_candidate(state, hi_of(state, depth), cost, removed);
}

/* Lower `hi` to `high`, first where most is dropped; whether the box is not empty. */
static bool lower(State *state, int64_t depth) {
    const Int64s lo = lo_of(state, depth), hi = hi_of(state, depth), high = state->high;
    const int64_t m = state->attributes;
    for (int64_t j = 0; j < m; j++) {
        AT(state->falls, j) = AT(high, j) < AT(hi, j);
        AT(hi, j) = AT(high, j);
    }
    for (Splitters by = next_splitters(state, depth); by.count > 0;
         by = next_splitters(state, depth)) {
        if (!split(state, depth, &by)) {
            note(state, INFEASIBLE, lo, hi);
            return false;
        }
    }
    if (state->values != NULL && !count_owed(state, depth)) {
        note(state, INFEASIBLE, lo, hi);
        return false;
    }
    offer(state, depth);
    return true;
}

/* The attribute of the highest score among those not priced since `hi` fell; their number if there
 * is none. */
static int64_t stalest(const State *state, int64_t depth) {
    const int64_t m = state->attributes;
    int64_t j = m;
    for (int64_t i = 0; i < m; i++) {
        const bool stale = !AT(state->fresh, depth * m + i) && AT(state->score, i) >= 0.0;
        if (stale && (j == m || AT(state->score, i) > AT(state->score, j))) j = i;
    }
    return j;
}

/* Raise `lo` to `low`; whether `hi` is above `high`. */
static bool take_lowest(State *state, int64_t depth) {
    bool falls = false;
    for (int64_t j = 0; j < state->attributes; j++) {
        AT(lo_of(state, depth), j) = AT(state->low, j);
        falls |= AT(state->high, j) < AT(hi_of(state, depth), j);
    }
    return falls;
}

/* Whether `low` and `high` are `lo` and `hi`. */
static bool nothing_is_cut(const State *state, int64_t depth) {
    for (int64_t j = 0; j < state->attributes; j++) {
        if (AT(state->low, j) != AT(lo_of(state, depth), j)) return false;
        if (AT(state->high, j) != AT(hi_of(state, depth), j)) return false;
    }
    return true;
}

static bool is_single(const State *state, int64_t depth) {
    for (int64_t j = 0; j < state->attributes; j++) {
        if (AT(lo_of(state, depth), j) != AT(hi_of(state, depth), j)) return false;
    }
    return true;
}

/* Price the levels of an attribute, by the tuples of small classes where that pays. */
static void price(State *state, int64_t depth, int64_t j) {
    const int64_t groups = groups_at(state, j, AT(lo_of(state, depth), j));
    if (list_small(state, frame_at(state, depth)) && small_fits(state, groups)) {
        price_small(state, depth, j);
    } else {
        price_levels(state, depth, j);
    }
}

/* Cut, price levels and lower until nothing changes; whether the box is closed. */
static bool tighten(State *state, int64_t depth) {
    bool charged = false;
    while (true) {
        if (cut(state, depth, best_cost(state))) return true;
        bool falls = take_lowest(state, depth);
        const int64_t j = stalest(state, depth);
        if (!falls && j < state->attributes) {
            if (!charged) charge_fixed(state, depth);
            charged = true;
            price(state, depth, j);
            raise_lowest(state, depth, j);
            continue;
        }
        if (!falls && is_single(state, depth)) {
            note(state, SINGLE, lo_of(state, depth), hi_of(state, depth));
            return true;
        }
        if (!falls) {
            if (cut_together(state, depth, best_cost(state))) return true;
            if (nothing_is_cut(state, depth)) return false;
            falls = take_lowest(state, depth);
        }
        if (falls) {
            if (!lower(state, depth)) return true;
            charged = false;
        }
    }
}

#endif
