/* Repair: four kinds of moves, each made only where the total cost falls and all groups stay safe.
 *
 * Relocate a tuple to another group; swap two tuples; dissolve a group, whose members go one by one
 * to their cheapest groups; open a group of tuples that their groups can spare. Other groups are
 * those of listed neighbours, and the suppressed ones. */
#ifndef SHOAL_LOCAL_REPAIR_H
#define SHOAL_LOCAL_REPAIR_H

#include "local_moves.h"
#include "local_pack.h"

/* What a group costs more with a tuple; stops at a limit. */
static int64_t cost_to_join(const Local *local, int64_t g, int64_t t, int64_t most) {
    const int64_t size = AT(local->size, g), weight = AT(local->weights, t);
    if (g == 0) return weight * UNIT;
    const int64_t limit = (most + cost_of_group(local, g)) / (size + weight) + 1;
    const int64_t price = widened_group(local, g, t, limit);
    if (price >= FORBIDDEN) return INT64_MAX;
    return price * (size + weight) - cost_of_group(local, g);
}

/* The cheapest safe group for a tuple among those of its neighbours and the suppressed ones, other
 * than its own, that costs less than `most`; -1 for none. Groups that have not changed since `since`
 * are not looked at. */
static int64_t cheapest_group(Local *local, int64_t t, int64_t *most, int64_t since) {
    const int64_t own = AT(local->group_of, t);
    int64_t best = -1;
    for (int64_t i = -1; i < AT(local->listed, t); i++) {
        const int64_t g = i < 0 ? 0 : AT(local->group_of, AT(local->near, t * local->width + i));
        if (g < 0 || g == own || g == best || (i >= 0 && g == 0)) continue;
        if (AT(local->changed, g) <= since) continue;
        const int64_t cost = cost_to_join(local, g, t, *most);
        if (cost >= *most || !safe_changed(local, g, -1, t)) continue;
        *most = cost;
        best = g;
    }
    return best;
}

/* Dissolve a group if that lowers the total; whether it was done. */
static bool dissolve(Local *local, int64_t g) {
    if (AT(local->count, g) > local->moves) return false;
    const int64_t before_all = AT(local->numbers, TOTAL);
    begin_moves(local);
    int64_t spent = 0;
    const int64_t saving = cost_of_group(local, g);
    while (AT(local->head, g) >= 0) {
        const int64_t t = AT(local->head, g);
        int64_t cost = saving - spent;
        const int64_t to = cheapest_group(local, t, &cost, -1);
        if (to < 0) {
            undo_moves(local);
            return false;
        }
        spent += cost;
        move_tuple(local, t, to);
    }
    if (AT(local->numbers, TOTAL) < before_all && safe_in_all(local)) {
        drop_empty(local);
        return true;
    }
    undo_moves(local);
    return false;
}

/* What the group of a tuple saves without it; `rest` is the label of the others. */
static int64_t saved_without(const Local *local, int64_t t, const Label *rest) {
    const int64_t g = AT(local->group_of, t), weight = AT(local->weights, t);
    if (g == 0) return weight * UNIT;
    return cost_of_group(local, g) - (AT(local->size, g) - weight) * rest->price;
}

static bool relocate_to(Local *local, int64_t t, int64_t to) {
    begin_moves(local);
    move_tuple(local, t, to);
    return keep_moves(local);
}

/* Relocate a tuple that its group can spare to its cheapest group; whether it was done. */
static bool relocate(Local *local, int64_t t, const Label *rest, int64_t since) {
    if (!safe_changed(local, AT(local->group_of, t), t, -1)) return false;
    int64_t saving = saved_without(local, t, rest);
    const int64_t to = cheapest_group(local, t, &saving, since);
    return to >= 0 && relocate_to(local, t, to);
}

/* What two groups save when tuples `t` and `u` change places, and `more`; at most 0 where they
 * cannot. `rest` is the label of the group of `t` without it. */
static int64_t saved_by_swap(const Local *local, int64_t t, int64_t u, const Label *rest,
                             int64_t more) {
    const int64_t a = AT(local->group_of, t), b = AT(local->group_of, u);
    const int64_t size_a = AT(local->size, a) - AT(local->weights, t) + AT(local->weights, u);
    const int64_t size_b = AT(local->size, b) - AT(local->weights, u) + AT(local->weights, t);
    int64_t saving = cost_of_group(local, a) + cost_of_group(local, b) + more;
    if (a == 0) {
        saving -= size_a * UNIT;
    } else {
        const int64_t price = widened(local, rest, u, saving / size_a + 1);
        if (price >= FORBIDDEN) return 0;
        saving -= price * size_a;
    }
    if (saving <= 0) return 0;
    if (b == 0) return saving - size_b * UNIT;
    Label other;
    if (!label_without(local, b, u, &other)) return 0;
    const int64_t price = widened(local, &other, t, saving / size_b + 1);
    return price >= FORBIDDEN ? 0 : saving - price * size_b;
}

static bool swap_with(Local *local, int64_t t, int64_t u) {
    const int64_t a = AT(local->group_of, t), b = AT(local->group_of, u);
    begin_moves(local);
    move_tuple(local, t, b);
    move_tuple(local, u, a);
    return keep_moves(local);
}

