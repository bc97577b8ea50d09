/* Demands on the population, and on all released classes together.
 *
 * The same numbers as in privacy/population.py and privacy/risk.py.
 *
 * A class has *people*: its records in a table of the population. People who are in no record are
 * tuples of weight 0, after all others.
 *
 * 1. k-map refuses a class with fewer than `k_map` people, and so every part of it: all its records
 *    are removed.
 * 2. Delta-presence lets a class keep a share of its people. The kept parts of a class have at most
 *    that share of their own people, and so of all people of the class: the others are removed.
 * 3. Where delta-presence demands a least share, everybody must be released: people without a
 *    record, a removed record, and a class with too low a share are allowed in no solution. A class
 *    above is a union of such classes. So a box with one of these at its `hi` is empty.
 *
 * Demands on the risk say how many records a node releases at most, from the room of its classes: a
 * class of `hi` has *room* for its records without those that are removed by 1, 2, k and sensitive
 * values. In the classes of any node of the box, which are parts of those of `hi`:
 *
 * 4. Average risk: let a node release `u` classes with `n` records. At most `u` classes of `hi` have
 *    one of these records, and their room is at least `n`. So these classes, with all of their room,
 *    meet the demand as well. Most room, under this demand, have the largest classes.
 * 5. Records above a threshold: records of classes that are small at `hi` are in small classes below,
 *    too. If `p` of them and `q` others are released, `p <= share * (p + q)`, and `q` is at most
 *    the room of the classes that are large at `hi`.
 *
 * The *further* records that must go by 4 or 5 may be in any class. So they count against the limit,
 * and cost an attribute at least what the cheapest records with room cost. All of this holds for the
 * classes of `hi` lowered to a level in one attribute, too, for the nodes with that level.
 */
#ifndef SHOAL_RELEASE_H
#define SHOAL_RELEASE_H

#include "state.h"

/* Relative tolerance where numbers of records are compared with a share of others. */
#define SHARE_TOLERANCE 1e-9

/* The demands, and work space for one thread.
 *
 * `k_map` is 0 where it is not demanded. There are `presences` demands of a share of the population
 * between `least_share` and `most_share`, and `aboves` demands that at most a `share` of the
 * records have a risk above a `threshold`. `average[0]` is the highest average risk. Classes that
 * this may drop, of fewer than 1 / average records, are counted in `bins` of `width` sizes each;
 * there are no bins where it is not demanded. `people[t]` of a tuple, none without a population.
 * `cheapest[j, l]` are the groups of a level by rising charge.
 *
 * `people_of` counts people by group, for two levels. `room_of` is the room of each class. By level:
 * `room` of each group, the number of `classes` that have some, and all `records` in it; the
 * classes and records of each bin, the room of `small` and `large` classes for each threshold, and
 * whether a class is `refused` by 3. */
struct Release {
    int64_t k_map, presences, aboves, bins, width;
    Int32s people;
    Doubles most_share, least_share, average, threshold, share;
    UInt32s cheapest;
    Int32s people_of;
    Int64s room_of, room, classes, records, bin_classes, bin_records, small, large;
    Flags refused;
};

static inline bool has_people(const State *state) {
    return state->release != NULL && state->release->people.length > 0;
}

/* Whether a demand looks at all classes, those that lose nothing included. */
static bool needs_every_class(const Release *release) {
    if (release->bins > 0 || release->aboves > 0) return true;
    for (int64_t p = 0; p < release->presences; p++) {
        if (AT(release->least_share, p) > 0.0) return true;
    }
    return false;
}

/* Records removed of a class by demands on the population, however it is split (1 and 2). */
static int64_t removed_by_people(const Release *release, int64_t size, int64_t people) {
    if (release->k_map > 0 && people < release->k_map) return size;
    int64_t most = 0;
    for (int64_t p = 0; p < release->presences; p++) {
        const double share = AT(release->most_share, p) * (double)people;
        const double kept = floor(share + SHARE_TOLERANCE * greater(share, 1.0));
        most = larger(most, size - (int64_t)kept);
    }
    return most;
}

/* Whether no solution has a class like this (3), of which `removed` records are removed. */
static bool is_refused(const Release *release, int64_t size, int64_t removed, int64_t people) {
    for (int64_t p = 0; p < release->presences; p++) {
        const double least = AT(release->least_share, p) * (double)people;
        if (AT(release->least_share, p) == 0.0) continue;
        if (removed > 0 || size == 0) return true;
        if (least > (double)size + SHARE_TOLERANCE * (double)people) return true;
    }
    return false;
}

