/* Diving, neighbours and branching where each attribute has a cost of its own (bounds.h).
 *
 * class_loss.h has the same for class losses.
 */
#ifndef SHOAL_BRANCHING_H
#define SHOAL_BRANCHING_H

#include "bounds.h"
#include "state.h"

/* The attribute whose next level down saves most cost for each record dropped; their number if none
 * saves. `saves` is negative for attributes that cannot fall. */
static int64_t dearest_fall(const State *state, int64_t depth, Doubles saves) {
    const Int64s hi = hi_of(state, depth);
    int64_t by = state->attributes;
    double most = -1.0;
    for (int64_t j = 0; j < state->attributes; j++) {
        const int64_t level = AT(hi, j);
        if (AT(saves, j) < 0.0 || level <= AT(state->bottom, j)) continue;
        AT(saves, j) = at_least(state, depth, j, level) - at_least(state, depth, j, level - 1);
        const int64_t dropped = AT(BY_LEVEL(state, dropped, depth, j), level - 1);
        const double rate = AT(saves, j) / (double)(1 + dropped);
        if (AT(saves, j) >= 0.0 && rate > most) {
            by = j;
            most = rate;
        }
    }
    return by;
}

/* Lower `hi` by one level at a time, where most cost is saved for each record dropped.
 *
 * Every step makes a candidate. A level that saves nothing, such as one with the groups of the
 * level above, is taken last, since levels below it may save something. Stale prices are lower
 * bounds of what is dropped and paid, so if the attribute that saves most has a fresh price, it
 * saves most of all. */
static void dive_by_attributes(State *state, int64_t depth) {
    const Frame *frame = frame_at(state, depth);
    const Int64s lo = lo_of(state, depth), hi = hi_of(state, depth);
    const int64_t m = state->attributes;
    charge_fixed(state, depth);
    for (int64_t j = 0; j < m; j++) AT(state->score, j) = 0.0;
    while (shared_now(state, STOP) == 0.0) {
        const int64_t by = dearest_fall(state, depth, state->score);
        if (by == m) return;
        if (!AT(state->fresh, depth * m + by)) {
            AT(lo, by) = AT(hi, by) - 1;
            price_levels(state, depth, by);
            AT(lo, by) = AT(state->bottom, by);
            const int64_t dropped = AT(BY_LEVEL(state, dropped, depth, by), AT(hi, by) - 1);
            if (frame->removed + dropped > state->limit) AT(state->score, by) = -1.0;
            continue;
        }
        for (int64_t j = 0; j < m; j++) AT(state->high, j) = AT(hi, j) - (j == by);
        if (!lower(state, depth)) return;
        charge_fixed(state, depth);
    }
}

/* Make candidates of the node `hi` and of the safe nodes one level below it.
 *
 * With all attributes fixed but one, what a level of it drops costs exactly what the bounds say,
 * since the fixed attributes are charged too. */
static void neighbours_by_attributes(State *state, int64_t depth) {
    const Frame *frame = frame_at(state, depth);
    const Int64s lo = lo_of(state, depth), hi = hi_of(state, depth);
    double cost = 0.0;
    for (int64_t j = 0; j < state->attributes; j++) {
        AT(lo, j) = AT(hi, j);
        cost += at_least(state, depth, j, AT(hi, j));
    }
    add_candidate(state, hi, cost, frame->removed);
    for (int64_t j = 0; j < state->attributes; j++) {
        if (AT(hi, j) <= AT(state->bottom, j)) continue;
        const int64_t level = AT(lo, j) = AT(hi, j) - 1;
        charge_fixed(state, depth);
        price_levels(state, depth, j);
        const int64_t removed = frame->removed + AT(BY_LEVEL(state, dropped, depth, j), level);
        if (removed <= state->limit) {
            const double own = at_least(state, depth, j, level) + due_at(state, depth, j, level);
            const double others = cost - at_least(state, depth, j, AT(hi, j));
            add_candidate(state, lo, others + own, removed);
        }
        AT(lo, j) = AT(hi, j);
    }
}

/* Choose the attribute to branch on, and which child comes first: that of its least cost.
 *
 * Each child has a bound of its own: the least costs of the other attributes, and that of this one
 * among the levels of the child. */
static void branch_by_attributes(State *state, int64_t depth) {
    Frame *frame = frame_at(state, depth);
    int64_t j = state->attributes - 1;
    double others = 0.0, below = INFINITY;
    for (int64_t i = j; i >= 0; i--) {
        others += AT(state->least, i);
        if (AT(state->score, i) >= AT(state->score, j)) j = i;
    }
    others -= AT(state->least, j);
    const int64_t lo = AT(lo_of(state, depth), j), hi = AT(hi_of(state, depth), j);
    for (int64_t level = lo; level < hi; level++) {
        const double own = at_least(state, depth, j, level) + due_at(state, depth, j, level);
        below = lesser(below, own);
    }
    frame->attribute = j;
    frame->status = FIRST_CHILD;
    frame->bound_at = greater(frame->bound, others + at_least(state, depth, j, hi));
    frame->bound_below = greater(frame->bound, others + below);
    frame->below_first = frame->bound_below <= frame->bound_at;
}

#endif
