/* Class losses: lower bounds, tightening, branching, diving and neighbours.
 *
 * A class loss depends on class sizes alone. A *cell* is a class of `lo` within a class of `hi`;
 * those of removed classes do not count. At a node of the box every class is a union of cells:
 *
 * 1. Records removed at `hi` are removed. Any other record shares its class with at least its cell,
 *    and there are no more classes than cells.
 * 2. More records are removed since classes owe them (sensitive.h) or since an attribute at a level
 *    drops them. Which cells they are in is not known; the bound assumes the largest.
 * 3. With attribute `j` at its level of `hi` the same holds for the cells that this level leaves,
 *    which are fewer and larger.
 *
 * The loss is multiplied by a factor that never falls as a level rises (ClassObjective), so the
 * factor of `lo` bounds it.
 *
 * The steps of the search are those of other losses (bounds.h, branching.h), whose bound is a sum
 * over attributes. A class loss has no such sum: the bound of a box is counted again, and once more
 * for every attribute that could stay at `hi`.
 */
#ifndef SHOAL_CLASS_LOSS_H
#define SHOAL_CLASS_LOSS_H

#include "bounds.h"
#include "counting.h"
#include "persons.h"
#include "merging.h"
#include "state.h"

enum { DISCERNIBILITY, CLASS_SIZE };

/* A class loss: its kind, the records of the table, and `share[j, l]`, what a level adds to the
 * factor. */
struct ClassLoss {
    int64_t kind, records;
    Doubles share;
};

/* Cells: how many there are, the sum of the squares of their sizes, and the largest size. */
typedef struct {
    int64_t number;
    double squares, largest;
} Cells;

/* What classes cost at least that are unions of these cells. `gone` records are removed that are
 * in none of them, and `more` that are. */
static double least_loss(const ClassLoss *loss, double factor, Cells cells, int64_t gone,
                         int64_t more) {
    const double records = (double)loss->records;
    if (loss->kind == DISCERNIBILITY) {
        const double total =
            cells.squares + records * (double)gone + (double)more * (records - cells.largest);
        return factor * total / (records * records);
    }
    const double released = records - (double)gone - (double)more;
    return factor * records / greater(lesser((double)cells.number, released), 1.0);
}

/* What a level of an attribute adds to the factor. */
static inline double share_at(const State *state, int64_t j, int64_t level) {
    return AT(state->class_loss->share, at_level(state, j, level));
}

/* What the loss of a node is multiplied by. */
static double factor_of(const State *state, Int64s node) {
    double factor = 1.0;
    for (int64_t j = 0; j < state->attributes; j++) factor += share_at(state, j, AT(node, j));
    return factor;
}

/* What `hi` costs: exactly where no class is `failing`, and at least where one is. */
static double cost_of_classes(State *state, int64_t depth) {
    const Frame *frame = frame_at(state, depth);
    const UInt32s class_of = classes_of(state, frame);
    const Int32s weights = weights_of(state, frame), size = state->counts;
    Cells classes = {frame->classes, 0.0, 0.0};
    for (int64_t c = 0; c <= frame->classes; c++) AT(size, c) = 0;
    for (int64_t t = 0; t < frame->tuples; t++) AT(size, AT(class_of, t)) += AT(weights, t);
    for (int64_t c = 1; c <= frame->classes; c++) {
        classes.squares += (double)AT(size, c) * (double)AT(size, c);
        classes.largest = greater(classes.largest, (double)AT(size, c));
    }
    const double factor = factor_of(state, hi_of(state, depth));
    return least_loss(state->class_loss, factor, classes, frame->removed, frame->failing);
}

/* What the node one level below `hi` in attribute `j` costs; `dropped` becomes the records that are
 * dropped for it. Both are lower bounds where classes owe records. A node without classes is no
 * solution: it costs infinity. */
