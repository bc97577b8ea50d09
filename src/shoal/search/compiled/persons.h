/* Which classes have enough persons, where a person may have records in several tuples.
 *
 * Each person is assigned to one of their tuples. The sum of the persons assigned to the tuples of
 * a class is a lower bound of its persons; its records are an upper bound. Only where neither
 * decides, the persons of a class are counted one by one, up to `k`. Such classes are small or have
 * few persons. Their tuples are linked lists for this: `first_of` a cell, and `next_of` a tuple.
 *
 * Merged tuples (merging.h) are a chain of tuples of the table: from `head` along `link` to
 * `tail`. A deeper box joins chains at their tails, so the chains of the boxes above it stay valid.
 */
#ifndef SHOAL_PERSONS_H
#define SHOAL_PERSONS_H

#include "counting.h"
#include "state.h"

/* The share of the suppression limit that undecided records must reach to be worth a count. */
#define WORTH_COUNTING (1.0 / 16.0)

/* Persons of a list of tuples that are not marked yet, added to those found, up to `k`.
 *
 * A person is marked when `seen` has the current `mark`; a caller raises it for a new class. Tuple
 * `t` and those after it in the list are counted from `first` on. */
static int64_t count_persons(State *state, int64_t first, int64_t t, int64_t found) {
    const int64_t mark = AT(state->mark, 0), k = state->k;
    for (; t >= 0; t = AT(state->next_of, t)) {
        int64_t at = AT(state->head, first + t);
        const int64_t last = AT(state->tail, first + t);
        for (;; at = AT(state->link, at)) {
            const int64_t end = AT(state->persons_from, at + 1);
            for (int64_t i = AT(state->persons_from, at); i < end; i++) {
                const int64_t person = AT(state->person, i);
                if (AT(state->seen, person) != mark) {
                    AT(state->seen, person) = mark;
                    if (++found >= k) return found;
                }
            }
            if (at == last) break;
        }
    }
    return found;
}

/* List the tuples of each cell to which fewer than `k` persons are assigned. */
static void list_tuples(State *state, const Frame *frame, int64_t j, int64_t level) {
    const UInt32s group = group_at(state, j, level), column = column_of(state, frame, j);
    const UInt32s class_of = classes_of(state, frame);
    const Int32s persons = state->persons, first_of = state->first_of, next_of = state->next_of;
    const int64_t width = groups_at(state, j, level), k = state->k, tuples = frame->tuples;
    AT(state->done, WORK) += 2 * tuples;
    for (int64_t at = 0; at < (frame->classes + 1) * width; at++) AT(first_of, at) = -1;
    for (int64_t t = 0; t < tuples; t++) {
        const int64_t c = AT(class_of, t), at = c * width + AT(group, AT(column, t));
        if (AT(persons, at) < k && c != 0) {
            AT(next_of, t) = AT(first_of, at);
            AT(first_of, at) = (int32_t)t;
        }
    }
}

/* After a tally at a level: make `persons` at least `k` exactly where a cell has that many. */
static void settle(State *state, const Frame *frame, int64_t j, int64_t level) {
    const Int32s counts = state->counts, persons = state->persons;
    const int64_t groups = groups_at(state, j, level), k = state->k;
    const int64_t cells = (frame->classes + 1) * groups;
    bool undecided = false;
    for (int64_t at = groups; at < cells; at++) {
        undecided |= (AT(counts, at) >= k) & (AT(persons, at) < k);
    }
    if (!undecided) return;
    list_tuples(state, frame, j, level);
    for (int64_t at = groups; at < cells; at++) {
        if (AT(counts, at) >= k && AT(persons, at) < k) {
            AT(state->mark, 0) += 1;
            if (count_persons(state, frame->first, AT(state->first_of, at), 0) >= k) {
                AT(persons, at) = (int32_t)k;
            }
        }
    }
}

/* Whether a group of the class whose tally begins at `at` has `k` persons; tuples are listed by the
 * groups of `bottom`. */
static bool has_enough_persons(State *state, const Frame *frame, int64_t j, int64_t at,
                               int64_t bottom, int64_t level, int64_t g) {
    const UInt32s member = member_at(state, j, bottom), parent = group_at(state, j, level);
    const int64_t groups = groups_at(state, j, bottom);
    int64_t found = 0;
    AT(state->mark, 0) += 1;
    for (int64_t below = 0; below < groups; below++) {
        if (AT(parent, AT(member, below)) != g) continue;
        found = count_persons(state, frame->first, AT(state->first_of, at + below), found);
    }
    return found >= state->k;
}

/* The records that the class whose tally begins at `at` loses at a level for certain, added by
 * group; `undecided` becomes those of groups that may have too few persons. */
