/* Count the classes of a box, and what each level of an attribute would drop.
 *
 * Tuples are columns of codes with a weight each. The classes of a node are numbers: `class_of[t]`
 * is the class of tuple `t`, and 0 means removed. Counting the classes one level below in one
 * attribute is then a single pass that adds weights to the cell `class * groups + group`, without
 * sorting.
 *
 * A class stays when it has at least `k` records, or persons where those are counted, and for every
 * diversity demand `s` at least `least_values[s]` different values, which are the bits of a 64-bit
 * mask. All of these only fall as a class is split: a class that fails is removed whole, and so are
 * all its parts.
 *
 * Of an attribute with many values, such as dates of birth, every class has only a few. Where a
 * tally of all classes would not fit into memory, the tuples are sorted by class, and each class is
 * tallied alone: `counts[g]` is 0 except for the groups that `touched` lists. Both arrays have two
 * halves, one for a level and one for the next level.
 */
#ifndef SHOAL_COUNTING_H
#define SHOAL_COUNTING_H

#include "state.h"

static int64_t count_persons(State *state, int64_t first, int64_t t, int64_t found); /* persons.h */

static inline void fill_with_zeros(Int32s counts) {
    for (int64_t at = 0; at < counts.length; at++) AT(counts, at) = 0;
}

/* Attributes whose groups at their levels split every class, and how many cells a class has. */
enum { SPLITTERS = 4 };
typedef struct { int64_t count, attribute[SPLITTERS], level[SPLITTERS], width; } Splitters;

static inline Splitters split_by_one(const State *state, int64_t j, int64_t level) {
    return (Splitters){1, {j}, {level}, groups_at(state, j, level)};
}

/* Tuples whose cells are computed before their records are added: these fit the cache. */
enum { TUPLES_AT_ONCE = 1024 };

/* Write the cell (class, groups of the attributes that split it) of each tuple to `cell_of`, and
 * add up the records of each cell. */
static void count_records(State *state, const Frame *frame, const Splitters *by, UInt32s cell_of) {
    const UInt32s class_of = classes_of(state, frame);
    const Int32s weights = weights_of(state, frame), counts = state->counts;
    for (int64_t first = 0; first < frame->tuples; first += TUPLES_AT_ONCE) {
        const int64_t end = smaller(first + TUPLES_AT_ONCE, frame->tuples);
        for (int64_t n = 0; n < by->count; n++) {
            const int64_t j = by->attribute[n], level = by->level[n];
            const uint32_t width = (uint32_t)groups_at(state, j, level);
            const UInt32s group = group_at(state, j, level), column = column_of(state, frame, j);
            const UInt32s above = n == 0 ? class_of : cell_of;
            UNROLLED
            for (int64_t t = first; t < end; t++) {
                AT(cell_of, t) = AT(above, t) * width + AT(group, AT(column, t));
            }
        }
        UNROLLED
        for (int64_t t = first; t < end; t++) AT(counts, AT(cell_of, t)) += AT(weights, t);
    }
}

/* The same with the masks of each cell. Where persons are counted, also those assigned to the cell:
 * a lower bound of its persons. */
static void tally_into(State *state, const Frame *frame, const Splitters *by, UInt32s cell_of) {
    const int64_t cells = (frame->classes + 1) * by->width, tuples = frame->tuples;
    fill_with_zeros(PART(state->counts, 0, cells));
    count_records(state, frame, by, cell_of);
    if (by_persons(state)) {
        const Int32s persons = PART(state->persons, 0, cells);
        const Int32s assigned = PART(state->assigned, frame->first, tuples);
        fill_with_zeros(persons);
        for (int64_t t = 0; t < tuples; t++) AT(persons, AT(cell_of, t)) += AT(assigned, t);
    }
    for (int64_t s = 0; s < state->demands; s++) {
        const UInt64s held = PART(state->held, s * cells, cells), mask = masks_of(state, frame, s);
        for (int64_t at = 0; at < cells; at++) AT(held, at) = 0;
        for (int64_t t = 0; t < tuples; t++) AT(held, AT(cell_of, t)) |= AT(mask, t);
    }
}

/* The same where the cells of the tuples are not needed afterwards. Most time of a search is spent
 * here: sizes are counted without writing cells, and codes that are groups are not looked up. */
