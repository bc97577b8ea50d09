/* Split the classes of a box by attributes and remove the parts that fail.
 *
 * If a tally of all classes fits, its cells are numbered; else classes are split one by one. Where
 * several attributes fall, classes are split by them at once: that takes two passes over the tuples
 * instead of two for each. The classes are the same, since a part of a class that fails fails too.
 */
#ifndef SHOAL_SPLITTING_H
#define SHOAL_SPLITTING_H

#include "counting.h"
#include "persons.h"
#include "state.h"

/* Classes are split by several attributes at once while they have no more cells for each tuple. */
#define SPLIT_CELLS_PER_TUPLE 1

/* A new class has the sample of the class `c` it is a part of, but its own code for `j`. */
static inline void sample_class(State *state, const Frame *frame, int64_t c, int64_t made,
                                int64_t j, uint32_t code) {
    const UInt32s was = ROW(state->sample, frame->at_sample + c, state->attributes);
    const UInt32s becomes = ROW(state->sample, frame->end_sample + made, state->attributes);
    for (int64_t i = 0; i < state->attributes; i++) AT(becomes, i) = AT(was, i);
    AT(becomes, j) = code;
}

/* What a split made: how many classes stay, the records removed, and the tuples lost by it, which
 * are listed in `chosen`. The first `few` of the classes are small, -1 if that is not known. */
typedef struct { int64_t classes, removed, lost, few; } Split;

/* Split class by class. Only memory after the segments of the box is written, so the split can be
 * abandoned. */
static Split split_by_class(State *state, const Frame *frame, int64_t j, int64_t level) {
    const UInt32s group = group_at(state, j, level), member = member_at(state, j, level);
    const UInt32s column = column_of(state, frame, j), number = state->number;
    const UInt32s becomes = PART(state->class_of, frame->end_class, frame->tuples);
    const Int64s begins = state->begins;
    Split made = {0, 0, 0, -1};
    arrange(state, frame, begins, state->order);
    forget(state);
    for (int64_t at = AT(begins, 0); at < AT(begins, 1); at++) {
        AT(becomes, AT(state->order, at)) = 0;
    }
    for (int64_t c = 1; c <= frame->classes; c++) {
        const int64_t found = gather(state, frame, c, j, level);
        for (int64_t n = 0; n < found; n++) {
            const int64_t g = AT(state->touched, n);
            if (stays(state, g, state->touched.length)) {
                AT(number, g) = (uint32_t)++made.classes;
                sample_class(state, frame, c, made.classes, j, AT(member, g));
            } else {
                AT(number, g) = 0;
                made.removed += AT(state->counts, g);
            }
        }
        for (int64_t at = AT(begins, c); at < AT(begins, c + 1); at++) {
            const uint32_t t = AT(state->order, at), now = AT(number, AT(group, AT(column, t)));
            AT(becomes, t) = now;
            AT(state->chosen, made.lost) = t;
            made.lost += now == 0;
        }
        for (int64_t n = 0; n < found; n++) AT(state->counts, AT(state->touched, n)) = 0;
    }
    return made;
}

/* A class is small with fewer than so many times `k` records. */
enum { SMALL = 12 };

/* Whether levels are priced by small classes alone (small.h): where classes stay by their records
 * and different values, and the loss is a sum over attributes. */
static bool lists_small(const State *state) {
    return !by_persons(state) && state->values == NULL && state->class_loss == NULL;
}

/* Number a cell of a tally as the next class if it stays; `origin` says which cell a class is. */
static inline void number_cell(State *state, int64_t at, int64_t cells, Split *made) {
    const bool kept = stays(state, at, cells);
    AT(state->origin, made->classes + 1) = (uint32_t)at;
    made->classes += kept;
    AT(state->number, at) = kept ? (uint32_t)made->classes : 0;
    made->removed += kept ? 0 : AT(state->counts, at);
}

/* Number the cells of a tally that stay, where some classes are small those first; how many do, and
 * the records of those that do not.
 *
 * Cells with records are listed first, small ones from the front of `chosen`, others from its back:
 * nothing branches on sizes, which are hard to foretell. All other cells are 0. */
