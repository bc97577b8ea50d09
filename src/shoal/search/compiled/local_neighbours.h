/* Lists of near tuples, kept sorted: by comparing tuples that are near in an order of keys, and the
 * neighbours of neighbours. A call writes only the lists of its own tuples, so that threads can
 * share the work and the lists do not depend on their number. */
#ifndef SHOAL_LOCAL_NEIGHBOURS_H
#define SHOAL_LOCAL_NEIGHBOURS_H

#include "local.h"

/* Put a tuple in the list of another, if it is among the `most` nearest. Ties go to the smaller
 * number. */
static void list_neighbour(Local *local, int64_t t, int64_t u, int64_t most) {
    const int64_t width = local->width;
    const Int32s near = ROW(local->near, t, width);
    const Int64s distance = ROW(local->distance, t, width);
    int64_t listed = AT(local->listed, t);
    int64_t worst = INT64_MAX;
    if (listed >= most) worst = AT(distance, listed - 1) + 1;
    for (int64_t i = 0; i < listed; i++)
        if (AT(near, i) == u) return;
    const int64_t far = distance_between(local, t, u, worst);
    if (far >= FORBIDDEN) return;
    if (listed >= most) {
        if (far > AT(distance, listed - 1)
            || (far == AT(distance, listed - 1) && u > AT(near, listed - 1)))
            return;
        listed--;
    }
    int64_t at = listed;
    for (; at > 0; at--) {
        const int64_t other = AT(distance, at - 1);
        if (other < far || (other == far && AT(near, at - 1) < u)) break;
        AT(near, at) = AT(near, at - 1);
        AT(distance, at) = other;
    }
    AT(near, at) = (int32_t)u;
    AT(distance, at) = far;
    AT(local->listed, t) = (int32_t)(listed + 1);
}

/* Compare each tuple from `first` to below `last` in the order with `window` on both sides. */
static void compare_in_order(Local *local, int64_t ordered, int64_t first, int64_t last,
                             int64_t window, int64_t most) {
    for (int64_t at = first; at < last; at++) {
        const int64_t t = AT(local->order, at);
        const int64_t end = smaller(ordered, at + window + 1);
        for (int64_t other = larger(0, at - window); other < end; other++)
            if (other != at) list_neighbour(local, t, AT(local->order, other), most);
    }
}

/* Compare each ordered tuple with the neighbours of its neighbours, in a copy of the lists. */
static void compare_neighbours(Local *local, Int32s near, Int32s listed, int64_t first,
                               int64_t last, int64_t most) {
    for (int64_t at = first; at < last; at++) {
        const int64_t t = AT(local->order, at);
        for (int64_t i = 0; i < AT(listed, t); i++) {
            const int64_t u = AT(near, t * local->width + i);
            for (int64_t n = 0; n < AT(listed, u); n++) {
                const int64_t v = AT(near, u * local->width + n);
                if (v != t) list_neighbour(local, t, v, most);
            }
        }
    }
}

/* The distance at which a tuple has `k` records around it, its own included; the farthest listed
 * where there are fewer. */
static void set_reach(Local *local, int64_t t) {
    int64_t records = AT(local->weights, t), reach = 0;
    for (int64_t i = 0; i < AT(local->listed, t) && records < local->k; i++) {
        records += AT(local->weights, AT(local->near, t * local->width + i));
        reach = AT(local->distance, t * local->width + i);
    }
    AT(local->reach, t) = reach;
}

#endif