static double cost_below(State *state, int64_t depth, int64_t j, int64_t *dropped) {
    const Frame *frame = frame_at(state, depth);
    const int64_t level = AT(hi_of(state, depth), j) - 1, groups = groups_at(state, j, level);
    const int64_t cells = (frame->classes + 1) * groups;
    Cells classes = {0, 0.0, 0.0};
    tally(state, frame, j, level);
    if (by_persons(state)) settle(state, frame, j, level);
    AT(state->done, WORK) += frame->tuples + cells;
    *dropped = 0;
    for (int64_t at = groups; at < cells; at++) {
        const int64_t size = AT(state->counts, at);
        if (stays(state, at, cells)) {
            classes.number++;
            classes.squares += (double)size * (double)size;
        } else {
            *dropped += size;
        }
    }
    if (classes.number == 0) return INFINITY;
    const double factor = factor_of(state, hi_of(state, depth)) + share_at(state, j, level)
                          - share_at(state, j, level + 1);
    return least_loss(state->class_loss, factor, classes, frame->removed + *dropped, 0);
}

/* The number of `sizes` that are not 0, the sum of their squares, and the largest. */
static Cells measure_cells(Int32s sizes) {
    Cells cells = {0, 0.0, 0.0};
    for (int64_t n = 0; n < sizes.length; n++) {
        const double size = (double)AT(sizes, n);
        cells.number += AT(sizes, n) > 0;
        cells.squares += size * size;
        cells.largest = greater(cells.largest, size);
    }
    return cells;
}

/* Find the slot of a key: that of an equal one before it, whose number it has, or an empty one.
 *
 * Number `n` has the key `kept_keys[n]` and stands for tuple `chosen[n]`. Where keys are not
 * `exact`, equal ones are compared digit by digit, without attribute `by`. */
static inline int32_t *find_slot(const State *state, int64_t depth, uint64_t key, int64_t t,
                                 int64_t by, bool exact, uint64_t table) {
    for (uint64_t at = slot_of(key, table);; at = (at + 1) & (table - 1)) {
        const int32_t found = AT(state->slots, at);
        if (found < 0) return &AT(state->slots, at);
        if (AT(state->kept_keys, found) == key
            && (exact || same(state, depth, t, AT(state->chosen, found), by))) {
            return &AT(state->slots, at);
        }
    }
}

/* List the cells of a box: cell `n` has the key `keys[n]`, and `order[n]` records, of which tuple
 * `chosen[n]` is one. Before that, `keys[t]` are those of the tuples. */
static Cells list_cells(State *state, int64_t depth, bool exact) {
    const Frame *frame = frame_at(state, depth);
    const int64_t tuples = frame->tuples;
    const UInt32s class_of = classes_of(state, frame), sizes = state->order;
    const Int32s weights = weights_of(state, frame), counts = state->counts;
    const uint64_t table = clear_slots(state, tuples);
    int64_t number = 0;
    AT(state->done, WORK) += 10 * tuples;
    for (int64_t t = 0; t < tuples; t++) {
        if (t + KEYS_AHEAD < tuples) {
            __builtin_prefetch(&AT(state->slots, slot_of(AT(state->keys, t + KEYS_AHEAD), table)));
        }
        if (AT(class_of, t) == 0 || AT(weights, t) == 0) continue;
        const uint64_t key = AT(state->keys, t);
        int32_t *slot = find_slot(state, depth, key, t, state->attributes, exact, table);
        if (*slot < 0) {
            *slot = (int32_t)number;
            AT(state->kept_keys, number) = key;
            AT(state->chosen, number) = (uint32_t)t;
            AT(counts, number++) = AT(weights, t);
        } else {
            AT(counts, *slot) += AT(weights, t);
        }
    }
    for (int64_t n = 0; n < number; n++) {
        AT(state->keys, n) = AT(state->kept_keys, n);
        AT(sizes, n) = (uint32_t)AT(counts, n);
    }
    return measure_cells(PART(counts, 0, number));
}

