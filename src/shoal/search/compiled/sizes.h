/* Whether the memory that Python hands over has the sizes that all other code relies on.
 *
 * A wrong size is a mistake in Python: the search refuses to run instead of writing elsewhere. The
 * numbers inside the arrays (codes, groups, classes) are not looked at here, except those that say
 * where other arrays begin and end; the checked build tests every access.
 */
#ifndef SHOAL_SIZES_H
#define SHOAL_SIZES_H

#include "class_loss.h"
#include "release.h"
#include "removal.h"
#include "state.h"
#include "together.h"

/* The product of three sizes; -1, which no array has, where one is negative or it is too large. */
static int64_t product(int64_t a, int64_t b, int64_t c) {
    if (a < 0 || b < 0 || c < 0) return -1;
    if (a == 0 || b == 0 || c == 0) return 0;
    if (a > INT64_MAX / b || a * b > INT64_MAX / c) return -1;
    return a * b * c;
}

#define HAS(array, a, b, c) ((array).length >= 0 && (array).length == product(a, b, c))

/* The numbers are in the range of their types, and not empty. */
static bool numbers_are_right(const State *state) {
    return state->attributes > 0 && state->levels > 0 && state->widest > 0 && state->tuples > 0
        && state->tuples < INT32_MAX && state->rows >= state->tuples && state->classes > 0
        && state->depths >= state->attributes + 2 && state->demands >= 0 && state->k > 0
        && state->k <= INT32_MAX && state->limit >= 0 && state->list_from >= 0;
}

static bool problem_is_right(const State *state) {
    const int64_t m = state->attributes, levels = state->levels, widest = state->widest;
    return HAS(state->bottom, m, 1, 1) && HAS(state->group, m, levels, widest)
        && HAS(state->groups, m, levels, 1) && HAS(state->member, m, levels, widest)
        && HAS(state->are_codes, m, 1, 1)
        && HAS(state->base, m, levels, 1) && HAS(state->charge, m, levels, widest)
        && HAS(state->priority, m, 1, 1) && HAS(state->least_values, state->demands, 1, 1);
}

/* On a path down, classes are numbered once for each box and once for each segment of tuples. */
static bool tuples_are_right(const State *state) {
    const int64_t m = state->attributes, rows = state->rows, tuples = state->tuples;
    const int64_t classes_of_boxes = product(tuples, state->depths - 1, 1);
    return HAS(state->codes, m, rows, 1) && HAS(state->weights, rows, 1, 1)
        && HAS(state->masks, state->demands, rows, 1) && classes_of_boxes > 0
        && state->class_of.length - rows >= classes_of_boxes
        && HAS(state->sample, state->classes, state->depths, m);
}

static bool work_space_is_right(const State *state) {
    const int64_t m = state->attributes, widest = state->widest, tuples = state->tuples;
    const int64_t cells = state->number.length, classes = state->classes;
    return cells >= 2 * widest && state->counts.length >= cells && state->counts.length > tuples
        && HAS(state->held, state->demands, cells, 1) && HAS(state->origin, classes + 2, 1, 1)
        && HAS(state->chosen, tuples + 1, 1, 1) && HAS(state->order, tuples, 1, 1)
        && HAS(state->begins, classes + 3, 1, 1) && HAS(state->touched, 2, widest, 1)
        && state->partitions.length == 1 && HAS(state->small, SMALL_LENGTH, 1, 1)
        && HAS(state->small_tuple, tuples + 1, 1, 1) && HAS(state->small_class, tuples + 1, 1, 1)
        && HAS(state->small_weight, tuples + 1, 1, 1)
        && HAS(state->keys, tuples, 1, 1) && HAS(state->kept_keys, tuples, 1, 1)
        && HAS(state->slots, 4 * tuples + 8, 1, 1) && HAS(state->multiplier, m, 1, 1)
        && HAS(state->fixed, classes + 1, 1, 1) && HAS(state->lost, state->levels, widest, 1)
        && HAS(state->low, m, 1, 1) && HAS(state->high, m, 1, 1) && HAS(state->falls, m, 1, 1)
        && HAS(state->score, m, 1, 1) && HAS(state->least, m, 1, 1);
}

