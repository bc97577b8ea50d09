/* Records that the classes of a box owe by their sensitive values, their people or their risk.
 *
 * Sizes and masks (counting.h) say whether a class is removed whole. Models of sensitive values and
 * of the population say how many records of it are removed, however it is split, but not which
 * (removal.h, release.h). So such a class is kept, and the records that it *owes* are counted:
 *
 * 1. At `hi` class `C` owes `r(C)` records. All nodes of the box remove as many of it, and each
 *    costs an attribute at least its charge in the group of `C` at `hi`, since charges never rise
 *    with the level. That is `owed`, a part of what every attribute costs at `hi`.
 * 2. With attribute `j` at level `l` the classes of `hi`, lowered to `l` in `j`, owe records, which
 *    are in `dropped`, `extra` and `due`, like the records of classes that are removed whole. Below
 *    `hi` the larger of the two counts.
 *
 * The further records that demands on all classes remove (release.h) are owed, too, by any class.
 *
 * A class that owes anything is suppressed whole at `hi` itself: that decides what `hi` costs.
 */
#ifndef SHOAL_SENSITIVE_H
#define SHOAL_SENSITIVE_H

#include "counting.h"
#include "release.h"
#include "removal.h"
#include "state.h"

/* Order the tuples by their classes, unless they are. */
static void arrange_values(State *state, const Frame *frame) {
    Values *values = state->values;
    if (AT(values->arranged, 0) == frame->serial) return;
    AT(values->arranged, 0) = frame->serial;
    arrange(state, frame, values->begins, values->order);
}

/* What a class owes whose values are in the tally from `at` on: the most that any demand removes. */
static int64_t owed_by(State *state, int64_t at, int64_t size, int64_t people) {
    const int64_t by_values = removal(state->values, state->k, at, size);
    if (state->release == NULL || by_values == size) return by_values;
    return larger(by_values, removed_by_people(state->release, size, people));
}

/* Tally the values of a class in the first row, and its `people`; its records.
 *
 * Tuples with sensitive values are never merged, so those of a box are those of the table. */
static int64_t tally_class(State *state, int64_t c, int64_t *people) {
    const Values *values = state->values;
    const bool counts_people = has_people(state);
    int64_t size = 0;
    *people = 0;
    for (int64_t v = 0; v < values->values; v++) AT(values->tally, v) = 0;
    for (int64_t at = AT(values->begins, c); at < AT(values->begins, c + 1); at++) {
        const int64_t t = AT(values->order, at);
        size += AT(state->weights, t);
        if (counts_people) *people += AT(state->release->people, t);
        for (int64_t i = AT(values->starts, t); i < AT(values->starts, t + 1); i++) {
            AT(values->tally, AT(values->value, i)) += AT(values->counted, i);
        }
    }
    return size;
}

/* Add the further records that must go of all classes of `hi` together to what these owe. */
static void owe_further(State *state, int64_t depth) {
    Release *release = state->release;
    Frame *frame = frame_at(state, depth);
    const Int64s begins = state->values->begins, room = ROW(release->room, 0, state->widest);
    if (AT(begins, 1) > AT(begins, 0) && is_refused(release, 0, 0, 0)) AT(release->refused, 0) = true;
    const int64_t further = further_removal(state, 0);
    if (further == 0) return;
    for (int64_t j = 0; j < state->attributes; j++) {
        const int64_t level = AT(hi_of(state, depth), j), at = depth * state->attributes + j;
        for (int64_t g = 0; g < room.length; g++) AT(room, g) = 0;
        for (int64_t c = 1; c <= frame->classes; c++) {
            const uint32_t code = AT(state->sample, (frame->at_sample + c) * state->attributes + j);
            AT(room, AT(group_at(state, j, level), code)) += AT(release->room_of, c);
        }
        AT(state->owed, at) += cheapest_cost(state, j, level, room, further);
        AT(state->values->failed, j) = greater(AT(state->values->failed, j), AT(state->owed, at));
    }
    frame->owes += further;
    frame->failing = larger(frame->failing, frame->owes);
}