/* Swap a tuple with the neighbour where that saves most; whether it was done. */
static bool swap(Local *local, int64_t t, const Label *rest, int64_t since) {
    const int64_t a = AT(local->group_of, t);
    int64_t best = 0, partner = -1;
    for (int64_t i = 0; i < AT(local->listed, t); i++) {
        const int64_t u = AT(local->near, t * local->width + i), b = AT(local->group_of, u);
        if (b < 0 || b == a || AT(local->changed, b) <= since) continue;
        const int64_t saving = saved_by_swap(local, t, u, rest, 0);
        if (saving > best && safe_changed(local, a, t, u) && safe_changed(local, b, u, t)) {
            best = saving;
            partner = u;
        }
    }
    return partner >= 0 && swap_with(local, t, partner);
}

/* The candidate that widens a new group least, of those that their groups can spare; -1 for none.
 * Candidates are the neighbours of the members so far. */
static int64_t spare_candidate(Local *local, const Ball *ball, int64_t made) {
    int64_t best = FORBIDDEN, chosen = -1;
    for (int64_t n = 0; n < ball->count; n++) {
        const int64_t member = ball->member[n];
        for (int64_t i = 0; i < AT(local->listed, member); i++) {
            const int64_t t = AT(local->near, member * local->width + i);
            const int64_t g = AT(local->group_of, t);
            if (g < 0 || g == made || t == chosen) continue;
            const int64_t left = AT(local->size, g) - AT(local->weights, t);
            if (g != 0 && left < local->k) continue;
            const int64_t price = widened(local, &ball->label, t, best);
            if (price < best && (g == 0 || safe_changed(local, g, t, -1))) {
                best = price;
                chosen = t;
            }
        }
    }
    return chosen;
}

/* Where values are counted, each tuple of a new group takes long to find: most that are tried. Around
 * groups that are so many times larger no small group is likely to be safe, and none is tried. */
enum { MOST_OPENED = 32, TOO_LARGE = 4 };

/* Open a group around a tuple that its group can spare, if that lowers the total. */
static bool open_group(Local *local, int64_t t) {
    const int64_t before_all = AT(local->numbers, TOTAL);
    if (AT(local->numbers, VACANT) == 0
        || !safe_changed(local, AT(local->group_of, t), t, -1)) {
        return false;
    }
    const int64_t most = only_sizes(local) ? BALL_MEMBERS : MOST_OPENED;
    if (AT(local->count, AT(local->group_of, t)) > TOO_LARGE * most) return false;
    Ball ball;
    const int64_t g = take_group(local);
    AT(local->price, g) = 0;
    AT(local->changed, g) = 0;
    ball.count = 0;
    ball.size = 0;
    begin_moves(local);
    bool is_safe = false;
    while (!is_safe && t >= 0 && ball.count < most && has_room(local)) {
        move_tuple(local, t, g);
        label_of_group(local, g, &ball.label);
        ball.member[ball.count++] = (int32_t)t;
        ball.size += AT(local->weights, t);
        is_safe = safe_together(local, ball.member, ball.count, ball.size);
        t = is_safe ? -1 : spare_candidate(local, &ball, g);
    }
    if (is_safe && AT(local->numbers, TOTAL) < before_all && safe_in_all(local)) {
        drop_empty(local);
        return true;
    }
    undo_moves(local);
    drop_group(local, g);
    return false;
}

/* Whether a group that a tuple could have to do with has changed since a time. */
static bool is_stirred(const Local *local, int64_t t, int64_t since) {
    for (int64_t i = 0; i < AT(local->listed, t); i++) {
        const int64_t g = AT(local->group_of, AT(local->near, t * local->width + i));
        if (g >= 0 && AT(local->changed, g) > since) return true;
    }
    return AT(local->changed, AT(local->group_of, t)) > since;
}

/* Look for better groups for one tuple. */
static bool repair_tuple(Local *local, int64_t t) {
    const int64_t g = AT(local->group_of, t), now = AT(local->numbers, CLOCK);
    int64_t since = AT(local->looked, t);
    if (!is_stirred(local, t, since)) return false;
    AT(local->looked, t) = now;
    if (AT(local->changed, g) > since) since = -1;
    Label rest = {0};
    if (g != 0 && AT(local->count, g) > 1) label_without(local, g, t, &rest);
    if (relocate(local, t, &rest, since)) return true;
    if (AT(local->count, g) > 1 && swap(local, t, &rest, since)) return true;
    return open_group(local, t);
}

/* Repair one group: dissolve it, else look at each of its tuples. */
static bool repair_group(Local *local, int64_t g) {
    int64_t stirred = 0, tuples = 0;
    for (int64_t t = AT(local->head, g); t >= 0; t = AT(local->next, t)) {
        stirred += is_stirred(local, t, AT(local->looked, t));
        tuples++;
    }
    if (stirred == 0) return false;
    if (g != 0 && dissolve(local, g)) return true;
    bool done = false;
    int64_t t = AT(local->head, g);
    for (int64_t i = 0; i < tuples && t >= 0; i++) {
        const int64_t next = AT(local->next, t);
        done |= repair_tuple(local, t);
        t = next >= 0 && AT(local->group_of, next) == g ? next : -1;
    }
    return done;
}

#endif
