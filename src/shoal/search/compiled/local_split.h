/* Groups where single tuples cannot be packed: whole groups are merged around a tuple until it is
 * safe, and large groups are split from the top down.
 *
 * A split takes one attribute of a group a level down. The tuples of each label there become a
 * group. Those that are not safe by themselves stay together, with the smallest safe ones until they
 * are safe. Of all attributes the one is taken that lowers the cost most. */
#ifndef SHOAL_LOCAL_SPLIT_H
#define SHOAL_LOCAL_SPLIT_H

#include "local_build.h"

/* Most groups into which one is split. */
enum { MOST_PARTS = 512 };

typedef struct {
    int64_t count, first[MOST_PARTS + 1], size[MOST_PARTS], price[MOST_PARTS];
    int32_t sample[MOST_PARTS];
    bool stays[MOST_PARTS];
} Parts;

/* Number the parts of a group by the labels of an attribute one level down; the part of member `i`
 * is put into `part[i]`. False if there are too many. */
static bool number_parts(Local *local, int64_t g, int64_t j, Parts *parts) {
    const uint8_t level = AT(local->level, g * local->attributes + j);
    int64_t member = 0;
    parts->count = 0;
    for (int64_t t = AT(local->head, g); t >= 0; t = AT(local->next, t)) {
        int64_t p = 0;
        while (p < parts->count && meeting(local, parts->sample[p], t, j) >= level) p++;
        if (p == MOST_PARTS) return false;
        if (p == parts->count) {
            parts->sample[p] = (int32_t)t;
            parts->first[p] = parts->size[p] = 0;
            parts->count++;
        }
        parts->first[p] += 1;
        parts->size[p] += AT(local->weights, t);
        AT(local->part, member++) = (int32_t)p;
    }
    return true;
}

/* List the members by parts; `first[p]` is where a part begins. */
static void list_parts(Local *local, int64_t g, Parts *parts) {
    int64_t start = 0, member = 0, at[MOST_PARTS];
    for (int64_t p = 0; p < parts->count; p++) {
        const int64_t tuples = parts->first[p];
        parts->first[p] = at[p] = start;
        start += tuples;
    }
    parts->first[parts->count] = start;
    for (int64_t t = AT(local->head, g); t >= 0; t = AT(local->next, t)) {
        AT(local->members, at[AT(local->part, member++)]++) = (int32_t)t;
    }
}

/* Whether the parts that stay together are safe; what they cost. */
static bool rest_is_safe(Local *local, const Parts *parts, int64_t *cost) {
    int64_t found = 0, size = 0;
    Label label = {0};
    begin_tally(local);
    for (int64_t p = 0; p < parts->count; p++) {
        if (!parts->stays[p]) continue;
        for (int64_t i = parts->first[p]; i < parts->first[p + 1]; i++) {
            const int64_t t = AT(local->members, i);
            if (size == 0) label_of_tuple(local, t, &label);
            widen(local, &label, t);
            size += AT(local->weights, t);
            found += tally_tuple(local, t);
        }
    }
    *cost = size * label.price;
    return size == 0 || tally_is_safe(local, found);
}

/* The smallest part that is a group of its own; -1 for none. */
static int64_t smallest_part(const Parts *parts) {
    int64_t chosen = -1;
    for (int64_t p = 0; p < parts->count; p++) {
        if (!parts->stays[p] && (chosen < 0 || parts->size[p] < parts->size[chosen])) chosen = p;
    }
    return chosen;
}

/* Decide which parts of a group become groups; what all cost then, -1 if it cannot be split. */
static int64_t plan_split(Local *local, int64_t g, int64_t j, Parts *parts) {
    int64_t cost = 0, rest = 0, apart = 0;
    if (!number_parts(local, g, j, parts) || parts->count < 2) return -1;
    list_parts(local, g, parts);
    for (int64_t p = 0; p < parts->count; p++) {
        Label label;
        label_of_tuple(local, AT(local->members, parts->first[p]), &label);
        for (int64_t i = parts->first[p] + 1; i < parts->first[p + 1]; i++) {
            widen(local, &label, AT(local->members, i));
        }
        parts->price[p] = label.price;
        parts->stays[p] = !safe_together(local, &AT(local->members, parts->first[p]),
                                         parts->first[p + 1] - parts->first[p], parts->size[p]);
    }
    while (!rest_is_safe(local, parts, &rest)) {
        const int64_t p = smallest_part(parts);
        if (p < 0) return -1;
        parts->stays[p] = true;
    }
    for (int64_t p = 0; p < parts->count; p++) {
        if (!parts->stays[p]) {
            cost += parts->size[p] * parts->price[p];
            apart++;
        }
    }
    return apart == 0 ? -1 : cost + rest;
}