static Split number_cells(State *state, int64_t classes, int64_t groups) {
    const int64_t cells = (classes + 1) * groups, last = state->chosen.length - 1;
    const bool lists = lists_small(state);
    const int32_t most = lists ? (int32_t)smaller(SMALL * state->k, INT32_MAX) : INT32_MAX;
    const Int32s counts = PART(state->counts, 0, cells);
    const UInt32s chosen = state->chosen;
    int64_t small = 0, large = 0;
    Split made = {0, 0, 0, -1};
    for (int64_t at = 0; at < cells; at++) AT(state->number, at) = 0;
    UNROLLED
    for (int64_t at = groups; at < cells; at++) {
        const int32_t size = AT(counts, at);
        AT(chosen, small) = AT(chosen, last - large) = (uint32_t)at;
        small += (size > 0) & (size < most);
        large += size >= most;
    }
    for (int64_t n = 0; n < small; n++) number_cell(state, AT(chosen, n), cells, &made);
    if (lists) made.few = made.classes;
    for (int64_t n = 0; n < large; n++) number_cell(state, AT(chosen, last - n), cells, &made);
    return made;
}

/* Write the new classes after the old ones: the cells in `origin`. */
static void sample_cells(State *state, const Frame *frame, const Splitters *by, int64_t made) {
    const int64_t m = state->attributes;
    for (int64_t c = 1; c <= made; c++) {
        const int64_t cell = AT(state->origin, c);
        int64_t digits = cell % by->width;
        const UInt32s was = ROW(state->sample, frame->at_sample + cell / by->width, m);
        const UInt32s becomes = ROW(state->sample, frame->end_sample + c, m);
        for (int64_t i = 0; i < m; i++) AT(becomes, i) = AT(was, i);
        for (int64_t n = by->count - 1; n >= 0; n--) {
            const int64_t j = by->attribute[n], groups = groups_at(state, j, by->level[n]);
            AT(becomes, j) = AT(member_at(state, j, by->level[n]), digits % groups);
            digits /= groups;
        }
    }
}

/* Turn the cell of each tuple into its new class; how many tuples are lost. */
static int64_t renumber(State *state, const Frame *frame, uint32_t width) {
    const UInt32s becomes = PART(state->class_of, frame->end_class, frame->tuples);
    const UInt32s number = state->number, chosen = state->chosen;
    const int64_t tuples = frame->tuples;
    int64_t lost = 0;
    UNROLLED
    for (int64_t t = 0; t < tuples; t++) {
        const uint32_t cell = AT(becomes, t), now = AT(number, cell);
        AT(becomes, t) = now;
        AT(chosen, lost) = (uint32_t)t;
        lost += (now == 0) & (cell >= width); /* the cells of removed tuples come first */
    }
    return lost;
}

/* Add what the lost tuples cost each attribute at each level left to what removed records pay.
 *
 * They are counted by their group at `lo` first, which determines their groups above it. Removed
 * and dropped records together only grow as classes split, but those removed now may be among the
 * known dropped ones, so what they pay is subtracted from `extra`. */
static void pay(State *state, int64_t depth, int64_t lost) {
    const Frame *frame = frame_at(state, depth);
    const Int32s counts = state->counts, weights = weights_of(state, frame);
    const UInt32s chosen = state->chosen;
    for (int64_t i = 0; i < state->attributes; i++) {
        const int64_t lo = AT(lo_of(state, depth), i), hi = AT(hi_of(state, depth), i);
        const int64_t groups = groups_at(state, i, lo);
        const UInt32s group = group_at(state, i, lo), member = member_at(state, i, lo);
        const UInt32s column = column_of(state, frame, i);
        const Doubles paid = BY_LEVEL(state, paid, depth, i);
        const Doubles extra = BY_LEVEL(state, extra, depth, i);
        for (int64_t g = 0; g < 2 * groups; g++) AT(counts, g) = 0;
        for (int64_t n = 0; n < lost; n++) { /* in two tables: an add seldom waits for the last */
            const uint32_t t = AT(chosen, n);
            AT(counts, (n & 1) * groups + AT(group, AT(column, t))) += AT(weights, t);
        }
        for (int64_t g = 0; g < groups; g++) AT(counts, g) += AT(counts, groups + g);
        for (int64_t level = lo; level <= hi; level++) {
            const UInt32s above = group_at(state, i, level);
            const Doubles charge = charge_at(state, i, level);
            double pays = 0.0;
            for (int64_t g = 0; g < groups; g++) {
                pays += AT(counts, g) * AT(charge, AT(above, AT(member, g)));
            }
            AT(paid, level) += pays;
            AT(extra, level) = greater(AT(extra, level) - pays, 0.0);
        }
    }
}

