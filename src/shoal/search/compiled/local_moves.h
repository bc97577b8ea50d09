/* Moves of tuples between groups, with a journal by which they are undone. */
#ifndef SHOAL_LOCAL_MOVES_H
#define SHOAL_LOCAL_MOVES_H

#include "local.h"
#include "local_safe.h"

static void begin_moves(Local *local) {
    AT(local->numbers, MOVES) = AT(local->numbers, SAVED) = 0;
    AT(local->numbers, GROUPS_BEFORE) = AT(local->numbers, GROUPS);
    AT(local->numbers, SMALL_BEFORE) = AT(local->numbers, SMALL);
}

/* Whether all groups together meet the demands on them, or the moves in the journal have at least
 * not raised what was too much before. Groups with equal labels become one class: then there are
 * fewer classes than groups, and fewer records in small ones. */
static inline bool safe_in_all(const Local *local) {
    return AT(local->numbers, GROUPS)
            <= larger(local->most_groups, AT(local->numbers, GROUPS_BEFORE))
        && AT(local->numbers, SMALL)
            <= larger(local->most_small, AT(local->numbers, SMALL_BEFORE));
}

/* Room for another move: it saves at most two groups. */
static inline bool has_room(const Local *local) {
    return AT(local->numbers, MOVES) < local->moves;
}

/* Save the label of a group before its first change in this journal. */
static void save_group(Local *local, int64_t g) {
    const int64_t m = local->attributes, saved = AT(local->numbers, SAVED);
    for (int64_t i = 0; i < saved; i++) {
        if (AT(local->saved, i) == g) return;
    }
    AT(local->saved, saved) = (int32_t)g;
    AT(local->saved_price, saved) = AT(local->price, g);
    AT(local->saved_changed, saved) = AT(local->changed, g);
    for (int64_t j = 0; j < m; j++) {
        AT(local->saved_level, saved * m + j) = AT(local->level, g * m + j);
    }
    AT(local->numbers, SAVED) = saved + 1;
}

/* Move a tuple; group 0 keeps its price, and a group without tuples has none. */
static void move_tuple(Local *local, int64_t t, int64_t to) {
    const int64_t from = AT(local->group_of, t), made = AT(local->numbers, MOVES);
    Label label;
    save_group(local, from);
    save_group(local, to);
    AT(local->moved, made) = (int32_t)t;
    AT(local->moved_from, made) = (int32_t)from;
    AT(local->numbers, MOVES) = made + 1;
    AT(local->numbers, TOTAL) -= cost_of_group(local, from) + cost_of_group(local, to);
    if (from != 0 && label_without(local, from, t, &label)) set_label(local, from, &label);
    if (to != 0) {
        if (AT(local->count, to) == 0) {
            label_of_tuple(local, t, &label);
        } else {
            label_of_group(local, to, &label);
            widen(local, &label, t);
        }
        set_label(local, to, &label);
    }
    unlink_tuple(local, t);
    link_tuple(local, t, to);
    AT(local->numbers, TOTAL) += cost_of_group(local, from) + cost_of_group(local, to);
    AT(local->changed, from) = AT(local->changed, to) = AT(local->numbers, CLOCK) += 1;
}

/* Undo all moves since `begin_moves`. */
static void undo_moves(Local *local) {
    const int64_t m = local->attributes;
    const int64_t saved = AT(local->numbers, SAVED);
    for (int64_t i = 0; i < saved; i++) {
        AT(local->numbers, TOTAL) -= cost_of_group(local, AT(local->saved, i));
    }
    for (int64_t i = AT(local->numbers, MOVES); i-- > 0;) {
        unlink_tuple(local, AT(local->moved, i));
        link_tuple(local, AT(local->moved, i), AT(local->moved_from, i));
    }
    for (int64_t i = 0; i < saved; i++) {
        const int64_t g = AT(local->saved, i);
        AT(local->price, g) = AT(local->saved_price, i);
        AT(local->changed, g) = AT(local->saved_changed, i);
        for (int64_t j = 0; j < m; j++) {
            AT(local->level, g * m + j) = AT(local->saved_level, i * m + j);
        }
        AT(local->numbers, TOTAL) += cost_of_group(local, g);
    }
}

/* Keep the moves if all groups together are safe, else undo them; whether they are kept. */
static bool keep_moves(Local *local) {
    if (safe_in_all(local)) return true;
    undo_moves(local);
    return false;
}

/* Groups that have lost all tuples in this journal become vacant. */
static void drop_empty(Local *local) {
    for (int64_t i = 0; i < AT(local->numbers, SAVED); i++) {
        const int64_t g = AT(local->saved, i);
        if (g != 0 && AT(local->count, g) == 0) drop_group(local, g);
    }
}

#endif