static int64_t lose_by_persons(State *state, int64_t at, int64_t cells, int64_t j, int64_t level,
                               int64_t *undecided) {
    const int64_t k = state->k, groups = groups_at(state, j, level);
    const Int32s counts = PART(state->counts, at, groups);
    const Int32s persons = PART(state->persons, at, groups);
    const Int64s lost = ROW(state->lost, level, state->widest);
    int64_t total = 0, left = 0;
    if (state->demands == 0) {
        for (int64_t g = 0; g < groups; g++) {
            const int64_t size = AT(counts, g);
            const bool few = size < k;
            AT(lost, g) += few ? size : 0;
            total += few ? size : 0;
            left += !few & (AT(persons, g) < k) ? size : 0;
        }
    } else {
        for (int64_t g = 0; g < groups; g++) {
            const int64_t size = AT(counts, g);
            if (size > 0 && (size < k || !diverse(state, at + g, cells))) {
                AT(lost, g) += size;
                total += size;
            } else if (AT(persons, g) < k) {
                left += size;
            }
        }
    }
    *undecided = left;
    return total;
}

/* The records of undecided groups of a class that are lost for lack of persons. `settled` counts
 * the records for which this was decided, and those of them that are lost. */
static int64_t lose_undecided(State *state, const Frame *frame, int64_t at, int64_t cells,
                              int64_t j, int64_t bottom, int64_t level) {
    const int64_t k = state->k, groups = groups_at(state, j, level);
    const Int64s lost = ROW(state->lost, level, state->widest);
    int64_t total = 0;
    for (int64_t g = 0; g < groups; g++) {
        const int64_t size = AT(state->counts, at + g);
        if (size < k || AT(state->persons, at + g) >= k || !diverse(state, at + g, cells)) continue;
        AT(state->settled, 0) += (double)size;
        if (has_enough_persons(state, frame, j, at, bottom, level, g)) {
            AT(state->persons, at + g) = (int32_t)k;
        } else {
            AT(lost, g) += size;
            AT(state->settled, 1) += (double)size;
            total += size;
        }
    }
    return total;
}

/* What each level from `bottom` on drops and costs, at least, or exactly when `exact`. */
static void price_from(State *state, int64_t depth, int64_t j, int64_t bottom, bool exact) {
    const Frame *frame = frame_at(state, depth);
    const int64_t top = AT(hi_of(state, depth), j), groups = groups_at(state, j, bottom);
    const int64_t cells = (frame->classes + 1) * groups;
    const Int64s dropped = BY_LEVEL(state, dropped, depth, j), undecided = state->undecided;
    const Doubles due = BY_LEVEL(state, due, depth, j);
    tally(state, frame, j, bottom);
    if (exact) list_tuples(state, frame, j, bottom);
    AT(state->done, WORK) += 2 * (frame->tuples + cells);
    forget_prices(state, depth, j, bottom);
    for (int64_t level = bottom; level < top; level++) AT(undecided, level) = 0;
    for (int64_t c = 1; c <= frame->classes; c++) {
        for (int64_t level = bottom; level < top; level++) {
            if (level > bottom) merge(state, c * groups, cells, j, level);
            int64_t left;
            int64_t lost = lose_by_persons(state, c * groups, cells, j, level, &left);
            AT(undecided, level) += left;
            if (left == 0 && lost == 0) break;
            if (left > 0 && exact) {
                lost += lose_undecided(state, frame, c * groups, cells, j, bottom, level);
            }
            AT(dropped, level) += lost;
            AT(due, level) += (double)lost * AT(state->fixed, c);
        }
    }
    charge_lost(state, depth, j, bottom);
}

/* The same as `price_levels_by_size`, by persons; what is dropped is a lower bound.
 *
 * First by records and assigned persons. Levels that drop too much by that need no more. Above them
 * the undecided groups are counted if it is worth it: the share of undecided records that were
 * removed so far predicts enough removals compared with the limit. Where it is not done, fewer
 * dropped records are known, and the bound is lower but still valid. */
static void price_levels_by_persons(State *state, int64_t depth, int64_t j) {
    const Frame *frame = frame_at(state, depth);
    const int64_t bottom = AT(lo_of(state, depth), j), top = AT(hi_of(state, depth), j);
    const Int64s dropped = BY_LEVEL(state, dropped, depth, j);
    price_from(state, depth, j, bottom, false);
    int64_t level = bottom, most = 0;
    while (level < top && frame->removed + AT(dropped, level) > state->limit) level++;
    for (int64_t above = level; above < top; above++) {
        most = larger(most, AT(state->undecided, above));
    }
    const double asked = WORTH_COUNTING * (double)state->limit * AT(state->settled, 0);
    if ((double)most * AT(state->settled, 1) > asked) price_from(state, depth, j, level, true);
}

#endif
