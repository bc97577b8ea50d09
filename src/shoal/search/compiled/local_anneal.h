/* Anneal: random relocations and swaps of the costliest tuples; some that raise the total are made.
 *
 * Random numbers are those of splitmix64 with a seed from Python, and the only arithmetic is with
 * whole numbers, so that every machine makes the same moves. */
#ifndef SHOAL_LOCAL_ANNEAL_H
#define SHOAL_LOCAL_ANNEAL_H

#include "local_moves.h"
#include "local_repair.h"

static uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A whole number below `most`. */
static inline int64_t random_below(uint64_t *state, int64_t most) {
    return (int64_t)((next_random(state) >> 32) * (uint64_t)most >> 32);
}

/* About `heat` times a number of the exponential distribution: by halves, linear between them. */
static int64_t tolerated(uint64_t *state, int64_t heat) {
    const uint64_t bits = next_random(state) | 1;
    const int64_t halves = __builtin_clzll(bits);
    const int64_t part = 255 - (int64_t)((bits << halves << 1) >> 56);
    return heat * (halves * 256 + part) / 369; /* 256 / ln 2 */
}

static bool try_relocation(Local *local, int64_t t, int64_t g, int64_t most) {
    const int64_t own = AT(local->group_of, t);
    Label rest = {0};
    if (!safe_changed(local, own, t, -1)) return false;
    if (own != 0 && !label_without(local, own, t, &rest)) return false;
    const int64_t saving = saved_without(local, t, &rest);
    const int64_t cost = cost_to_join(local, g, t, saving + most);
    if (cost - saving >= most || !safe_changed(local, g, -1, t)) return false;
    return relocate_to(local, t, g);
}

static bool try_swap(Local *local, int64_t t, int64_t u, int64_t most) {
    const int64_t a = AT(local->group_of, t), b = AT(local->group_of, u);
    Label rest = {0};
    if (a == 0 || b == 0 || !label_without(local, a, t, &rest)) return false;
    if (saved_by_swap(local, t, u, &rest, most) <= 0) return false;
    if (!safe_changed(local, a, t, u) || !safe_changed(local, b, u, t)) return false;
    return swap_with(local, t, u);
}

/* Try so many moves of the first `chosen` ordered tuples; how many were made. */
static int64_t anneal(Local *local, int64_t chosen, int64_t steps, int64_t heat, uint64_t seed) {
    uint64_t state = seed;
    int64_t made = 0;
    for (int64_t i = 0; i < steps; i++) {
        const int64_t t = AT(local->order, random_below(&state, chosen));
        const int64_t listed = AT(local->listed, t);
        if (listed == 0) continue;
        const int64_t u = AT(local->near, t * local->width + random_below(&state, listed));
        const int64_t g = AT(local->group_of, u), most = tolerated(&state, heat) + 1;
        if (g < 0 || g == AT(local->group_of, t)) continue;
        made += try_relocation(local, t, g, most) || try_swap(local, t, u, most);
    }
    return made;
}

#endif