/* After a split: nothing is fresh, and `removed` records are no longer dropped but removed. */
static void age_prices(State *state, int64_t depth, int64_t removed) {
    for (int64_t i = 0; i < state->attributes; i++) {
        const Doubles due = BY_LEVEL(state, due, depth, i);
        const Int64s dropped = BY_LEVEL(state, dropped, depth, i);
        AT(state->fresh, depth * state->attributes + i) = false;
        for (int64_t level = AT(lo_of(state, depth), i); level < AT(hi_of(state, depth), i);
             level++) {
            AT(due, level) = 0.0;
            AT(dropped, level) = larger(AT(dropped, level) - removed, 0);
        }
    }
}

/* After a split: the new classes are those of the box. */
static void take_classes(State *state, int64_t depth, Split made) {
    Frame *frame = frame_at(state, depth);
    frame->at_class = frame->end_class;
    frame->at_sample = frame->end_sample;
    frame->end_class += frame->tuples;
    frame->end_sample += made.classes + 1;
    frame->classes = made.classes;
    frame->few = made.few;
    frame->serial = AT(state->partitions, 0) += 1;
    if (made.removed > 0) pay(state, depth, made.lost);
    age_prices(state, depth, made.removed);
}

/* Split every class by attributes at their levels of `hi`, and remove the parts that fail.
 *
 * If more records are removed than the limit allows, or no class is left, the box is empty and the
 * split is not completed. Returns whether the box is not empty. */
static bool split(State *state, int64_t depth, const Splitters *by) {
    Frame *frame = frame_at(state, depth);
    const int64_t j = by->attribute[0], level = by->level[0];
    const bool fits = by->count > 1 || tally_fits(state, frame, j, level);
    Split made;
    if (fits) {
        tally_into(state, frame, by, PART(state->class_of, frame->end_class, frame->tuples));
        if (by_persons(state)) settle(state, frame, j, level);
        made = number_cells(state, frame->classes, by->width);
    } else {
        made = split_by_class(state, frame, j, level);
    }
    frame->removed += made.removed;
    AT(state->done, WORK) += 2 * frame->tuples;
    if (frame->removed > state->limit || made.classes == 0) return false;
    if (fits) {
        made.lost = renumber(state, frame, (uint32_t)by->width);
        sample_cells(state, frame, by, made.classes);
    }
    take_classes(state, depth, made);
    return true;
}

/* The attribute among those that fall that drops most; their number if none falls. */
static int64_t worst_fall(const State *state, int64_t depth) {
    int64_t most = -1, by = state->attributes;
    for (int64_t j = 0; j < state->attributes; j++) {
        const int64_t level = AT(hi_of(state, depth), j);
        const int64_t dropped = AT(BY_LEVEL(state, dropped, depth, j), level);
        if (AT(state->falls, j) && dropped > most) {
            most = dropped;
            by = j;
        }
    }
    return by;
}

/* Choose the attributes to split by next among those that fall: those that drop most, several at
 * once where their cells are few. */
static Splitters next_splitters(State *state, int64_t depth) {
    const Frame *frame = frame_at(state, depth);
    const int64_t cells = smaller(state->number.length, frame->tuples * SPLIT_CELLS_PER_TUPLE);
    Splitters by = {0, {0}, {0}, 1};
    while (by.count < SPLITTERS) {
        const int64_t j = worst_fall(state, depth);
        if (j == state->attributes) break;
        const int64_t level = AT(hi_of(state, depth), j), groups = groups_at(state, j, level);
        const int64_t width = by.width * groups;
        if (by.count > 0 && (by_persons(state) || (frame->classes + 2) * width > cells)) break;
        by.attribute[by.count] = j;
        by.level[by.count++] = level;
        by.width = width;
        AT(state->falls, j) = false;
    }
    return by;
}

#endif
