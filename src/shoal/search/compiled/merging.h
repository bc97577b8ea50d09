/* Merge tuples that no remaining level separates.
 *
 * Tuples of one class with the same groups at `lo` in every attribute that is not fixed stay
 * together in the whole box. They become one tuple with the weights and masks of all.
 */
#ifndef SHOAL_MERGING_H
#define SHOAL_MERGING_H

#include "counting.h"
#include "state.h"

/* Tuples are merged when this many times fewer combinations of groups can differ than before. */
#define COMPRESS_AT 4096.0

/* Keys are exact when there are fewer of them: they fit into 64 bits. */
#define EXACT_KEYS 1.8e19

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
        UNROLLED
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
