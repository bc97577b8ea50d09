/* A lower bound record by record: a released record shares its class with `k` records, itself
 * included, so it costs at least its distance to the nearest with which there are `k`.
 *
 * The nearest tuples are found in a tree. A node has a range of tuples and their least common label;
 * a tuple is at least as far from all of them as the attributes say in which it is outside that
 * label. Where the effort is spent, the nodes that were not visited count with that bound. */
#ifndef SHOAL_LOCAL_RECORDS_H
#define SHOAL_LOCAL_RECORDS_H

#include "local.h"

/* Tuples of a node that is not split. */
enum { LEAF = 8 };

typedef struct {
    /* Sizes: `nodes` is the space for nodes; `levels` pads all hierarchies. */
    int64_t attributes, tuples, levels, nodes, k, effort;
    /* As in local.h; `cost` is that of each code, and `shift[j, l]` bits are below level `l`. */
    Int64s cost_from, codes_of, cost, lowest, shift;
    Flags level_of_bit;
    UInt64s path;
    UInt32s codes;
    Int64s weights;
    /* The tree: tuples in its order, and of each node the first and last of them, the first child,
     * how many children, and the levels of its label. */
    Int32s sorted, spare;
    Int64s first, last, child, children;
    Flags level;
    Int64s made;
} Tree;

static inline int64_t tree_cost(const Tree *tree, int64_t t, int64_t j, int64_t level) {
    const int64_t code = AT(tree->codes, t * tree->attributes + j);
    return AT(tree->cost, AT(tree->cost_from, j) + level * AT(tree->codes_of, j) + code);
}
static inline uint8_t tree_meeting(const Tree *tree, int64_t t, int64_t u, int64_t j) {
    const int64_t m = tree->attributes;
    const uint64_t different = AT(tree->path, t * m + j) ^ AT(tree->path, u * m + j);
    return AT(tree->level_of_bit, j * 65 + highest_bit(different));
}

/* Set the label of a node from its tuples. */
static void label_node(Tree *tree, int64_t node) {
    const int64_t m = tree->attributes, first = AT(tree->first, node);
    const int64_t member = AT(tree->sorted, first);
    for (int64_t j = 0; j < m; j++) {
        uint8_t level = (uint8_t)AT(tree->lowest, j);
        for (int64_t at = first + 1; at < AT(tree->last, node); at++) {
            const uint8_t met = tree_meeting(tree, member, AT(tree->sorted, at), j);
            if (met > level) level = met;
        }
        AT(tree->level, node * m + j) = level;
    }
}

/* The attribute to split a node by: the one whose label costs most; -1 for none. */
static int64_t splitting_attribute(const Tree *tree, int64_t node) {
    const int64_t m = tree->attributes, member = AT(tree->sorted, AT(tree->first, node));
    int64_t best = 0, chosen = -1;
    for (int64_t j = 0; j < m; j++) {
        const int64_t level = AT(tree->level, node * m + j);
        const int64_t cost = tree_cost(tree, member, j, level);
        if (level > AT(tree->lowest, j) && cost >= best) {
            best = cost;
            chosen = j;
        }
    }
    return chosen;
}

/* Sort the tuples of a range by their paths of an attribute, from a level on: a stable merge sort. */
static void sort_range(Tree *tree, int64_t first, int64_t last, int64_t j, int64_t shift) {
    const int64_t m = tree->attributes;
    if (last - first < 2) return;
    const int64_t middle = first + (last - first) / 2;
    sort_range(tree, first, middle, j, shift);
    sort_range(tree, middle, last, j, shift);
    int64_t a = first, b = middle;
    for (int64_t at = first; at < last; at++) {
        const bool second = a == middle
            || (b < last
                && (AT(tree->path, AT(tree->sorted, b) * m + j) >> shift)
                    < (AT(tree->path, AT(tree->sorted, a) * m + j) >> shift));
        AT(tree->spare, at) = AT(tree->sorted, second ? b : a);
        if (second) {
            b++;
        } else {
            a++;
        }
    }
    for (int64_t at = first; at < last; at++) AT(tree->sorted, at) = AT(tree->spare, at);
}

/* Split a node into the groups of an attribute one level below its label. */
static void split_node(Tree *tree, int64_t node, int64_t j) {
    const int64_t m = tree->attributes, first = AT(tree->first, node);
    const int64_t last = AT(tree->last, node), level = AT(tree->level, node * m + j) - 1;
    const int64_t shift = AT(tree->shift, j * tree->levels + level);
    sort_range(tree, first, last, j, shift);
    AT(tree->child, node) = AT(tree->made, 0);
    for (int64_t start = first, end; start < last; start = end) {
        const uint64_t path = AT(tree->path, AT(tree->sorted, start) * m + j) >> shift;
        for (end = start + 1; end < last; end++) {
            if (AT(tree->path, AT(tree->sorted, end) * m + j) >> shift != path) break;
        }
        const int64_t made = AT(tree->made, 0)++;
        AT(tree->first, made) = start;
        AT(tree->last, made) = end;
        AT(tree->children, node) += 1;
    }
}

/* Build the tree, node by node. Every split has two children or more, so there are fewer than twice
 * as many nodes as tuples. */
static void build_tree(Tree *tree) {
    for (int64_t t = 0; t < tree->tuples; t++) AT(tree->sorted, t) = (int32_t)t;
    AT(tree->made, 0) = 1;
    AT(tree->first, 0) = 0;
    AT(tree->last, 0) = tree->tuples;
    for (int64_t node = 0; node < AT(tree->made, 0); node++) {
        AT(tree->children, node) = 0;
        label_node(tree, node);
        if (AT(tree->last, node) - AT(tree->first, node) <= LEAF) continue;
        const int64_t j = splitting_attribute(tree, node);
        if (j >= 0) split_node(tree, node, j);
    }
}

