/* Split the classes of a box by an attribute, remove the parts that fail, and merge tuples that no
 * remaining level separates.
 *
 * If a tally of all classes fits, its cells are numbered; else classes are split one by one.
 */
#ifndef SHOAL_SPLITTING_H
#define SHOAL_SPLITTING_H

#include "counting.h"
#include "persons.h"
#include "state.h"

/* Tuples are merged when this many times fewer combinations of groups can differ than before. */
#define COMPRESS_AT 4096.0

/* Keys are exact when there are fewer of them: they fit into 64 bits. */
#define EXACT_KEYS 1.8e19

/* A new class has the sample of the class `c` it is a part of, but its own code for `j`. */
static inline void sample_class(State *state, const Frame *frame, int64_t c, int64_t made,
                                int64_t j, uint32_t code) {
    const UInt32s was = ROW(state->sample, frame->at_sample + c, state->attributes);
    const UInt32s becomes = ROW(state->sample, frame->end_sample + made, state->attributes);
    for (int64_t i = 0; i < state->attributes; i++) AT(becomes, i) = AT(was, i);
    AT(becomes, j) = code;
}

/* What a split made: how many classes stay, the records removed, and the tuples lost by it, which
 * are listed in `chosen`. */
typedef struct { int64_t classes, removed, lost; } Split;

/* Split class by class. Only memory after the segments of the box is written, so the split can be
 * abandoned. */