static void tally(State *state, const Frame *frame, int64_t j, int64_t level) {
    if (by_persons(state) || state->demands > 0) {
        const Splitters by = split_by_one(state, j, level);
        tally_into(state, frame, &by, state->order);
        return;
    }
    const uint32_t width = (uint32_t)groups_at(state, j, level);
    const int64_t cells = (frame->classes + 1) * width, tuples = frame->tuples;
    const UInt32s group = group_at(state, j, level), column = column_of(state, frame, j);
    const UInt32s class_of = classes_of(state, frame);
    const Int32s weights = weights_of(state, frame), counts = PART(state->counts, 0, cells);
    fill_with_zeros(counts);
    if (level == 0 && AT(state->are_codes, j)) {
        UNROLLED
        for (int64_t t = 0; t < tuples; t++) {
            AT(counts, AT(class_of, t) * width + AT(column, t)) += AT(weights, t);
        }
    } else {
        UNROLLED
        for (int64_t t = 0; t < tuples; t++) {
            const uint32_t cell = AT(class_of, t) * width + AT(group, AT(column, t));
            AT(counts, cell) += AT(weights, t);
        }
    }
}

/* Whether the class in cell `at` of a tally of `cells` cells has enough different values of every
 * attribute. */
static bool diverse(const State *state, int64_t at, int64_t cells) {
    for (int64_t s = 0; s < state->demands; s++) {
        uint64_t mask = AT(state->held, s * cells + at);
        int64_t found = 0;
        for (; mask != 0 && found < AT(state->least_values, s); found++) mask &= mask - 1;
        if (found < AT(state->least_values, s)) return false;
    }
    return true;
}

/* Whether the class in a cell is kept. Where persons are counted, `settle` must have been called
 * (persons.h). */
static inline bool stays(const State *state, int64_t at, int64_t cells) {
    const Int32s members = by_persons(state) ? state->persons : state->counts;
    return AT(members, at) >= state->k && diverse(state, at, cells);
}

/* Whether a tally of all classes, and of one more, by an attribute at a level fits. */
static bool tally_fits(const State *state, const Frame *frame, int64_t j, int64_t level) {
    return (frame->classes + 2) * groups_at(state, j, level) <= state->number.length;
}

/* Add numbers of groups up to those of their parents, in place; the sums are collected in `spare`
 * first. */
static inline void add_up(Int32s counts, Int32s spare, UInt32s member, UInt32s parent) {
    for (int64_t g = 0; g < spare.length; g++) AT(spare, g) = 0;
    for (int64_t g = 0; g < counts.length; g++) {
        AT(spare, AT(parent, AT(member, g))) += AT(counts, g);
    }
    for (int64_t g = 0; g < spare.length; g++) AT(counts, g) = AT(spare, g);
}

/* Turn the tally of a class, which begins at `at`, into that of the next level, in place. There are
 * no more parents than groups; sums are collected after the end of the tally. */
static inline void merge(State *state, int64_t at, int64_t cells, int64_t j, int64_t level) {
    const int64_t groups = groups_at(state, j, level - 1), above = groups_at(state, j, level);
    const UInt32s member = member_at(state, j, level - 1), parent = group_at(state, j, level);
    add_up(PART(state->counts, at, groups), PART(state->counts, cells, above), member, parent);
    if (by_persons(state)) {
        const Int32s spare = PART(state->persons, cells, above);
        add_up(PART(state->persons, at, groups), spare, member, parent);
    }
    for (int64_t s = 0; s < state->demands; s++) {
        const UInt64s held = PART(state->held, s * cells + at, groups);
        const UInt64s spare = PART(state->held, state->demands * cells, above);
        for (int64_t g = 0; g < above; g++) AT(spare, g) = 0;
        for (int64_t g = 0; g < groups; g++) AT(spare, AT(parent, AT(member, g))) |= AT(held, g);
        for (int64_t g = 0; g < above; g++) AT(held, g) = AT(spare, g);
    }
}

/* Reset what is known of the levels of attribute `j` from `bottom` to below `hi`, before they are
 * priced. */
static void forget_prices(State *state, int64_t depth, int64_t j, int64_t bottom) {
    const Doubles extra = BY_LEVEL(state, extra, depth, j), due = BY_LEVEL(state, due, depth, j);
    const Int64s dropped = BY_LEVEL(state, dropped, depth, j);
    const int64_t top = AT(hi_of(state, depth), j), groups = groups_at(state, j, bottom);
    for (int64_t level = bottom; level < top; level++) {
        const Int64s lost = ROW(state->lost, level, state->widest);
        AT(dropped, level) = 0;
        AT(extra, level) = AT(due, level) = 0.0;
        for (int64_t g = 0; g < groups; g++) AT(lost, g) = 0;
    }
}

/* What the `lost` records of every group cost attribute `j` at the levels from `bottom` to below
 * `hi`: add it to `extra`. */