/* Count the cells of a box with attribute `by` at `hi`: unions of the `number` cells listed.
 *
 * The digit of `by` is subtracted from their keys. */
static Cells count_cells(State *state, int64_t depth, int64_t by, int64_t number, bool exact) {
    const Frame *frame = frame_at(state, depth);
    const UInt32s group = group_at(state, by, AT(lo_of(state, depth), by));
    const UInt32s column = column_of(state, frame, by), chosen = state->chosen;
    const UInt64s keys = state->keys, kept_keys = state->kept_keys;
    const uint64_t multiplier = AT(state->multiplier, by);
    const uint64_t table = clear_slots(state, number);
    const Int32s counts = PART(state->counts, 0, number);
    AT(state->done, WORK) += 10 * number;
    for (int64_t n = 0; n < number; n++) {
        AT(kept_keys, n) = AT(keys, n) - AT(group, AT(column, AT(chosen, n))) * multiplier;
        AT(counts, n) = 0;
    }
    for (int64_t n = 0; n < number; n++) {
        if (n + KEYS_AHEAD < number) {
            __builtin_prefetch(&AT(state->slots, slot_of(AT(kept_keys, n + KEYS_AHEAD), table)));
        }
        int32_t *slot =
            find_slot(state, depth, AT(kept_keys, n), AT(chosen, n), by, exact, table);
        if (*slot < 0) *slot = (int32_t)n;
        AT(counts, *slot) += (int32_t)AT(state->order, n);
    }
    return measure_cells(counts);
}

/* Cut off levels between `low` and `high` whose bound is above the best; whether none is left.
 *
 * `score` and `least` become the bounds of the box where an attribute stays at `hi`, and where it
 * is lower. */
static bool cut_by_cells(State *state, int64_t depth, double best) {
    Frame *frame = frame_at(state, depth);
    const ClassLoss *loss = state->class_loss;
    const Int64s low = state->low, high = state->high, lo = lo_of(state, depth);
    const int64_t m = state->attributes, gone = frame->removed;
    const bool exact = make_keys(state, depth) < EXACT_KEYS;
    const Cells cells = list_cells(state, depth, exact);
    const double factor = factor_of(state, low);
    const double total = least_loss(loss, factor, cells, gone, frame->owes);
    if (total > best) {
        note(state, BOUND, low, high);
        return true;
    }
    frame->bound = greater(frame->bound, total);
    for (int64_t j = 0; j < m; j++) {
        const int64_t top = AT(high, j);
        if (AT(low, j) == top) continue;
        const Int64s dropped = BY_LEVEL(state, dropped, depth, j);
        for (int64_t level = AT(low, j); level < top; level++) {
            const int64_t more = larger(frame->owes, AT(dropped, level));
            AT(state->least, j) = least_loss(loss, factor, cells, gone, more);
            if (level == AT(low, j) && AT(state->least, j) > best) {
                note_levels(state, BOUND, low, high, j, level, level);
                AT(low, j) += 1;
            }
        }
        const Cells fewer = count_cells(state, depth, j, cells.number, exact);
        const double risen = factor + share_at(state, j, top) - share_at(state, j, AT(lo, j));
        AT(state->score, j) = least_loss(loss, risen, fewer, gone, frame->owes);
        if (AT(state->score, j) > best) {
            note_levels(state, BOUND, low, high, j, top, top);
            AT(high, j) -= 1;
        }
        if (AT(low, j) > AT(high, j)) return true;
    }
    return false;
}

