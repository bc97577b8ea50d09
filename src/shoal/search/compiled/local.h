/* Local recoding: the memory of a run, and groups of tuples under their least common labels.
 *
 * Python owns the memory (recoding/local/memory.py has the same fields in the same order). All costs
 * are whole numbers: a record that keeps nothing costs UNIT, and cell costs are rounded down. So sums
 * are exact, undone moves leave no trace, and every compiler finds the same groups.
 *
 * In comments `j` is an attribute, `l` a level, `t` a tuple, `g` a group. A group is released under
 * the least common label of its members in every attribute; each of its records costs the sum of the
 * costs of these labels. Group 0 are the suppressed tuples.
 */
#ifndef SHOAL_LOCAL_H
#define SHOAL_LOCAL_H

#include "removal.h"
#include "state.h"

/* What a suppressed record costs, and a label that an attribute may not have. */
#define UNIT ((int64_t)1 << 30)
#define FORBIDDEN ((int64_t)1 << 34)

/* Numbers that change: the cost of all groups, a clock of changes, the vacant groups on their stack,
 * moves and groups in the journal, tuples in the heap, groups with tuples, records of small groups,
 * and both of these before the moves of the journal. */
enum {
    TOTAL, CLOCK, VACANT, MOVES, SAVED, HEAPED, GROUPS, SMALL, GROUPS_BEFORE, SMALL_BEFORE, NUMBERS
};

/* Most attributes, the longest list of neighbours, most tuples that a ball looks at, and most tuples
 * that it takes. */
enum { MOST_ATTRIBUTES = 256, MOST_LISTED = 64, BALL_CANDIDATES = 160, BALL_MEMBERS = 128 };

typedef struct {
    /* Sizes: attributes, tuples, the longest list of neighbours, groups (group 0 included), and
     * moves in a journal. A class needs `k` records, or persons if `by_persons`; at most `limit`
     * records are suppressed. Demands on all classes together: at most `most_groups`, and at most
     * `most_small` records in groups of fewer than `small`. */
    int64_t attributes, tuples, width, groups, moves, k, limit, by_persons, most_groups, small,
        most_small;

    /* The problem. `path[t, j]` are the groups of a tuple's code from the highest level down, as
     * bits; `level_of_bit[j, b]` is the level at which two paths meet whose highest different bit
     * is `b - 1`, and for 0, equal paths, the lowest level. A cell of `code` at level `l` costs
     * `cost[cost_from[j] + l * codes_of[j] + code]`. */
    Int64s cost_from, codes_of, cost;
    Flags level_of_bit;
    UInt64s path;
    UInt32s codes;
    Int64s weights;

    /* The persons of tuple `t` begin at `persons_from[t]`. Where persons are counted, their values
     * begin at `held_from[t]`: the value and the number of the pair of person and value. */
    Int64s persons_from;
    Int32s person;
    Int64s held_from;
    Int32s held_value, held_pair;
    Int64s seen_person, seen_pair, mark;

    /* Neighbours of each tuple, the nearest first, their distances and their number; `reach[t]` is
     * the distance to the neighbour with which there are `k` records. */
    Int32s near, distance, listed;
    Int64s reach;

    /* Groups: the group of each tuple (-1 for none), members as linked lists, records, tuples, cost
     * of a record, level of each attribute, and the time of the last change. `looked[t]` is when
     * better groups were last sought for a tuple. */
    Int32s group_of, next, previous, head;
    Int64s size, count, price;
    Flags level;
    Int64s changed, looked;
    Int32s vacant;
    /* `tallied[g, v]` are the records of a group with a value; empty where persons are counted, or
     * there would be too many numbers. */
    Int32s tallied;

    /* The journal of moves that may be undone; a heap of balls; an order of tuples or groups; the
     * members of a group and their parts. */
    Int32s moved, moved_from, saved;
    Int64s saved_changed, saved_price;
    Flags saved_level;
    Int64s score;
    Int32s heap, order, members, part;
    Int64s numbers;

    Values *values; /* NULL where sizes are enough. */
} Local;

/* A label: the level of each attribute, as seen from one tuple, and what it costs a record. */
typedef struct {
    int64_t member, price;
    uint8_t level[MOST_ATTRIBUTES];
} Label;

static inline int64_t highest_bit(uint64_t number) {
    return number == 0 ? 0 : 64 - __builtin_clzll(number);
}

static inline int64_t cost_at(const Local *local, int64_t t, int64_t j, int64_t level) {
    const int64_t code = AT(local->codes, t * local->attributes + j);
    return AT(local->cost, AT(local->cost_from, j) + level * AT(local->codes_of, j) + code);
}

/* The lowest level of attribute `j` at which two tuples have one label. */
static inline uint8_t meeting(const Local *local, int64_t t, int64_t u, int64_t j) {
    const int64_t m = local->attributes;
    const uint64_t different = AT(local->path, t * m + j) ^ AT(local->path, u * m + j);
    return AT(local->level_of_bit, j * 65 + highest_bit(different));
}

/* The label of one tuple by itself. */
static void label_of_tuple(const Local *local, int64_t t, Label *label) {
    label->member = t;
    label->price = 0;
    for (int64_t j = 0; j < local->attributes; j++) {
        label->level[j] = AT(local->level_of_bit, j * 65);
        label->price += cost_at(local, t, j, label->level[j]);
    }
}