static void charge_lost(State *state, int64_t depth, int64_t j, int64_t bottom) {
    const Doubles extra = BY_LEVEL(state, extra, depth, j);
    for (int64_t level = bottom; level < AT(hi_of(state, depth), j); level++) {
        const Int64s lost = ROW(state->lost, level, state->widest);
        const Doubles charge = charge_at(state, j, level);
        double sum = AT(extra, level);
        for (int64_t g = 0; g < groups_at(state, j, level); g++) {
            sum += (double)AT(lost, g) * AT(charge, g);
        }
        AT(extra, level) = sum;
    }
}

/* The records that the class whose tally begins at `at` loses at a level, added by group. */
static inline int64_t lose(State *state, int64_t at, int64_t cells, int64_t j, int64_t level) {
    const int64_t groups = groups_at(state, j, level);
    const Int32s counts = PART(state->counts, at, groups);
    const Int64s lost = ROW(state->lost, level, state->widest);
    int64_t total = 0;
    if (state->demands == 0) {
        const int32_t k = (int32_t)state->k;
        for (int64_t g = 0; g < groups; g++) {
            const int32_t size = AT(counts, g) < k ? AT(counts, g) : 0;
            AT(lost, g) += size;
            total += size;
        }
    } else {
        for (int64_t g = 0; g < groups; g++) {
            if (AT(counts, g) > 0 && !stays(state, at + g, cells)) {
                AT(lost, g) += AT(counts, g);
                total += AT(counts, g);
            }
        }
    }
    return total;
}

/* Price the levels of attribute `j` from a tally of the first `classes` classes at `lo`. */
static void price_tallied(State *state, int64_t depth, int64_t j, int64_t classes) {
    const int64_t bottom = AT(lo_of(state, depth), j), top = AT(hi_of(state, depth), j);
    const Int64s dropped = BY_LEVEL(state, dropped, depth, j);
    const Doubles due = BY_LEVEL(state, due, depth, j);
    const int64_t groups = groups_at(state, j, bottom), cells = (classes + 1) * groups;
    AT(state->done, WORK) += cells;
    forget_prices(state, depth, j, bottom);
    for (int64_t c = 1; c <= classes; c++) {
        for (int64_t level = bottom; level < top; level++) {
            if (level > bottom) merge(state, c * groups, cells, j, level);
            const int64_t lost = lose(state, c * groups, cells, j, level);
            if (lost == 0) break;
            AT(dropped, level) += lost;
            AT(due, level) += (double)lost * AT(state->fixed, c);
        }
    }
    charge_lost(state, depth, j, bottom);
}

/* What each level of attribute `j` from `lo` up to below `hi` would drop and cost.
 *
 * With `hi` lowered to that level in `j` alone: the records dropped, what they cost attribute `j`
 * above its base, and what they cost the attributes that are fixed already. A class that loses
 * nothing at a level loses nothing above it. */
static void price_levels_by_size(State *state, int64_t depth, int64_t j) {
    const Frame *frame = frame_at(state, depth);
    const int64_t bottom = AT(lo_of(state, depth), j);
    tally(state, frame, j, bottom);
    AT(state->done, WORK) += frame->tuples;
    price_tallied(state, depth, j, frame->classes);
}

/* Sort the tuples of a box by class; those of class `c` begin at `begins[c]`. */
static void arrange(const State *state, const Frame *frame, Int64s begins, UInt32s order) {
    const UInt32s class_of = classes_of(state, frame);
    for (int64_t c = 0; c < frame->classes + 3; c++) AT(begins, c) = 0;
    for (int64_t t = 0; t < frame->tuples; t++) AT(begins, AT(class_of, t) + 2) += 1;
    for (int64_t c = 2; c < frame->classes + 3; c++) AT(begins, c) += AT(begins, c - 1);
    for (int64_t t = 0; t < frame->tuples; t++) {
        AT(order, AT(begins, AT(class_of, t) + 1)++) = (uint32_t)t;
    }
}

/* Reset the counts of both halves before the first class. */
static void forget(State *state) { fill_with_zeros(PART(state->counts, 0, state->touched.length)); }

/* Make `persons` at least `k` exactly where a group of a class has that many. */
static void settle_groups(State *state, const Frame *frame, int64_t found) {
    for (int64_t n = 0; n < found; n++) {
        const int64_t g = AT(state->touched, n);
        if (AT(state->counts, g) >= state->k && AT(state->persons, g) < state->k) {
            AT(state->mark, 0) += 1;
            if (count_persons(state, frame->first, AT(state->first_of, g), 0) >= state->k) {
                AT(state->persons, g) = (int32_t)state->k;
            }
        }
    }
}

/* Tally a class by the groups of an attribute, in the first half; how many groups it has. The
 * tuples must be arranged. */
