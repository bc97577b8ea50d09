/* Whether a group may be released: enough records or persons, and every demand on their values. */
#ifndef SHOAL_LOCAL_SAFE_H
#define SHOAL_LOCAL_SAFE_H

#include "local.h"

/* Records, or persons, and values of a group that is built up tuple by tuple. */
static void begin_tally(Local *local) {
    AT(local->mark, 0) += 1;
    if (local->values == NULL) return;
    for (int64_t v = 0; v < local->values->values; v++) AT(local->values->tally, v) = 0;
}

/* Add a tuple; the records, or the persons that were not there before. */
static int64_t tally_tuple(Local *local, int64_t t) {
    const int64_t mark = AT(local->mark, 0);
    const Values *values = local->values;
    if (!local->by_persons) {
        if (values != NULL) tally_values_of(values, t, values->tally, 1);
        return AT(local->weights, t);
    }
    int64_t found = 0;
    for (int64_t i = AT(local->persons_from, t); i < AT(local->persons_from, t + 1); i++) {
        int64_t *seen = &AT(local->seen_person, AT(local->person, i));
        found += *seen != mark;
        *seen = mark;
    }
    if (values != NULL) {
        for (int64_t i = AT(local->held_from, t); i < AT(local->held_from, t + 1); i++) {
            int64_t *seen = &AT(local->seen_pair, AT(local->held_pair, i));
            AT(values->tally, AT(local->held_value, i)) += *seen != mark;
            *seen = mark;
        }
    }
    return found;
}

static bool tally_is_safe(Local *local, int64_t size) {
    if (size < local->k) return false;
    return local->values == NULL || removal(local->values, local->k, 0, size) == 0;
}

static inline bool only_sizes(const Local *local) {
    return !local->by_persons && local->values == NULL;
}

/* Whether a group is safe without tuple `out` and with tuple `in`; -1 for none. Group 0 is safe
 * within the limit of suppression. */
static bool safe_changed(Local *local, int64_t g, int64_t out, int64_t in) {
    int64_t size = AT(local->size, g);
    if (out >= 0) size -= AT(local->weights, out);
    if (in >= 0) size += AT(local->weights, in);
    if (g == 0) return size <= local->limit;
    if (size < local->k) return false; /* At most as many persons as records. */
    if (only_sizes(local)) return true;
    if (local->tallied.length > 0) {
        const Int32s tally = local->values->tally;
        const int64_t width = local->values->values;
        for (int64_t v = 0; v < width; v++) AT(tally, v) = AT(local->tallied, g * width + v);
        if (out >= 0) tally_values_of(local->values, out, tally, -1);
        if (in >= 0) tally_values_of(local->values, in, tally, 1);
        return tally_is_safe(local, size);
    }
    begin_tally(local);
    int64_t found = in >= 0 ? tally_tuple(local, in) : 0;
    for (int64_t t = AT(local->head, g); t >= 0; t = AT(local->next, t)) {
        if (t != out) found += tally_tuple(local, t);
    }
    return tally_is_safe(local, found);
}

/* Whether these tuples together are safe. */
static bool safe_together(Local *local, const int32_t *members, int64_t count, int64_t size) {
    if (size < local->k) return false;
    if (only_sizes(local)) return true;
    begin_tally(local);
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) found += tally_tuple(local, members[i]);
    return tally_is_safe(local, found);
}

#endif