static bool stack_is_right(const State *state) {
    const int64_t depths = state->depths, m = state->attributes, levels = state->levels;
    return HAS(state->frames, depths, 1, 1) && HAS(state->lo, depths, m, 1)
        && HAS(state->hi, depths, m, 1) && HAS(state->distinct_from, depths, m, 1)
        && HAS(state->fresh, depths, m, 1) && HAS(state->owed, depths, m, 1)
        && HAS(state->paid, depths, m, levels) && HAS(state->extra, depths, m, levels)
        && HAS(state->due, depths, m, levels) && HAS(state->dropped, depths, m, levels);
}

/* Beyond the candidates and notes at which an exploration pauses there is space for those of one
 * box: `hi` falls at most as often as there are levels, each level is closed once, and sets of
 * attributes are looked at only below the number of notes at which it pauses. */
static bool output_is_right(const State *state) {
    const int64_t m = state->attributes, falls = state->depths - 2 - m;
    const int64_t found = CANDIDATES + falls + 1;
    const int64_t noted = state->log ? NOTES + SETS + 3 * (falls + m) + 3 : 0;
    return state->done.length == DONE_LENGTH && state->best.length == 2
        && HAS(state->costs, found, 1, 1) && HAS(state->removed, found, 1, 1)
        && HAS(state->nodes, found, m, 1) && HAS(state->notes, noted, 1 + 2 * m, 1)
        && state->shared.length == SHARED_LENGTH;
}

static bool persons_are_right(const State *state) {
    const int64_t tuples = state->tuples, rows = state->rows, counts = state->counts.length;
    if (state->mark.length != 1 || state->settled.length != 2) return false;
    if (!HAS(state->undecided, state->levels, 1, 1)) return false;
    if (!by_persons(state)) return state->assigned.length == 0;
    if (!HAS(state->assigned, rows, 1, 1) || !HAS(state->head, rows, 1, 1)
        || !HAS(state->tail, rows, 1, 1) || !HAS(state->next_of, tuples, 1, 1)
        || !HAS(state->link, tuples, 1, 1) || !HAS(state->persons, counts, 1, 1)
        || !HAS(state->first_of, counts, 1, 1) || !HAS(state->persons_from, tuples + 1, 1, 1)
        || AT(state->persons_from, 0) != 0
        || AT(state->persons_from, tuples) != state->person.length) {
        return false;
    }
    for (int64_t i = 0; i < state->person.length; i++) {
        if (AT(state->person, i) < 0 || AT(state->person, i) >= state->seen.length) return false;
    }
    return true;
}

static bool demand_is_right(const Values *values, int64_t d) {
    const int64_t first = AT(values->first, d), last = AT(values->last, d);
    const int64_t kind = AT(values->kind, d), heights = AT(values->heights, d);
    return first >= 0 && last >= first && last <= values->values && last - first <= values->widest
        && kind >= DIFFERENT && kind <= HIERARCHICAL && heights >= 0 && heights <= values->highest
        && (kind != RECURSIVE || AT(values->different, d) > 0);
}