static Split split_by_class(State *state, const Frame *frame, int64_t j, int64_t level) {
    const UInt32s group = group_at(state, j, level), member = member_at(state, j, level);
    const UInt32s column = column_of(state, frame, j), number = state->number;
    const UInt32s becomes = PART(state->class_of, frame->end_class, frame->tuples);
    const Int64s begins = state->begins;
    Split made = {0, 0, 0};
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

/* Number the cells of a tally that stay; how many do, and the records of those that do not.
 * `origin` says which cell a new class is. */
static Split number_cells(State *state, int64_t classes, int64_t groups) {
    const int64_t cells = (classes + 1) * groups;
    const Int32s counts = PART(state->counts, 0, cells);
    const Int32s members = by_persons(state) ? PART(state->persons, 0, cells) : counts;
    const UInt32s number = PART(state->number, 0, cells), origin = state->origin;
    const int32_t k = (int32_t)state->k;
    const bool plain = state->demands == 0;
    uint32_t made = 0;
    int64_t removed = 0;
    for (int64_t g = 0; g < groups; g++) AT(number, g) = 0;
    for (int64_t at = groups; at < cells; at++) {
        const bool kept = plain ? AT(members, at) >= k : stays(state, at, cells);
        AT(origin, made + 1) = (uint32_t)at;
        made += kept;
        AT(number, at) = kept ? made : 0;
        removed += kept ? 0 : AT(counts, at);
    }
    return (Split){made, removed, 0};
}

/* Write the new classes after the old ones, and turn the cell of each tuple into its new class; how
 * many tuples are lost. */
static int64_t renumber(State *state, const Frame *frame, int64_t j, int64_t level, int64_t made) {
    const uint32_t width = (uint32_t)groups_at(state, j, level);
    const UInt32s member = member_at(state, j, level), number = state->number;
    const UInt32s becomes = PART(state->class_of, frame->end_class, frame->tuples);
    const UInt32s chosen = state->chosen;
    const int64_t tuples = frame->tuples;
    int64_t lost = 0;
    for (int64_t c = 1; c <= made; c++) {
        const uint32_t at = AT(state->origin, c);
        sample_class(state, frame, at / width, c, j, AT(member, at % width));
    }
    for (int64_t t = 0; t < tuples; t++) {
        const uint32_t cell = AT(becomes, t), now = AT(number, cell);
        AT(becomes, t) = now;
        if (now == 0) {
            AT(chosen, lost) = (uint32_t)t;
            lost += cell >= width; /* the cells of removed tuples come first */
        }
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
        for (int64_t g = 0; g < groups; g++) AT(counts, g) = 0;
        for (int64_t n = 0; n < lost; n++) {
            const uint32_t t = AT(chosen, n);
            AT(counts, AT(group, AT(column, t))) += AT(weights, t);
        }
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

/* Split every class by attribute `j` at its level of `hi`, and remove the parts that fail.
 *
 * If more records are removed than the limit allows, or no class is left, the box is empty and the
 * split is not completed. Returns whether the box is not empty. */
static bool split(State *state, int64_t depth, int64_t j) {
    Frame *frame = frame_at(state, depth);
    const int64_t level = AT(hi_of(state, depth), j);
    const bool fits = tally_fits(state, frame, j, level);
    Split made;
    if (fits) {
        tally_into(state, frame, j, level,
                   PART(state->class_of, frame->end_class, frame->tuples));
        if (by_persons(state)) settle(state, frame, j, level);
        made = number_cells(state, frame->classes, groups_at(state, j, level));
    } else {
        made = split_by_class(state, frame, j, level);
    }
    frame->removed += made.removed;
    AT(state->done, WORK) += 3 * frame->tuples;
    if (frame->removed > state->limit || made.classes == 0) return false;
    if (fits) made.lost = renumber(state, frame, j, level, made.classes);
    frame->at_class = frame->end_class;
    frame->at_sample = frame->end_sample;
    frame->end_class += frame->tuples;
    frame->end_sample += made.classes + 1;
    frame->classes = made.classes;
    if (made.removed > 0) pay(state, depth, made.lost);
    age_prices(state, depth, made.removed);
    return true;
}

/* A key for each tuple: its class and its groups at `lo` as the digits of a number.
 *
 * `multiplier` is the factor of the digit of an attribute. Returns how many keys there can be; if
 * that is not below EXACT_KEYS, a key is only a hash. */
static double make_keys(State *state, int64_t depth) {
    const Frame *frame = frame_at(state, depth);
    const UInt32s class_of = classes_of(state, frame);
    const UInt64s keys = PART(state->keys, 0, frame->tuples);
    double radix = (double)(frame->classes + 1);
    uint64_t factor = (uint64_t)(frame->classes + 1);
    for (int64_t t = 0; t < frame->tuples; t++) AT(keys, t) = AT(class_of, t);
    for (int64_t j = 0; j < state->attributes; j++) {
        const int64_t level = AT(lo_of(state, depth), j), groups = groups_at(state, j, level);
        AT(state->multiplier, j) = factor;
        if (level == AT(hi_of(state, depth), j)) continue;
        const UInt32s group = group_at(state, j, level), column = column_of(state, frame, j);
        for (int64_t t = 0; t < frame->tuples; t++) {
            AT(keys, t) += AT(group, AT(column, t)) * factor;
        }
        factor *= (uint64_t)groups;
        radix *= (double)groups;
    }
    return radix;
}

/* Whether two tuples are in one class and have the same groups where an attribute is not fixed.
 * Attribute `skipped` is not compared. */
static bool same(const State *state, int64_t depth, int64_t one, int64_t other, int64_t skipped) {
    const Frame *frame = frame_at(state, depth);
    const UInt32s class_of = classes_of(state, frame);
    if (AT(class_of, one) != AT(class_of, other)) return false;
    for (int64_t j = 0; j < state->attributes; j++) {
        const int64_t level = AT(lo_of(state, depth), j);
        if (level < AT(hi_of(state, depth), j) && j != skipped) {
            const UInt32s group = group_at(state, j, level), column = column_of(state, frame, j);
            if (AT(group, AT(column, one)) != AT(group, AT(column, other))) return false;
        }
    }
    return true;
}

/* Empty a table of keys, which has a power of two of slots: how many. */
static uint64_t clear_slots(State *state, int64_t tuples) {
    uint64_t size = 4;
    while (size < (uint64_t)(2 * tuples)) size *= 2;
    for (uint64_t at = 0; at < size; at++) AT(state->slots, at) = -1;
    return size;
}

/* The slot at which to look for a key first; the next ones follow. */
static inline uint64_t slot_of(uint64_t key, uint64_t size) {
    return ((key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (size - 1);
}

/* Keys whose slots are fetched into the cache before they are looked at. */
#define KEYS_AHEAD 12

/* Copy tuple `t` of a box as the `kept`-th one after the end of the segment, and its persons. */
static void keep(State *state, const Frame *frame, int64_t t, int64_t kept) {
    const int64_t from = frame->first + t, to = frame->end + kept;
    AT(state->weights, to) = AT(state->weights, from);
    if (by_persons(state)) {
        AT(state->assigned, to) = AT(state->assigned, from);
        AT(state->head, to) = AT(state->head, from);
        AT(state->tail, to) = AT(state->tail, from);
    }
    for (int64_t s = 0; s < state->demands; s++) {
        const UInt64s mask = ROW(state->masks, s, state->rows);
        AT(mask, to) = AT(mask, from);
    }
}

/* Add tuple `t` of a box to the `found`-th one after the end of the segment. */
static void join(State *state, const Frame *frame, int64_t t, int64_t found) {
    const int64_t from = frame->first + t, to = frame->end + found;
    AT(state->weights, to) += AT(state->weights, from);
    if (by_persons(state)) {
        AT(state->assigned, to) += AT(state->assigned, from);
        AT(state->link, AT(state->tail, to)) = AT(state->head, from);
        AT(state->tail, to) = AT(state->tail, from);
    }
    for (int64_t s = 0; s < state->demands; s++) {
        const UInt64s mask = ROW(state->masks, s, state->rows);
        AT(mask, to) |= AT(mask, from);
    }
}

/* Keep the first tuple of each key, with the weights and masks of all; how many are kept.
 *
 * Removed tuples are left out. A merged tuple has the codes of its first one, which have the same
 * groups; where keys are not `exact`, equal ones are compared digit by digit. */
static int64_t merge_tuples(State *state, int64_t depth, bool exact) {
    const Frame *frame = frame_at(state, depth);
    const UInt32s class_of = classes_of(state, frame), chosen = state->chosen;
    const UInt64s kept_keys = state->kept_keys;
    const uint64_t size = clear_slots(state, frame->tuples);
    int64_t kept = 0;
    for (int64_t t = 0; t < frame->tuples; t++) {
        if (t + KEYS_AHEAD < frame->tuples) {
            __builtin_prefetch(&AT(state->slots, slot_of(AT(state->keys, t + KEYS_AHEAD), size)));
        }
        if (AT(class_of, t) == 0) continue;
        const uint64_t key = AT(state->keys, t);
        for (uint64_t at = slot_of(key, size);; at = (at + 1) & (size - 1)) {
            const int32_t found = AT(state->slots, at);
            if (found < 0) {
                AT(state->slots, at) = (int32_t)kept;
                AT(kept_keys, kept) = key;
                AT(chosen, kept) = (uint32_t)t;
                keep(state, frame, t, kept++);
                break;
            }
            if (AT(kept_keys, found) == key
                && (exact || same(state, depth, t, AT(chosen, found), state->attributes))) {
                join(state, frame, t, found);
                break;
            }
        }
    }
    return kept;
}

/* Merge tuples when far fewer combinations can differ than before. */
static void compress(State *state, int64_t depth) {
    Frame *frame = frame_at(state, depth);
    const Int64s lo = lo_of(state, depth);
    const Int64s distinct_from = ROW(state->distinct_from, depth, state->attributes);
    double ratio = 1.0;
    for (int64_t j = 0; j < state->attributes; j++) {
        ratio *= (double)groups_at(state, j, AT(distinct_from, j))
                 / (double)groups_at(state, j, AT(lo, j));
    }
    if (ratio < COMPRESS_AT) return;
    AT(state->done, WORK) += 20 * frame->tuples;
    const double radix = make_keys(state, depth);
    const int64_t kept = merge_tuples(state, depth, radix < EXACT_KEYS);
    const UInt32s was = classes_of(state, frame), chosen = state->chosen;
    const UInt32s becomes = PART(state->class_of, frame->end_class, kept);
    for (int64_t n = 0; n < kept; n++) AT(becomes, n) = AT(was, AT(chosen, n));
    for (int64_t j = 0; j < state->attributes; j++) {
        const UInt32s column = column_of(state, frame, j);
        const UInt32s merged = PART(state->codes, j * state->rows + frame->end, kept);
        for (int64_t n = 0; n < kept; n++) AT(merged, n) = AT(column, AT(chosen, n));
        AT(distinct_from, j) = AT(lo, j);
    }
    frame->first = frame->end;
    frame->at_class = frame->end_class;
    frame->tuples = kept;
    frame->end += kept;
    frame->end_class += kept;
}

#endif
