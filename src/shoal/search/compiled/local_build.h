/* Groups from the numbers of their tuples, and a place for tuples that are left. */
#ifndef SHOAL_LOCAL_BUILD_H
#define SHOAL_LOCAL_BUILD_H

#include "local_repair.h"

/* Build the groups that `group_of` names (0: suppressed, -1: in none); the rest are vacant. */
static void build_groups(Local *local) {
    const int64_t groups = local->groups;
    Label label;
    AT(local->numbers, TOTAL) = AT(local->numbers, VACANT) = 0;
    AT(local->numbers, GROUPS) = AT(local->numbers, SMALL) = 0;
    AT(local->numbers, CLOCK) += 1;
    for (int64_t g = 0; g < groups; g++) {
        if (local->tallied.length > 0 && AT(local->count, g) > 0) {
            const int64_t width = local->values->values;
            for (int64_t v = 0; v < width; v++) AT(local->tallied, g * width + v) = 0;
        }
        AT(local->head, g) = -1;
        AT(local->size, g) = AT(local->count, g) = 0;
        AT(local->price, g) = g == 0 ? UNIT : 0;
        AT(local->changed, g) = AT(local->numbers, CLOCK);
    }
    for (int64_t t = local->tuples; t-- > 0;) {
        if (AT(local->group_of, t) >= 0) link_tuple(local, t, AT(local->group_of, t));
    }
    for (int64_t g = groups; g-- > 1;) {
        if (AT(local->count, g) == 0) {
            drop_group(local, g);
            continue;
        }
        label_of_tuple(local, AT(local->head, g), &label);
        for (int64_t t = AT(local->head, g); t >= 0; t = AT(local->next, t)) {
            widen(local, &label, t);
        }
        set_label(local, g, &label);
        AT(local->numbers, TOTAL) += cost_of_group(local, g);
    }
    AT(local->numbers, TOTAL) += cost_of_group(local, 0);
}

/* Put a free tuple into the cheapest group of all that stays safe; whether there is one. */
static bool join_cheapest(Local *local, int64_t t) {
    int64_t best = INT64_MAX, chosen = -1;
    Label label;
    for (int64_t g = 0; g < local->groups; g++) {
        if (g != 0 && AT(local->count, g) == 0) continue;
        const int64_t records = AT(local->size, g) + AT(local->weights, t);
        const int64_t most = best == INT64_MAX ? FORBIDDEN * records : best;
        const int64_t cost = cost_to_join(local, g, t, most);
        if (cost < best && safe_changed(local, g, -1, t)) {
            best = cost;
            chosen = g;
        }
    }
    if (chosen < 0) return false;
    AT(local->numbers, TOTAL) += best;
    if (chosen != 0) {
        label_of_group(local, chosen, &label);
        widen(local, &label, t);
        set_label(local, chosen, &label);
    }
    link_tuple(local, t, chosen);
    AT(local->changed, chosen) = AT(local->numbers, CLOCK) += 1;
    return true;
}

#endif