/* Make the parts of a group groups of their own; what stays keeps its number. */
static void split_group(Local *local, int64_t g, const Parts *parts) {
    Label label;
    AT(local->numbers, TOTAL) -= cost_of_group(local, g);
    for (int64_t p = 0; p < parts->count; p++) {
        if (parts->stays[p]) continue;
        for (int64_t i = parts->first[p]; i < parts->first[p + 1]; i++) {
            unlink_tuple(local, AT(local->members, i));
        }
        if (AT(local->count, g) == 0 && p + 1 == parts->count) {
            for (int64_t i = parts->first[p]; i < parts->first[p + 1]; i++) {
                link_tuple(local, AT(local->members, i), g);
            }
            break;
        }
        label_of_tuple(local, AT(local->members, parts->first[p]), &label);
        for (int64_t i = parts->first[p] + 1; i < parts->first[p + 1]; i++) {
            widen(local, &label, AT(local->members, i));
        }
        make_group(local, &label, &AT(local->members, parts->first[p]),
                   parts->first[p + 1] - parts->first[p]);
    }
    label_of_tuple(local, AT(local->head, g), &label);
    for (int64_t t = AT(local->head, g); t >= 0; t = AT(local->next, t)) widen(local, &label, t);
    set_label(local, g, &label);
    AT(local->numbers, TOTAL) += cost_of_group(local, g);
    AT(local->changed, g) = AT(local->numbers, CLOCK) += 1;
}

/* Split a group by its best attribute, if that lowers the cost; whether it was done. */
static bool split_best(Local *local, int64_t g) {
    Parts parts;
    int64_t best = cost_of_group(local, g), chosen = -1;
    for (int64_t j = 0; j < local->attributes; j++) {
        if (AT(local->level, g * local->attributes + j) == AT(local->level_of_bit, j * 65)) {
            continue;
        }
        const int64_t cost = plan_split(local, g, j, &parts);
        if (cost >= 0 && cost < best) {
            best = cost;
            chosen = j;
        }
    }
    if (chosen < 0) return false;
    plan_split(local, g, chosen, &parts);
    split_group(local, g, &parts);
    return true;
}

/* The label of two groups together, as seen from the second. */
static void label_of_both(const Local *local, int64_t g, int64_t other, Label *label) {
    const int64_t m = local->attributes;
    label_of_group(local, other, label);
    for (int64_t j = 0; j < m; j++) {
        const uint8_t own = AT(local->level, g * m + j);
        if (own <= label->level[j]) continue;
        label->price += cost_at(local, label->member, j, own)
            - cost_at(local, label->member, j, label->level[j]);
        label->level[j] = own;
    }
    widen(local, label, AT(local->head, g));
}

/* The group that costs least more together with a group; -1 for none. */
static int64_t cheapest_to_merge(const Local *local, int64_t g) {
    int64_t best = INT64_MAX, chosen = -1;
    Label label;
    for (int64_t other = 1; other < local->groups; other++) {
        if (other == g || AT(local->count, other) == 0) continue;
        label_of_both(local, g, other, &label);
        if (label.price >= FORBIDDEN) continue;
        const int64_t cost = label.price * (AT(local->size, g) + AT(local->size, other))
            - cost_of_group(local, other);
        if (cost < best) {
            best = cost;
            chosen = other;
        }
    }
    return chosen;
}

/* Merge a group with the one where that costs least, unless it is safe; a tuple that is free becomes
 * a group first. Whether one was merged. */
static bool merge_around(Local *local, int64_t t) {
    const int32_t alone = (int32_t)t;
    Label label;
    if (AT(local->group_of, t) < 0) {
        if (AT(local->numbers, VACANT) == 0) return false;
        label_of_tuple(local, t, &label);
        make_group(local, &label, &alone, 1);
    }
    const int64_t g = AT(local->group_of, t);
    if (g == 0 || safe_changed(local, g, -1, -1)) return false;
    const int64_t chosen = cheapest_to_merge(local, g);
    if (chosen < 0) return false;
    label_of_both(local, g, chosen, &label);
    AT(local->numbers, TOTAL) -= cost_of_group(local, g) + cost_of_group(local, chosen);
    for (int64_t u = AT(local->head, chosen); u >= 0; u = AT(local->head, chosen)) {
        unlink_tuple(local, u);
        link_tuple(local, u, g);
    }
    drop_group(local, chosen);
    set_label(local, g, &label);
    AT(local->numbers, TOTAL) += cost_of_group(local, g);
    AT(local->changed, g) = AT(local->numbers, CLOCK) += 1;
    return true;
}

#endif