/* Count what the classes of `hi` owe; whether that is within the limit. */
static bool count_owed(State *state, int64_t depth) {
    Values *values = state->values;
    Frame *frame = frame_at(state, depth);
    const Int64s hi = hi_of(state, depth);
    const Doubles owed = ROW(state->owed, depth, state->attributes);
    frame->owes = frame->failing = 0;
    for (int64_t j = 0; j < state->attributes; j++) AT(owed, j) = AT(values->failed, j) = 0.0;
    arrange_values(state, frame);
    if (state->release != NULL) forget_classes(state, 0, 1);
    for (int64_t c = 1; c <= frame->classes; c++) {
        int64_t people;
        const int64_t size = tally_class(state, c, &people);
        const int64_t least = owed_by(state, 0, size, people);
        if (state->release != NULL) {
            add_class(state->release, 0, size, least, people);
            AT(state->release->room_of, c) = size - least;
        }
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
    if (state->release != NULL) owe_further(state, depth);
    return frame->removed + frame->owes <= state->limit;
}

/* What the records of all classes that owe anything cost attribute `j` at `hi`, where those classes
 * are suppressed whole. */
static inline double failed_cost(const State *state, int64_t j) {
    return AT(state->values->failed, j);
}

/* Whether a group of a class has no tuple yet: a tuple has records or people. */
static inline bool is_untouched(const State *state, int64_t at) {
    return AT(state->values->sizes, at) == 0
        && (!has_people(state) || AT(state->release->people_of, at) == 0);
}

/* Reset the counts of a group. */
static inline void clear_group(State *state, int64_t at) {
    AT(state->values->sizes, at) = 0;
    if (has_people(state)) AT(state->release->people_of, at) = 0;
}

/* Tally the values and people of a class by the groups of an attribute, in the first half; how many
 * groups it has. */
static int64_t tally_values(State *state, int64_t c, int64_t j, int64_t level) {
    const Values *values = state->values;
    const bool counts_people = has_people(state);
    const UInt32s group = group_at(state, j, level);
    const UInt32s column = PART(state->codes, j * state->rows, state->tuples);
    const int64_t width = values->values;
    int64_t found = 0;
    for (int64_t at = AT(values->begins, c); at < AT(values->begins, c + 1); at++) {
        const int64_t t = AT(values->order, at), g = AT(group, AT(column, t));
        const Int32s row = ROW(values->tally, g, width);
        if (is_untouched(state, g)) {
            AT(values->touched, found++) = g;
            for (int64_t v = 0; v < width; v++) AT(row, v) = 0;
        }
        AT(values->sizes, g) += AT(state->weights, t);
        if (counts_people) AT(state->release->people_of, g) += AT(state->release->people, t);
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
        if (is_untouched(state, there + parent)) {
            AT(values->touched, there + found++) = parent;
            for (int64_t v = 0; v < width; v++) AT(becomes, v) = 0;
        }
        AT(values->sizes, there + parent) += AT(values->sizes, here + g);
        if (has_people(state)) {
            const Int32s people_of = state->release->people_of;
            AT(people_of, there + parent) += AT(people_of, here + g);
        }
        clear_group(state, here + g);
        for (int64_t v = 0; v < width; v++) AT(becomes, v) += AT(was, v);
    }
    return found;
}

/* The records that the groups of a class owe, added by group. */
static int64_t owe(State *state, int64_t level, int64_t side, int64_t touched) {
    Values *values = state->values;
    Release *release = state->release;
    const Int64s lost = ROW(state->lost, level, state->widest);
    const int64_t here = side * state->widest;
    int64_t total = 0;
    for (int64_t n = 0; n < touched; n++) {
        const int64_t g = AT(values->touched, here + n), at = here + g;
        const int64_t size = AT(values->sizes, at);
        const int64_t people = has_people(state) ? AT(release->people_of, at) : 0;
        const int64_t least = owed_by(state, at * values->values, size, people);
        AT(lost, g) += least;
        total += least;
        if (release != NULL) {
            add_class(release, level, size, least, people);
            AT(ROW(release->room, level, state->widest), g) += size - least;
        }
    }
    return total;
}

/* Add the further records that must go at each level from `bottom` to below `top`, at the least that
 * they cost attribute `j`. They may be in any class, so nothing is charged to fixed attributes. */
static void drop_further(State *state, int64_t depth, int64_t j, int64_t bottom, int64_t top) {
    for (int64_t level = bottom; level < top; level++) {
        const int64_t further = further_removal(state, level);
        const Int64s room = ROW(state->release->room, level, state->widest);
        AT(BY_LEVEL(state, dropped, depth, j), level) += further;
        AT(BY_LEVEL(state, extra, depth, j), level) +=
            cheapest_cost(state, j, level, room, further);
    }
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
    const bool every = state->release != NULL && needs_every_class(state->release);
    arrange_values(state, frame);
    AT(state->done, WORK) += 8 * (frame->tuples + frame->classes);
    forget_prices(state, depth, j, bottom);
    for (int64_t g = 0; g < values->sizes.length; g++) clear_group(state, g);
    if (state->release != NULL) forget_classes(state, bottom, top);
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
            if (lost == 0 && !every) break;
        }
        const int64_t here = side * state->widest;
        for (int64_t n = 0; n < touched; n++) {
            clear_group(state, here + AT(values->touched, here + n));
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
    if (every) drop_further(state, depth, j, bottom, top);
}

#endif