/* Reset what is known of the classes at the levels from `bottom` to below `top`. */
static void forget_classes(State *state, int64_t bottom, int64_t top) {
    Release *release = state->release;
    for (int64_t level = bottom; level < top; level++) {
        const Int64s room = ROW(release->room, level, state->widest);
        for (int64_t g = 0; g < room.length; g++) AT(room, g) = 0;
        AT(release->classes, level) = AT(release->records, level) = 0;
        AT(release->refused, level) = false;
        for (int64_t b = level * release->bins; b < (level + 1) * release->bins; b++) {
            AT(release->bin_classes, b) = AT(release->bin_records, b) = 0;
        }
        for (int64_t r = level * release->aboves; r < (level + 1) * release->aboves; r++) {
            AT(release->small, r) = AT(release->large, r) = 0;
        }
    }
}

/* Count a class at a level, of which `removed` records are removed. */
static void add_class(Release *release, int64_t level, int64_t size, int64_t removed,
                      int64_t people) {
    const int64_t room = size - removed;
    if (is_refused(release, size, removed, people)) AT(release->refused, level) = true;
    if (room == 0) return;
    AT(release->classes, level) += 1;
    AT(release->records, level) += room;
    const int64_t bin = release->bins > 0 ? (room - 1) / release->width : 0;
    if (bin < release->bins) {
        AT(release->bin_classes, level * release->bins + bin) += 1;
        AT(release->bin_records, level * release->bins + bin) += room;
    }
    for (int64_t r = 0; r < release->aboves; r++) {
        const bool is_small = (double)size * AT(release->threshold, r) < 1.0 - SHARE_TOLERANCE;
        AT(is_small ? release->small : release->large, level * release->aboves + r) += room;
    }
}

/* Whether so many classes with so many records have a low enough average risk. */
static bool is_low_enough(const Release *release, int64_t classes, int64_t records) {
    const double most = AT(release->average, 0) * (double)records;
    return (double)classes <= most + SHARE_TOLERANCE * greater(most, 1.0);
}

/* How many of `number` classes of `size` records must go until the average is low enough; `number`
 * if that is not enough. */
static int64_t classes_to_drop(const Release *release, int64_t classes, int64_t records,
                               int64_t number, int64_t size) {
    int64_t low = 0, high = number;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (is_low_enough(release, classes - middle, records - middle * size)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* The most records that can be released by the average risk: those of the largest classes (4).
 *
 * The smallest classes go, bin by bin. Of the last bin only some may go, and their sizes are known
 * up to the width of the bin: the smallest size leaves most records. */
static int64_t released_by_average(const Release *release, int64_t level) {
    int64_t classes = AT(release->classes, level), records = AT(release->records, level);
    for (int64_t b = 0; b < release->bins && !is_low_enough(release, classes, records); b++) {
        const int64_t at = level * release->bins + b, size = b * release->width + 1;
        const int64_t number = AT(release->bin_classes, at);
        const int64_t gone = classes_to_drop(release, classes, records, number, size);
        if (gone < number) return records - gone * size;
        classes -= number;
        records -= AT(release->bin_records, at);
    }
    return records;
}

/* The most records that can be released by the records above threshold `r` (5). */
static int64_t released_by_threshold(const Release *release, int64_t level, int64_t r) {
    const int64_t at = level * release->aboves + r;
    const double share = AT(release->share, r), large = (double)AT(release->large, at);
    const double allowed = large * share / (1.0 - share);
    const int64_t most = (int64_t)(allowed * (1.0 + SHARE_TOLERANCE) + 1e-6);
    return AT(release->large, at) + smaller(AT(release->small, at), most);
}

/* The records that must go beyond those that were removed of the classes at a level; more than the
 * limit where a class is refused. */
static int64_t further_removal(const State *state, int64_t level) {
    const Release *release = state->release;
    const int64_t records = AT(release->records, level);
    if (AT(release->refused, level)) return larger(records, state->limit + 1);
    int64_t most = records;
    if (release->bins > 0) most = smaller(most, released_by_average(release, level));
    for (int64_t r = 0; r < release->aboves; r++) {
        most = smaller(most, released_by_threshold(release, level, r));
    }
    return records - most;
}

/* What so many records cost attribute `j` at a level at least, of those that groups have `room`
 * for. */
static double cheapest_cost(const State *state, int64_t j, int64_t level, Int64s room,
                            int64_t records) {
    const UInt32s cheapest =
        ROW(state->release->cheapest, at_level(state, j, level), state->widest);
    const Doubles charge = charge_at(state, j, level);
    double cost = 0.0;
    for (int64_t n = 0; n < groups_at(state, j, level) && records > 0; n++) {
        const uint32_t g = AT(cheapest, n);
        const int64_t taken = smaller(AT(room, g), records);
        cost += (double)taken * AT(charge, g);
        records -= taken;
    }
    return cost;
}

#endif