static int64_t gather(State *state, const Frame *frame, int64_t c, int64_t j, int64_t level) {
    const UInt32s group = group_at(state, j, level), column = column_of(state, frame, j);
    const Int32s weights = weights_of(state, frame), counts = state->counts;
    const Int64s touched = state->touched;
    const int64_t cells = touched.length;
    const bool counts_persons = by_persons(state);
    int64_t found = 0;
    for (int64_t at = AT(state->begins, c); at < AT(state->begins, c + 1); at++) {
        const int64_t t = AT(state->order, at), g = AT(group, AT(column, t));
        if (AT(weights, t) == 0) { /* no record, so it comes last (release.h) */
            if (AT(counts, g) == 0) AT(state->number, g) = 0;
            continue;
        }
        if (AT(counts, g) == 0) {
            AT(touched, found++) = g;
            for (int64_t s = 0; s < state->demands; s++) AT(state->held, s * cells + g) = 0;
            if (counts_persons) {
                AT(state->persons, g) = 0;
                AT(state->first_of, g) = -1;
            }
        }
        AT(counts, g) += AT(weights, t);
        for (int64_t s = 0; s < state->demands; s++) {
            AT(state->held, s * cells + g) |= AT(masks_of(state, frame, s), t);
        }
        if (counts_persons) {
            AT(state->persons, g) += AT(state->assigned, frame->first + t);
            AT(state->next_of, t) = AT(state->first_of, g);
            AT(state->first_of, g) = (int32_t)t;
        }
    }
    if (counts_persons) settle_groups(state, frame, found);
    return found;
}

/* Add the groups of a class up to those of the next level, in the other half; how many. */
static int64_t lift(State *state, int64_t j, int64_t level, int64_t side, int64_t found) {
    const UInt32s member = member_at(state, j, level - 1), group = group_at(state, j, level);
    const int64_t cells = state->touched.length, half = cells / 2;
    const int64_t here = side * half, there = (1 - side) * half;
    int64_t lifted = 0;
    for (int64_t n = 0; n < found; n++) {
        const int64_t g = AT(state->touched, here + n), was = here + g;
        const int64_t parent = AT(group, AT(member, g)), becomes = there + parent;
        if (AT(state->counts, becomes) == 0) {
            AT(state->touched, there + lifted++) = parent;
            for (int64_t s = 0; s < state->demands; s++) AT(state->held, s * cells + becomes) = 0;
        }
        AT(state->counts, becomes) += AT(state->counts, was);
        AT(state->counts, was) = 0;
        for (int64_t s = 0; s < state->demands; s++) {
            AT(state->held, s * cells + becomes) |= AT(state->held, s * cells + was);
        }
    }
    return lifted;
}

/* The records that a class tallied alone loses at a level, added by group. */
static int64_t lose_groups(State *state, int64_t level, int64_t side, int64_t found) {
    const Int64s lost = ROW(state->lost, level, state->widest);
    const int64_t cells = state->touched.length, here = side * (cells / 2);
    int64_t total = 0;
    for (int64_t n = 0; n < found; n++) {
        const int64_t g = AT(state->touched, here + n);
        if (!stays(state, here + g, cells)) {
            AT(lost, g) += AT(state->counts, here + g);
            total += AT(state->counts, here + g);
        }
    }
    return total;
}

/* The same as `price_levels_by_size`, class by class; by persons with a tally per level. */
static void price_levels_by_class(State *state, int64_t depth, int64_t j) {
    const Frame *frame = frame_at(state, depth);
    const int64_t bottom = AT(lo_of(state, depth), j), top = AT(hi_of(state, depth), j);
    const Int64s dropped = BY_LEVEL(state, dropped, depth, j);
    const Doubles due = BY_LEVEL(state, due, depth, j);
    arrange(state, frame, state->begins, state->order);
    forget(state);
    AT(state->done, WORK) += 4 * (frame->tuples + frame->classes);
    forget_prices(state, depth, j, bottom);
    for (int64_t c = 1; c <= frame->classes; c++) {
        int64_t side = 0, found = gather(state, frame, c, j, bottom);
        for (int64_t level = bottom; level < top; level++) {
            if (level > bottom && by_persons(state)) {
                for (int64_t n = 0; n < found; n++) AT(state->counts, AT(state->touched, n)) = 0;
                found = gather(state, frame, c, j, level);
            } else if (level > bottom) {
                found = lift(state, j, level, side, found);
                side = 1 - side;
            }
            const int64_t lost = lose_groups(state, level, side, found);
            if (lost == 0) break;
            AT(dropped, level) += lost;
            AT(due, level) += (double)lost * AT(state->fixed, c);
        }
        const int64_t here = side * (state->touched.length / 2);
        for (int64_t n = 0; n < found; n++) {
            AT(state->counts, here + AT(state->touched, here + n)) = 0;
        }
    }
    charge_lost(state, depth, j, bottom);
}

#endif
