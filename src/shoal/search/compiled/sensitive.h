/* Records that the classes of a box owe by their sensitive values.
 *
 * Sizes and masks (counting.h) say whether a class is removed whole. Models of sensitive values say
 * how many records of it are removed, however it is split, but not which (removal.h). So such a
 * class is kept, and the records that it *owes* are counted:
 *
 * 1. At `hi` class `C` owes `r(C)` records. All nodes of the box remove as many of it, and each
 *    costs an attribute at least its charge in the group of `C` at `hi`, since charges never rise
 *    with the level. That is `owed`, a part of what every attribute costs at `hi`.
 * 2. With attribute `j` at level `l` the classes of `hi`, lowered to `l` in `j`, owe records, which
 *    are in `dropped`, `extra` and `due`, like the records of classes that are removed whole. Below
 *    `hi` the larger of the two counts.
 *
 * A class that owes anything is suppressed whole at `hi` itself: that decides what `hi` costs.
 */
#ifndef SHOAL_SENSITIVE_H
#define SHOAL_SENSITIVE_H

#include "counting.h"
#include "removal.h"
#include "state.h"

/* Order the tuples by their classes, unless they are. */
static void arrange_values(State *state, const Frame *frame) {
    Values *values = state->values;
    if (AT(values->arranged, 0) == frame->serial) return;
    AT(values->arranged, 0) = frame->serial;
    arrange(state, frame, values->begins, values->order);
}

/* Tally the values of a class in the first row; its records.
 *
 * Tuples with sensitive values are never merged, so those of a box are those of the table. */
static int64_t tally_class(State *state, int64_t c) {
    const Values *values = state->values;
    int64_t size = 0;
    for (int64_t v = 0; v < values->values; v++) AT(values->tally, v) = 0;
    for (int64_t at = AT(values->begins, c); at < AT(values->begins, c + 1); at++) {
        const int64_t t = AT(values->order, at);
        size += AT(state->weights, t);
        for (int64_t i = AT(values->starts, t); i < AT(values->starts, t + 1); i++) {
            AT(values->tally, AT(values->value, i)) += AT(values->counted, i);
        }
    }
    return size;
}

/* Count what the classes of `hi` owe; whether that is within the limit. */
static bool count_owed(State *state, int64_t depth) {
    Values *values = state->values;
    Frame *frame = frame_at(state, depth);
    const Int64s hi = hi_of(state, depth);
    const Doubles owed = ROW(state->owed, depth, state->attributes);
    frame->serial = AT(values->arranged, 1) += 1;
    frame->owes = frame->failing = 0;
    for (int64_t j = 0; j < state->attributes; j++) AT(owed, j) = AT(values->failed, j) = 0.0;
    arrange_values(state, frame);
    for (int64_t c = 1; c <= frame->classes; c++) {
        const int64_t size = tally_class(state, c);
        const int64_t least = removal(values, state->k, 0, size);
        if (least == 0) continue;
        frame->owes += least;
        frame->failing += size;
        const UInt32s sample = ROW(state->sample, frame->at_sample + c, state->attributes);
        for (int64_t j = 0; j < state->attributes; j++) {
            const uint32_t g = AT(group_at(state, j, AT(hi, j)), AT(sample, j));
            const double charge = AT(charge_at(state, j, AT(hi, j)), g);
            AT(owed, j) += (double)least * charge;
            AT(values->failed, j) += (double)size * charge;
        }
    }
    return frame->removed + frame->owes <= state->limit;
}

/* What the records of all classes that owe anything cost attribute `j` at `hi`, where those classes
 * are suppressed whole. */
static inline double failed_cost(const State *state, int64_t j) {
    return AT(state->values->failed, j);
}

/* Tally the values of a class by the groups of an attribute, in the first half; how many groups it
 * has. */