/* Price levels, cut and lower until nothing changes; whether the box is closed. */
static bool tighten_by_cells(State *state, int64_t depth) {
    const Int64s lo = lo_of(state, depth), hi = hi_of(state, depth);
    const Int64s low = state->low, high = state->high;
    for (;;) {
        for (int64_t j = 0; j < state->attributes; j++) {
            if (AT(lo, j) < AT(hi, j) && !AT(state->fresh, depth * state->attributes + j)) {
                price_levels(state, depth, j);
                raise_lowest(state, depth, j);
            }
            AT(low, j) = AT(lo, j);
            AT(high, j) = AT(hi, j);
        }
        const double best = lesser(AT(state->best, 0), shared_now(state, BEST_COST));
        if (cut_by_cells(state, depth, best + COST_TOLERANCE * greater(1.0, best))) return true;
        bool single = true, rises = false, falls = false;
        for (int64_t j = 0; j < state->attributes; j++) {
            rises |= AT(low, j) > AT(lo, j);
            falls |= AT(high, j) < AT(hi, j);
            AT(lo, j) = AT(low, j);
            single &= AT(lo, j) == AT(hi, j);
        }
        if (falls) {
            if (!lower(state, depth)) return true;
        } else if (!rises) {
            if (single) note(state, SINGLE, lo, hi);
            return single;
        }
    }
}

/* Choose the attribute whose children have the highest bounds; the child of the lower bound comes
 * first. */
static void branch_by_cells(State *state, int64_t depth) {
    Frame *frame = frame_at(state, depth);
    const Int64s lo = lo_of(state, depth), hi = hi_of(state, depth);
    int64_t by = 0;
    double most = -1.0;
    for (int64_t j = 0; j < state->attributes; j++) {
        if (AT(lo, j) == AT(hi, j)) continue;
        const double at = AT(state->score, j) - frame->bound;
        const double below = AT(state->least, j) - frame->bound;
        const double score = (at + COST_TOLERANCE) * (below + COST_TOLERANCE);
        if (score > most) {
            by = j;
            most = score;
        }
    }
    frame->attribute = by;
    frame->status = FIRST_CHILD;
    frame->bound_at = greater(frame->bound, AT(state->score, by));
    frame->bound_below = greater(frame->bound, AT(state->least, by));
    frame->below_first = frame->bound_below <= frame->bound_at;
}

/* Lower `hi` by one level at a time, where that costs least, while the cost does not rise. */
static void dive_by_cells(State *state, int64_t depth) {
    const Frame *frame = frame_at(state, depth);
    const Int64s hi = hi_of(state, depth);
    const int64_t m = state->attributes;
    while (shared_now(state, STOP) == 0.0) {
        int64_t by = m;
        double lowest = cost_of_classes(state, depth);
        for (int64_t j = 0; j < m; j++) {
            if (AT(hi, j) <= AT(state->bottom, j)) continue;
            int64_t dropped;
            const double cost = cost_below(state, depth, j, &dropped);
            if (frame->removed + dropped <= state->limit && cost <= lowest) {
                by = j;
                lowest = cost;
            }
        }
        if (by == m) return;
        for (int64_t j = 0; j < m; j++) AT(state->high, j) = AT(hi, j) - (j == by);
        if (!lower(state, depth)) return;
    }
}

/* Make candidates of the node `hi` and of the safe nodes one level below it. */
static void neighbours_by_cells(State *state, int64_t depth) {
    const Frame *frame = frame_at(state, depth);
    const Int64s lo = lo_of(state, depth), hi = hi_of(state, depth);
    for (int64_t j = 0; j < state->attributes; j++) AT(lo, j) = AT(hi, j);
    add_candidate(state, hi, cost_of_classes(state, depth), frame->removed);
    for (int64_t j = 0; j < state->attributes; j++) {
        if (AT(hi, j) <= AT(state->bottom, j)) continue;
        int64_t dropped;
        const double cost = cost_below(state, depth, j, &dropped);
        if (frame->removed + dropped > state->limit) continue;
        AT(lo, j) = AT(hi, j) - 1;
        add_candidate(state, lo, cost, frame->removed + dropped);
        AT(lo, j) = AT(hi, j);
    }
}

#endif
