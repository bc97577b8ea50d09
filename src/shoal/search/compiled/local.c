/* Local recoding: the functions that Python calls (recoding/local/). */
#include "local.h"

#include "local_safe.h"
#include "local_cut.h"
#include "local_neighbours.h"
#include "local_pack.h"
#include "local_moves.h"
#include "local_repair.h"
#include "local_build.h"
#include "local_split.h"
#include "local_anneal.h"
#include "local_prices.h"
#include "local_records.h"
#include "local_sets.h"
#include "local_labels.h"
#include "local_sizes.h"

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

EXPORTED int64_t shoal_local_size(void) { return (int64_t)sizeof(Local); }

/* Whether the sizes of all arrays are right; every other function relies on it. */
EXPORTED int64_t shoal_local_fits(const Local *local) { return local_is_right(local); }

EXPORTED void shoal_local_compare(Local *local, int64_t ordered, int64_t first, int64_t last,
                                  int64_t window, int64_t most) {
    compare_in_order(local, ordered, first, last, window, most);
}
EXPORTED void shoal_local_compare_neighbours(Local *local, Int32s near, Int32s listed,
                                             int64_t first, int64_t last, int64_t most) {
    compare_neighbours(local, near, listed, first, last, most);
}
EXPORTED void shoal_local_score(Local *local, int64_t first, int64_t last) {
    score_balls(local, first, last);
}
EXPORTED void shoal_local_reach(Local *local, int64_t ordered) {
    for (int64_t at = 0; at < ordered; at++) set_reach(local, AT(local->order, at));
}
EXPORTED void shoal_local_heap(Local *local, int64_t ordered) { heap_balls(local, ordered); }
EXPORTED int64_t shoal_local_claim(Local *local, int64_t most) { return claim_balls(local, most); }

/* Put a free tuple into its cheapest group of all; whether there is one. */
EXPORTED int64_t shoal_local_join(Local *local, int64_t t) { return join_cheapest(local, t); }

/* Merge a whole group with that of a tuple, which is free at first, unless it is safe; whether that
 * was done. */
EXPORTED int64_t shoal_local_merge(Local *local, int64_t t) { return merge_around(local, t); }

/* Split the ordered groups from `first` to below `last`; how many were. */
EXPORTED int64_t shoal_local_split(Local *local, int64_t first, int64_t last) {
    int64_t done = 0;
    for (int64_t at = first; at < last; at++) done += split_best(local, AT(local->order, at));
    return done;
}

/* Cut the ordered tuples into runs that are safe: their numbers, from 1, are put into `group_of`. */
EXPORTED void shoal_local_cut(Local *local, int64_t ordered) { cut_order(local, ordered); }

/* Make groups of the ordered tuples: `group_of` has their numbers, from 0, on entry. */
EXPORTED void shoal_local_build(Local *local) { build_groups(local); }

/* Repair the ordered groups from `first` to below `last`; how many were changed. */
EXPORTED int64_t shoal_local_repair(Local *local, int64_t first, int64_t last) {
    int64_t done = 0;
    for (int64_t at = first; at < last; at++) {
        const int64_t g = AT(local->order, at);
        if (AT(local->count, g) > 0) done += repair_group(local, g);
    }
    return done;
}

EXPORTED int64_t shoal_local_anneal(Local *local, int64_t chosen, int64_t steps, int64_t heat,
                                    uint64_t seed) {
    return anneal(local, chosen, steps, heat, seed);
}

EXPORTED int64_t shoal_prices_size(void) { return (int64_t)sizeof(Prices); }

/* Lower the prices until they are a bound; whether the memory is right. */
EXPORTED int64_t shoal_prices_cap(Prices *prices) {
    if (!prices_are_right(prices)) return 0;
    cap_all(prices);
    return 1;
}

EXPORTED int64_t shoal_tree_size(void) { return (int64_t)sizeof(Tree); }

/* Build the tree; whether the memory is right. */
EXPORTED int64_t shoal_tree_build(Tree *tree) {
    if (!tree_is_right(tree)) return 0;
    build_tree(tree);
    return 1;
}

/* Lower what each tuple from `first` to below `last` costs, at most, to what it costs at least;
 * the distances measured. A thread has its own space: `k` distances, and the nodes of the tree. */
EXPORTED int64_t shoal_tree_least(const Tree *tree, Int64s distance, Int64s bound, Int32s node,
                                  Int64s least, int64_t first, int64_t last) {
    Query query = {distance, bound, node, 0, 0};
    int64_t visited = 0;
    if (distance.length != tree->k || bound.length != tree->nodes || node.length != tree->nodes) {
        return -1;
    }
    for (int64_t t = first; t < last; t++) {
        AT(least, t) = least_of_record(tree, &query, t, AT(least, t));
        visited += query.visited;
    }
    return visited;
}

EXPORTED int64_t shoal_labels_size(void) { return (int64_t)sizeof(Labels); }
EXPORTED int64_t shoal_around_size(void) { return (int64_t)sizeof(Around); }

/* Lower what each tuple from `first` to below `last` costs, at most, to what the cheapest label
 * costs that it shares with `k` records, at least; whether the memory is right. */
EXPORTED int64_t shoal_labels_least(const Labels *labels, Around *around, Int64s least,
                                    int64_t first, int64_t last) {
    if (!labels_are_right(labels) || !around_is_right(labels, around)
        || least.length != labels->tuples || first < 0 || last > labels->tuples) {
        return 0;
    }
    for (int64_t t = first; t < last; t++) {
        AT(least, t) = least_of_label(labels, around, t, AT(least, t));
    }
    return 1;
}