/* At most the distance from a tuple to those of a node; stops at a limit. */
static int64_t distance_to_node(const Tree *tree, int64_t t, int64_t node, int64_t most) {
    const int64_t m = tree->attributes, member = AT(tree->sorted, AT(tree->first, node));
    int64_t sum = 0;
    for (int64_t j = 0; j < m && sum < most; j++) {
        const uint8_t level = tree_meeting(tree, t, member, j);
        const bool outside = level > AT(tree->level, node * m + j);
        sum += tree_cost(tree, t, j, outside ? level : AT(tree->lowest, j));
    }
    return sum;
}

/* The search for the nearest records of one tuple: the distances of `k` of them, the farthest last,
 * and a heap of the nodes that wait for a visit, the least bound first. */
typedef struct {
    Int64s distance, bound;
    Int32s node;
    int64_t waiting, visited;
} Query;

static void found_records(Query *query, int64_t distance, int64_t records) {
    const int64_t k = query->distance.length;
    for (int64_t i = smaller(records, k); i > 0; i--) {
        if (distance >= AT(query->distance, k - 1)) return;
        int64_t at = k - 1;
        for (; at > 0 && AT(query->distance, at - 1) > distance; at--) {
            AT(query->distance, at) = AT(query->distance, at - 1);
        }
        AT(query->distance, at) = distance;
    }
}

static void visit_leaf(const Tree *tree, Query *query, int64_t t, int64_t node) {
    const int64_t m = tree->attributes, k = query->distance.length;
    for (int64_t at = AT(tree->first, node); at < AT(tree->last, node); at++) {
        const int64_t u = AT(tree->sorted, at), most = AT(query->distance, k - 1);
        if (u == t) continue;
        int64_t sum = 0;
        for (int64_t j = 0; j < m && sum < most; j++) {
            sum += tree_cost(tree, t, j, tree_meeting(tree, t, u, j));
        }
        found_records(query, sum, AT(tree->weights, u));
        query->visited++;
    }
}

static void push_node(Query *query, int64_t bound, int64_t node) {
    int64_t at = query->waiting++;
    for (; at > 0 && AT(query->bound, (at - 1) / 2) > bound; at = (at - 1) / 2) {
        AT(query->bound, at) = AT(query->bound, (at - 1) / 2);
        AT(query->node, at) = AT(query->node, (at - 1) / 2);
    }
    AT(query->bound, at) = bound;
    AT(query->node, at) = (int32_t)node;
}

static int64_t pop_node(Query *query) {
    const int64_t top = AT(query->node, 0), last = --query->waiting;
    const int64_t bound = AT(query->bound, last);
    int64_t at = 0;
    for (int64_t child = 1; child < last; child = 2 * at + 1) {
        if (child + 1 < last && AT(query->bound, child + 1) < AT(query->bound, child)) child++;
        if (AT(query->bound, child) >= bound) break;
        AT(query->bound, at) = AT(query->bound, child);
        AT(query->node, at) = AT(query->node, child);
        at = child;
    }
    AT(query->bound, at) = bound;
    AT(query->node, at) = AT(query->node, last);
    return top;
}

/* Let the children of a node wait that may have nearer tuples than those found. */
static void visit_node(const Tree *tree, Query *query, int64_t t, int64_t node) {
    const int64_t k = query->distance.length;
    for (int64_t i = 0; i < AT(tree->children, node); i++) {
        const int64_t child = AT(tree->child, node) + i, most = AT(query->distance, k - 1);
        const int64_t bound = distance_to_node(tree, t, child, most);
        if (bound < most) push_node(query, bound, child);
    }
    query->visited += AT(tree->children, node);
}

/* What a record of a tuple costs at least, where it is known to cost at most `most`. */
static int64_t least_of_record(const Tree *tree, Query *query, int64_t t, int64_t most) {
    const int64_t k = query->distance.length;
    int64_t own = 0;
    for (int64_t j = 0; j < tree->attributes; j++) {
        own += tree_cost(tree, t, j, AT(tree->lowest, j));
    }
    for (int64_t i = 0; i < k; i++) AT(query->distance, i) = most;
    query->waiting = query->visited = 0;
    found_records(query, own, AT(tree->weights, t));
    push_node(query, own, 0);
    while (query->waiting > 0 && AT(query->bound, 0) < AT(query->distance, k - 1)) {
        if (query->visited >= tree->effort) return AT(query->bound, 0);
        const int64_t node = pop_node(query);
        if (AT(tree->children, node) == 0) {
            visit_leaf(tree, query, t, node);
        } else {
            visit_node(tree, query, t, node);
        }
    }
    return AT(query->distance, k - 1);
}

static bool tree_is_right(const Tree *tree) {
    const int64_t m = tree->attributes, n = tree->tuples;
    return m > 0 && m <= MOST_ATTRIBUTES && n > 0 && n < INT32_MAX && tree->k > 0
        && tree->nodes >= 2 * n && tree->cost_from.length == m && tree->codes_of.length == m
        && tree->lowest.length == m && tree->shift.length == m * tree->levels
        && tree->level_of_bit.length == m * 65 && tree->path.length == n * m
        && tree->codes.length == n * m && tree->weights.length == n && tree->sorted.length == n
        && tree->spare.length == n && tree->first.length == tree->nodes
        && tree->last.length == tree->nodes && tree->child.length == tree->nodes
        && tree->children.length == tree->nodes && tree->level.length == tree->nodes * m
        && tree->made.length == 1;
}

#endif