static int64_t tally_values(State *state, int64_t c, int64_t j, int64_t level) {
    const Values *values = state->values;
    const UInt32s group = group_at(state, j, level);
    const UInt32s column = PART(state->codes, j * state->rows, state->tuples);
    const int64_t width = values->values;
    int64_t found = 0;
    for (int64_t at = AT(values->begins, c); at < AT(values->begins, c + 1); at++) {
        const int64_t t = AT(values->order, at), g = AT(group, AT(column, t));
        const Int32s row = ROW(values->tally, g, width);
        if (AT(values->sizes, g) == 0) {
            AT(values->touched, found++) = g;
            for (int64_t v = 0; v < width; v++) AT(row, v) = 0;
        }
        AT(values->sizes, g) += AT(state->weights, t);
        for (int64_t i = AT(values->starts, t); i < AT(values->starts, t + 1); i++) {
            AT(row, AT(values->value, i)) += AT(values->counted, i);
        }
    }
    return found;
}

/* Add the groups of a class up to those of the next level, in the other half; how many. */
static int64_t lift_values(State *state, int64_t j, int64_t level, int64_t side,
                           int64_t touched) {
    const Values *values = state->values;
    const UInt32s member = member_at(state, j, level - 1), group = group_at(state, j, level);
    const int64_t half = state->widest, width = values->values;
    const int64_t here = side * half, there = (1 - side) * half;
    int64_t found = 0;
    for (int64_t n = 0; n < touched; n++) {
        const int64_t g = AT(values->touched, here + n), parent = AT(group, AT(member, g));
        const Int32s was = ROW(values->tally, here + g, width);
        const Int32s becomes = ROW(values->tally, there + parent, width);
        if (AT(values->sizes, there + parent) == 0) {
            AT(values->touched, there + found++) = parent;
            for (int64_t v = 0; v < width; v++) AT(becomes, v) = 0;
        }
        AT(values->sizes, there + parent) += AT(values->sizes, here + g);
        AT(values->sizes, here + g) = 0;
        for (int64_t v = 0; v < width; v++) AT(becomes, v) += AT(was, v);
    }
    return found;
}

/* The records that the groups of a class owe, added by group. */
static int64_t owe(State *state, int64_t level, int64_t side, int64_t touched) {
    Values *values = state->values;
    const Int64s lost = ROW(state->lost, level, state->widest);
    const int64_t here = side * state->widest;
    int64_t total = 0;
    for (int64_t n = 0; n < touched; n++) {
        const int64_t g = AT(values->touched, here + n), at = here + g;
        const int64_t least =
            removal(values, state->k, at * values->values, AT(values->sizes, at));
        AT(lost, g) += least;
        total += least;
    }
    return total;
}

/* What each level would drop and cost, where classes may owe records (`price_levels_by_size` in
 * counting.h says what is counted). What the classes of `hi` owe is charged to the fixed attributes
 * already, so `due` is only what is above that. */
static void price_levels_by_values(State *state, int64_t depth, int64_t j) {
    Values *values = state->values;
    const Frame *frame = frame_at(state, depth);
    const Int64s lo = lo_of(state, depth), hi = hi_of(state, depth);
    const int64_t bottom = AT(lo, j), top = AT(hi, j);
    const Int64s dropped = BY_LEVEL(state, dropped, depth, j);
    const Doubles due = BY_LEVEL(state, due, depth, j);
    arrange_values(state, frame);
    AT(state->done, WORK) += 8 * (frame->tuples + frame->classes);
    forget_prices(state, depth, j, bottom);
    for (int64_t g = 0; g < values->sizes.length; g++) AT(values->sizes, g) = 0;
    for (int64_t c = 1; c <= frame->classes; c++) {
        int64_t side = 0, touched = tally_values(state, c, j, bottom);
        for (int64_t level = bottom; level < top; level++) {
            if (level > bottom) {
                touched = lift_values(state, j, level, side, touched);
                side = 1 - side;
            }
            const int64_t lost = owe(state, level, side, touched);
            AT(dropped, level) += lost;
            AT(due, level) += (double)lost * AT(state->fixed, c);
            if (lost == 0) break;
        }
        const int64_t here = side * state->widest;
        for (int64_t n = 0; n < touched; n++) {
            AT(values->sizes, here + AT(values->touched, here + n)) = 0;
        }
    }
    double already = 0.0;
    for (int64_t i = 0; i < state->attributes; i++) {
        if (AT(lo, i) == AT(hi, i)) already += AT(state->owed, depth * state->attributes + i);
    }
    for (int64_t level = bottom; level < top; level++) {
        AT(due, level) = greater(AT(due, level) - already, 0.0);
    }
    charge_lost(state, depth, j, bottom);
}

#endif
