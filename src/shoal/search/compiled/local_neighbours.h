/* Lists of near tuples, kept sorted: by comparing tuples that are near in an order of keys, and the
 * neighbours of neighbours. A call writes only the lists of its own tuples, so that threads can
 * share the work and the lists do not depend on their number. */
#ifndef SHOAL_LOCAL_NEIGHBOURS_H
#define SHOAL_LOCAL_NEIGHBOURS_H

#include "local.h"

/* Where the costs of a tuple begin, by attribute: those of its code at level 0. */
typedef struct {
    int64_t tuple, cost[MOST_ATTRIBUTES];
} Listing;

static void begin_listing(const Local *local, int64_t t, Listing *listing) {
    listing->tuple = t;
    for (int64_t j = 0; j < local->attributes; j++) {
        listing->cost[j] =
            AT(local->cost_from, j) + (int64_t)AT(local->codes, t * local->attributes + j);
    }
}

/* What a record costs under the least common label of two tuples; stops at a limit. */
static int64_t distance_listed(const Local *local, const Listing *listing, int64_t u,
                               int64_t most) {
    int64_t sum = 0;
    for (int64_t j = 0; j < local->attributes && sum < most; j++) {
        const int64_t level = meeting(local, listing->tuple, u, j);
        sum += AT(local->cost, listing->cost[j] + level * AT(local->codes_of, j));
    }
    return sum;
}

/* Whether the number of `u` is closer to that of `t` than that of `v` is, or else smaller. */
static inline bool is_closer(int64_t t, int64_t u, int64_t v) {
    const int64_t a = u < t ? t - u : u - t, b = v < t ? t - v : v - t;
    return a < b || (a == b && u < v);
}

/* Put a tuple in the list of another, if it is among the `most` nearest. Ties go to the closer
 * number. */
static void list_neighbour(Local *local, const Listing *listing, int64_t u, int64_t most) {
    const int64_t width = local->width, t = listing->tuple;
    const Int32s near = ROW(local->near, t, width);
    const Int32s distance = ROW(local->distance, t, width);
    int64_t listed = AT(local->listed, t);
    int64_t worst = FORBIDDEN;
    if (listed >= most) worst = (int64_t)AT(distance, listed - 1) + 1;
    const int64_t far = distance_listed(local, listing, u, worst);
    if (far >= worst) return;
    for (int64_t i = 0; i < listed; i++) {
        if (AT(near, i) == u) return;
    }
    if (listed >= most) {
        if (far == AT(distance, listed - 1) && !is_closer(t, u, AT(near, listed - 1))) return;
        listed--;
    }
    int64_t at = listed;
    for (; at > 0; at--) {
        const int32_t other = AT(distance, at - 1);
        if (other < far || (other == far && !is_closer(t, u, AT(near, at - 1)))) break;
        AT(near, at) = AT(near, at - 1);
        AT(distance, at) = other;
    }
    AT(near, at) = (int32_t)u;
    AT(distance, at) = (int32_t)far;
    AT(local->listed, t) = (int32_t)(listed + 1);
}

/* Load what a comparison with a tuple reads, and what the list of a tuple is, ahead of time: they
 * are anywhere in memory. */
static inline void load_tuple(const Local *local, int64_t u) {
    const UInt64s path = ROW(local->path, u, local->attributes);
    for (int64_t j = 0; j < path.length; j += 8) __builtin_prefetch(&AT(path, j));
}
static inline void load_list(const Local *local, int64_t t) {
    const Int32s near = ROW(local->near, t, local->width);
    const Int32s distance = ROW(local->distance, t, local->width);
    for (int64_t i = 0; i < near.length; i += 16) {
        __builtin_prefetch(&AT(near, i));
        __builtin_prefetch(&AT(distance, i));
    }
    __builtin_prefetch(&AT(local->codes, t * local->attributes));
}

/* How far ahead that is. */
enum { AHEAD = 4 };

/* Compare each tuple from `first` to below `last` in the order with `window` on both sides. */
static void compare_in_order(Local *local, int64_t ordered, int64_t first, int64_t last,
                             int64_t window, int64_t most) {
    Listing listing;
    for (int64_t at = first; at < last; at++) {
        if (at + AHEAD < last) load_list(local, AT(local->order, at + AHEAD));
        if (at + window + AHEAD < ordered) {
            load_tuple(local, AT(local->order, at + window + AHEAD));
        }
        begin_listing(local, AT(local->order, at), &listing);
        const int64_t end = smaller(ordered, at + window + 1);
        for (int64_t other = larger(0, at - window); other < end; other++) {
            if (other != at) list_neighbour(local, &listing, AT(local->order, other), most);
        }
    }
}

/* Tuples that were compared with one, by the last bits of their numbers: none is compared twice
 * unless others with the same bits came in between. */
enum { COMPARED = 512 };

/* Compare a tuple with the neighbours of a neighbour, in a copy of the lists. */
static void compare_with_list(Local *local, const Listing *listing, Int32s near, int32_t *compared,
                              int64_t most) {
    int32_t fresh[MOST_LISTED];
    int64_t count = 0;
    for (int64_t n = 0; n < near.length; n++) {
        const int32_t v = AT(near, n);
        if (v == listing->tuple || compared[v % COMPARED] == v) continue;
        compared[v % COMPARED] = v;
        load_tuple(local, v);
        fresh[count++] = v;
    }
    for (int64_t n = 0; n < count; n++) list_neighbour(local, listing, fresh[n], most);
}

/* Compare each ordered tuple with the neighbours of its neighbours, in a copy of the lists. */
static void compare_neighbours(Local *local, Int32s near, Int32s listed, int64_t first,
                               int64_t last, int64_t most) {
    Listing listing;
    int32_t compared[COMPARED];
    for (int64_t at = first; at < last; at++) {
        const int64_t t = AT(local->order, at);
        const Int32s own = PART(near, t * local->width, AT(listed, t));
        for (int64_t i = 0; i < COMPARED; i++) compared[i] = -1;
        begin_listing(local, t, &listing);
        for (int64_t i = 0; i < own.length; i++) {
            __builtin_prefetch(&AT(near, AT(own, i) * local->width));
        }
        for (int64_t i = 0; i < own.length; i++) {
            const int64_t u = AT(own, i);
            compare_with_list(local, &listing, PART(near, u * local->width, AT(listed, u)),
                              compared, most);
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