static bool values_are_right(const State *state) {
    const Values *values = state->values;
    if (values == NULL) return true;
    const int64_t demands = values->demands, all = values->values, widest = values->widest;
    const int64_t tuples = state->tuples, sides = 2 * state->widest;
    if (demands < 0 || all < 0 || widest < 0 || values->highest < 1 || values->nodes < 1
        || !HAS(values->kind, demands, 1, 1) || !HAS(values->number, demands, 1, 1)
        || !HAS(values->different, demands, 1, 1) || !HAS(values->first, demands, 1, 1)
        || !HAS(values->last, demands, 1, 1) || !HAS(values->heights, demands, 1, 1)
        || !HAS(values->most, demands, widest, 1) || !HAS(values->least, demands, widest, 1)
        || !HAS(values->ancestor, demands, values->highest, widest)
        || !HAS(values->starts, tuples + 1, 1, 1) || AT(values->starts, 0) != 0
        || AT(values->starts, tuples) != values->value.length
        || !HAS(values->counted, values->value.length, 1, 1)) {
        return false;
    }
    for (int64_t d = 0; d < demands; d++) {
        if (!demand_is_right(values, d)) return false;
    }
    return HAS(values->tally, sides, all, 1) && HAS(values->sizes, sides, 1, 1)
        && HAS(values->touched, sides, 1, 1) && HAS(values->order, tuples, 1, 1)
        && HAS(values->begins, state->classes + 3, 1, 1) && values->arranged.length == 1
        && HAS(values->ranked, all, 1, 1) && HAS(values->net, values->nodes, 1, 1)
        && HAS(values->over, values->nodes, 1, 1) && HAS(values->under, values->nodes, 1, 1)
        && HAS(values->failed, state->attributes, 1, 1) && values->logarithms.length > 0;
}

static bool release_is_right(const State *state) {
    const Release *release = state->release;
    if (release == NULL) return true;
    const int64_t levels = state->levels, widest = state->widest, bins = release->bins;
    return state->values != NULL && !by_persons(state) && release->k_map >= 0 && bins >= 0
        && release->width > 0
        && (HAS(release->people, state->tuples, 1, 1)
            || (release->people.length == 0 && release->k_map == 0 && release->presences == 0))
        && HAS(release->most_share, release->presences, 1, 1)
        && HAS(release->least_share, release->presences, 1, 1) && release->average.length == 1
        && HAS(release->threshold, release->aboves, 1, 1)
        && HAS(release->share, release->aboves, 1, 1)
        && HAS(release->cheapest, state->attributes, levels, widest)
        && HAS(release->people_of, 2, widest, 1) && HAS(release->room_of, state->classes, 1, 1)
        && HAS(release->room, levels, widest, 1) && HAS(release->classes, levels, 1, 1)
        && HAS(release->records, levels, 1, 1) && HAS(release->refused, levels, 1, 1)
        && HAS(release->bin_classes, levels, bins, 1) && HAS(release->bin_records, levels, bins, 1)
        && HAS(release->small, levels, release->aboves, 1)
        && HAS(release->large, levels, release->aboves, 1);
}

/* Class losses tally all classes by any attribute, so such a tally must fit. */
static bool class_loss_is_right(const State *state) {
    const ClassLoss *loss = state->class_loss;
    if (loss == NULL) return true;
    const int64_t cells = product(state->classes + 1, state->widest, 1);
    return HAS(loss->share, state->attributes, state->levels, 1) && loss->records > 0
        && (loss->kind == DISCERNIBILITY || loss->kind == CLASS_SIZE) && cells > 0
        && state->number.length >= cells;
}

static bool sizes_are_right(const State *state) {
    return numbers_are_right(state) && problem_is_right(state) && tuples_are_right(state)
        && work_space_is_right(state) && stack_is_right(state) && output_is_right(state)
        && persons_are_right(state) && values_are_right(state) && release_is_right(state)
        && class_loss_is_right(state);
}

/* Whether the levels of the first box are levels. */
static bool levels_are_right(const State *state) {
    const Int64s lo = lo_of(state, 0), hi = hi_of(state, 0);
    for (int64_t j = 0; j < state->attributes; j++) {
        if (AT(lo, j) < AT(state->bottom, j) || AT(lo, j) > AT(hi, j)) return false;
        if (AT(state->bottom, j) < 0 || AT(hi, j) >= state->levels) return false;
    }
    return true;
}

#endif