/* The label of a group. */
static void label_of_group(const Local *local, int64_t g, Label *label) {
    label->member = AT(local->head, g);
    label->price = AT(local->price, g);
    for (int64_t j = 0; j < local->attributes; j++) {
        label->level[j] = AT(local->level, g * local->attributes + j);
    }
}

/* Widen a label by a tuple. */
static void widen(const Local *local, Label *label, int64_t t) {
    for (int64_t j = 0; j < local->attributes; j++) {
        const uint8_t level = meeting(local, label->member, t, j);
        if (level > label->level[j]) {
            label->price += cost_at(local, label->member, j, level)
                - cost_at(local, label->member, j, label->level[j]);
            label->level[j] = level;
        }
    }
}

/* What a record costs under a label that is widened by a tuple; stops at a limit. */
static int64_t widened(const Local *local, const Label *label, int64_t t, int64_t most) {
    int64_t price = label->price;
    for (int64_t j = 0; j < local->attributes && price < most; j++) {
        const uint8_t level = meeting(local, label->member, t, j);
        if (level > label->level[j]) {
            price += cost_at(local, label->member, j, level)
                - cost_at(local, label->member, j, label->level[j]);
        }
    }
    return price;
}

/* The same for the label of a group. */
static int64_t widened_group(const Local *local, int64_t g, int64_t t, int64_t most) {
    const int64_t m = local->attributes, member = AT(local->head, g);
    int64_t price = AT(local->price, g);
    for (int64_t j = 0; j < m && price < most; j++) {
        const uint8_t level = meeting(local, member, t, j), own = AT(local->level, g * m + j);
        if (level > own) {
            price += cost_at(local, member, j, level) - cost_at(local, member, j, own);
        }
    }
    return price;
}

static inline bool reaches(const Local *local, const Label *label, int64_t g) {
    for (int64_t j = 0; j < local->attributes; j++) {
        if (label->level[j] != AT(local->level, g * local->attributes + j)) return false;
    }
    return true;
}

/* The label of a group without one of its tuples; false if nothing is left. The members are
 * joined until the label is that of the whole group. */
static bool label_without(const Local *local, int64_t g, int64_t without, Label *label) {
    bool found = false;
    for (int64_t t = AT(local->head, g); t >= 0; t = AT(local->next, t)) {
        if (t == without) continue;
        if (!found) {
            label_of_tuple(local, t, label);
        } else {
            widen(local, label, t);
            if (reaches(local, label, g)) return true;
        }
        found = true;
    }
    return found;
}

static inline int64_t cost_of_group(const Local *local, int64_t g) {
    return AT(local->size, g) * AT(local->price, g);
}

/* Add the values of a tuple to a tally, once or -1 times. */
static void tally_values_of(const Values *values, int64_t t, Int32s tally, int32_t times) {
    for (int64_t i = AT(values->starts, t); i < AT(values->starts, t + 1); i++) {
        AT(tally, AT(values->value, i)) += times * AT(values->counted, i);
    }
}

/* Count a tuple into a group or, -1 times, out of it, and with it what is counted of all groups. */
static void count_tuple(Local *local, int64_t t, int64_t g, int32_t times) {
    const int64_t before = AT(local->size, g), after = before + times * AT(local->weights, t);
    AT(local->size, g) = after;
    AT(local->count, g) += times;
    if (g == 0) return;
    if (local->tallied.length > 0) {
        const int64_t width = local->values->values;
        tally_values_of(local->values, t, ROW(local->tallied, g, width), times);
    }
    if (before == 0) AT(local->numbers, GROUPS) += 1;
    if (after == 0) AT(local->numbers, GROUPS) -= 1;
    if (before < local->small) AT(local->numbers, SMALL) -= before;
    if (after < local->small) AT(local->numbers, SMALL) += after;
}

/* Link a tuple into a group, and out of it; labels and costs are not touched. */
static void link_tuple(Local *local, int64_t t, int64_t g) {
    const int32_t head = AT(local->head, g);
    AT(local->group_of, t) = (int32_t)g;
    AT(local->next, t) = head;
    AT(local->previous, t) = -1;
    if (head >= 0) AT(local->previous, head) = (int32_t)t;
    AT(local->head, g) = (int32_t)t;
    count_tuple(local, t, g, 1);
}
static void unlink_tuple(Local *local, int64_t t) {
    const int64_t g = AT(local->group_of, t);
    const int32_t next = AT(local->next, t), previous = AT(local->previous, t);
    if (previous >= 0) {
        AT(local->next, previous) = next;
    } else {
        AT(local->head, g) = next;
    }
    if (next >= 0) AT(local->previous, next) = previous;
    AT(local->group_of, t) = -1;
    count_tuple(local, t, g, -1);
}

static void set_label(Local *local, int64_t g, const Label *label) {
    for (int64_t j = 0; j < local->attributes; j++) {
        AT(local->level, g * local->attributes + j) = label->level[j];
    }
    AT(local->price, g) = label->price;
}

/* A vacant group, and a group made vacant. */
static int64_t take_group(Local *local) {
    return AT(local->vacant, AT(local->numbers, VACANT) -= 1);
}
static void drop_group(Local *local, int64_t g) {
    AT(local->vacant, AT(local->numbers, VACANT)) = (int32_t)g;
    AT(local->numbers, VACANT) += 1;
}

#endif
