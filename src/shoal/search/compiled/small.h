/* Bounds from the tuples of small classes alone.
 *
 * A class of many records seldom has a part of fewer than `k`. For k = 5 and 12 attributes of
 * mach2019, classes of fewer than 50 records have a sixth of the tuples, and 95 % of the records
 * that a level drops. So the tuples of *small* classes, with fewer than SMALL * k records, are
 * listed, and levels are priced by them. What large classes drop is left out. So the dropped
 * records that are counted are some of those that all tuples would show, and what they cost is a
 * lower bound. Splits count all tuples: what is removed is exact. Where fewer than `k` records may
 * be suppressed, the few that large classes drop decide, and all tuples are counted.
 */
#ifndef SHOAL_SMALL_H
#define SHOAL_SMALL_H

#include "counting.h"
#include "splitting.h"
#include "state.h"

/* Indices of `small`: the partition whose tuples are listed and where these begin, how many tuples
 * and classes are listed. */
enum { LISTED, LISTED_FIRST, TUPLES, CLASSES, SMALL_LENGTH };

/* Lists of a larger share of all tuples save too little. */
#define LARGEST_LIST 0.7

/* List the tuples of the small classes of a box, unless they are; whether that pays. */
static bool list_small(State *state, const Frame *frame) {
    const Int64s small = state->small;
    if (!lists_small(state) || frame->few < 0 || frame->tuples < state->list_from) return false;
    if (state->limit < state->k) return false;
    if (AT(small, LISTED) != frame->serial || AT(small, LISTED_FIRST) != frame->first) {
        const UInt32s class_of = classes_of(state, frame);
        const Int32s weights = weights_of(state, frame);
        int64_t found = 0;
        UNROLLED
        for (int64_t t = 0; t < frame->tuples; t++) {
            const uint32_t c = AT(class_of, t);
            AT(state->small_tuple, found) = (uint32_t)t;
            AT(state->small_class, found) = c;
            AT(state->small_weight, found) = AT(weights, t);
            found += c - 1 < (uint32_t)frame->few; /* removed tuples have class 0 */
        }
        AT(small, LISTED) = frame->serial;
        AT(small, LISTED_FIRST) = frame->first;
        AT(small, TUPLES) = found;
        AT(small, CLASSES) = frame->few;
        AT(state->done, WORK) += frame->tuples;
    }
    return (double)AT(small, TUPLES) <= LARGEST_LIST * (double)frame->tuples;
}

/* Whether a tally of the listed classes by so many groups fits. */
static bool small_fits(const State *state, int64_t groups) {
    return (AT(state->small, CLASSES) + 2) * groups <= state->number.length;
}

/* Count the listed tuples by class and group of attribute `j` at a level: `order` has the cells of
 * tuples, `counts` and `held` the records and values of cells. */
static void tally_small(State *state, const Frame *frame, int64_t j, int64_t level) {
    const uint32_t width = (uint32_t)groups_at(state, j, level);
    const int64_t tuples = AT(state->small, TUPLES);
    const int64_t cells = (AT(state->small, CLASSES) + 1) * width;
    const UInt32s group = group_at(state, j, level), column = column_of(state, frame, j);
    const UInt32s listed = PART(state->small_tuple, 0, tuples), cell_of = state->order;
    const Int32s counts = PART(state->counts, 0, cells);
    fill_with_zeros(counts);
    UNROLLED
    for (int64_t n = 0; n < tuples; n++) {
        const uint32_t g = AT(group, AT(column, AT(listed, n)));
        const uint32_t cell = AT(cell_of, n) = AT(state->small_class, n) * width + g;
        AT(counts, cell) += AT(state->small_weight, n);
    }
    for (int64_t s = 0; s < state->demands; s++) {
        const UInt64s held = PART(state->held, s * cells, cells), mask = masks_of(state, frame, s);
        for (int64_t at = 0; at < cells; at++) AT(held, at) = 0;
        for (int64_t n = 0; n < tuples; n++) AT(held, AT(cell_of, n)) |= AT(mask, AT(listed, n));
    }
    AT(state->done, WORK) += tuples;
}

/* What each level of attribute `j` would drop from the listed classes, and cost. */
static void price_small(State *state, int64_t depth, int64_t j) {
    tally_small(state, frame_at(state, depth), j, AT(lo_of(state, depth), j));
    price_tallied(state, depth, j, AT(state->small, CLASSES));
    AT(state->fresh, depth * state->attributes + j) = true;
}

#endif
