/* Whether the memory that Python hands over has the sizes that all other code relies on. */
#ifndef SHOAL_LOCAL_SIZES_H
#define SHOAL_LOCAL_SIZES_H

#include "local.h"

/* The product of two sizes; -1, which no array has, where one is negative or it is too large. */
static int64_t area(int64_t a, int64_t b) {
    if (a < 0 || b < 0) return -1;
    return b != 0 && a > INT64_MAX / b ? -1 : a * b;
}
#define COVERS(array, a, b) ((array).length >= 0 && (array).length == area(a, b))

static bool problem_of_local_is_right(const Local *local) {
    const int64_t m = local->attributes, n = local->tuples;
    if (m < 1 || m > MOST_ATTRIBUTES || n < 1 || n >= INT32_MAX || local->width < 1
        || local->width > MOST_LISTED || local->groups < 2 || local->groups > INT32_MAX
        || local->moves < 2 || local->k < 1 || local->limit < 0) {
        return false;
    }
    if (!COVERS(local->cost_from, m, 1) || !COVERS(local->codes_of, m, 1)
        || !COVERS(local->level_of_bit, m, 65) || !COVERS(local->path, n, m)
        || !COVERS(local->codes, n, m) || !COVERS(local->weights, n, 1)) {
        return false;
    }
    return !local->by_persons
        || (COVERS(local->persons_from, n + 1, 1)
            && AT(local->persons_from, n) == local->person.length
            && (local->values == NULL
                || (COVERS(local->held_from, n + 1, 1)
                    && AT(local->held_from, n) == local->held_value.length
                    && local->held_value.length == local->held_pair.length)));
}

static bool local_is_right(const Local *local) {
    const int64_t m = local->attributes, n = local->tuples, groups = local->groups;
    return problem_of_local_is_right(local) && COVERS(local->mark, 1, 1)
        && COVERS(local->near, n, local->width) && COVERS(local->distance, n, local->width)
        && COVERS(local->listed, n, 1) && COVERS(local->reach, n, 1)
        && COVERS(local->group_of, n, 1) && COVERS(local->next, n, 1)
        && COVERS(local->previous, n, 1) && COVERS(local->head, groups, 1)
        && COVERS(local->size, groups, 1) && COVERS(local->count, groups, 1)
        && COVERS(local->price, groups, 1) && COVERS(local->level, groups, m)
        && COVERS(local->changed, groups, 1) && COVERS(local->looked, n, 1)
        && COVERS(local->vacant, groups, 1)
        && (local->tallied.length == 0
            || (local->values != NULL && !local->by_persons
                && COVERS(local->tallied, groups, local->values->values)))
        && COVERS(local->moved, local->moves, 1)
        && COVERS(local->moved_from, local->moves, 1) && COVERS(local->saved, local->moves, 2)
        && COVERS(local->saved_changed, local->moves, 2)
        && COVERS(local->saved_price, local->moves, 2)
        && COVERS(local->saved_level, area(local->moves, 2), m) && COVERS(local->score, n, 1)
        && COVERS(local->heap, n, 1) && local->order.length >= n
        && local->order.length >= groups && COVERS(local->members, n, 1)
        && COVERS(local->part, n, 1) && COVERS(local->numbers, NUMBERS, 1);
}

#endif
