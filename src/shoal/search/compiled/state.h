/* All memory of one thread of the search, and how its arrays are read.
 *
 * Python owns the memory and fills in a State (memory.py has the same fields in the same order);
 * nothing is allocated here. An array has its length with it. In the checked build
 * (-DSHOAL_CHECKED) every access by AT and every part taken by PART is tested.
 *
 * In comments `j` is an attribute, `l` a level, `g` a group of values there, `t` a tuple, `c` a
 * class. Arrays with several indices are flat, the last index is the fastest.
 */
#ifndef SHOAL_STATE_H
#define SHOAL_STATE_H

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef SHOAL_CHECKED
#include <stdio.h>
#include <stdlib.h>

static inline int64_t within(int64_t index, int64_t length, int line, const char *text) {
    if (index < 0 || index >= length) {
        fprintf(stderr, "line %d: %s: %lld of %lld\n", line, text, (long long)index,
                (long long)length);
        abort();
    }
    return index;
}

#define AT(array, index)                                                                         \
    ((array).at[within((int64_t)(index), (array).length, __LINE__, #array "[" #index "]")])
#define PART(array, first, count)                                                                \
    ((void)within((first), (array).length + 1, __LINE__, "start of a part of " #array),          \
     (void)within((first) + (count), (array).length + 1, __LINE__, "end of a part of " #array),  \
     ((__typeof__(array)){(array).at + (first), (count)}))
#else
#define AT(array, index) ((array).at[(index)])
#define PART(array, first, count) ((__typeof__(array)){(array).at + (first), (count)})
#endif

/* The rest of an array from an index on, and a row of an array of rows. */
#define FROM(array, first) PART(array, first, (array).length - (first))
#define ROW(array, index, width) PART(array, (index) * (width), width)

typedef struct { int32_t *at; int64_t length; } Int32s;
typedef struct { int64_t *at; int64_t length; } Int64s;
typedef struct { uint32_t *at; int64_t length; } UInt32s;
typedef struct { uint64_t *at; int64_t length; } UInt64s;
typedef struct { double *at; int64_t length; } Doubles;
typedef struct { uint8_t *at; int64_t length; } Flags;

/* The status of a box on the stack: to dive from, a node to list the neighbours of, a box whose
 * classes are not set up, one not explored, its first or second child comes next, both done. */
enum { DIVE, NEIGHBOURS, UNPREPARED, NEW, FIRST_CHILD, SECOND_CHILD, DONE };

/* A box on the stack: where its tuples, class numbers and samples are, the records removed at its
 * `hi`, which child comes next, and lower bounds of its cost and of those of its children.
 *
 * Its classes lose at least the records that it `owes`, and at `hi` itself those `failing`;
 * `serial` identifies its partition, whose first `few` classes are small ones; -1 if that is not
 * known. A deeper box starts its own segments at `end`, `end_class` and `end_sample`. */
typedef struct {
    int64_t first, tuples, end;
    int64_t at_class, end_class, classes;
    int64_t at_sample, end_sample, removed;
    int64_t owes, failing, serial, few;
    int64_t status, attribute, below_first;
    double bound, bound_at, bound_below;
} Frame;
typedef struct { Frame *at; int64_t length; } Frames;

/* Indices of `done`: boxes opened, tuples visited, candidates found, boxes noted. */
enum { OPENED, WORK, FOUND, NOTED, DONE_LENGTH };

/* An exploration pauses when it has so many candidates or notes. */
enum { CANDIDATES = 64, NOTES = 4096 };

/* Indices of `shared`: the best cost known, a stop signal (not 0), how many threads are idle. */
enum { BEST_COST, STOP, IDLE, SHARED_LENGTH };
typedef struct { _Atomic(double) *at; int64_t length; } Shared;

typedef struct Values Values;       /* sensitive.h */
typedef struct Release Release;     /* release.h */
typedef struct ClassLoss ClassLoss; /* class_loss.h */

typedef struct {
    /* Sizes. `levels` and `widest` pad all hierarchies to the highest and widest. `rows` and
     * `depths` are the lengths of the stacks of tuples and of boxes; `demands` counts the
     * demands on different values, `classes` is more than any node has. */
    int64_t attributes, levels, widest, tuples, rows, depths, demands, classes;

    /* A class stays with `k` records, or persons where those are counted; at most `limit`
     * records are suppressed. Costs are `geometric`: a sum of log(1 + priority * cost); they are
     * `exact`: what is charged for a suppressed record is what it costs. `log` asks for notes.
     * Small classes are listed in boxes of at least `list_from` tuples (small.h). */
    int64_t k, limit, geometric, exact, log, list_from;

    /* The problem, which never changes. `bottom[j]` is the lowest level. `group[j, l, code]` are
     * the hierarchies, `groups[j, l]` counts groups, and `member[j, l, g]` is a code in a group;
     * `are_codes[j]` says that the groups of level 0 are the codes themselves.
     * `base[j, l]` is what an attribute costs at a level with nothing suppressed, and
     * `charge[j, l, g]` what a suppressed record of a group costs above that, at least: 1 minus
     * its dearest cell. A class needs `least_values[s]` different values for demand `s`. The
     * persons of tuple `t` are `person[i]` for `i` from `persons_from[t]` to below
     * `persons_from[t + 1]`; both are empty where no persons are counted. */
    Int64s bottom;
    UInt32s group;
    Int64s groups;
    UInt32s member;
    Flags are_codes;
    Doubles base, charge, priority;
    Int64s least_values, persons_from;
    Int32s person;

    /* Tuples: `codes[j, t]`, `weights[t]` records, values as bits in `masks[s, t]`. `class_of`
     * numbers their classes from 1; 0 means removed. `sample[c, j]` is a code of a class. All are
     * stacks: a deeper box has its own segment after that of its parent. The first `tuples` are
     * those of the table. Where persons are counted, `assigned[t]` of them are assigned to a
     * tuple, each to one, and tuple `t` means those of the table from `head[t]` to `tail[t]`
     * (persons.h); else these three are empty. */
    UInt32s codes;
    Int32s weights, assigned, head, tail;
    UInt64s masks;
    UInt32s class_of, sample;

    /* Work space. `number` has as many cells as a tally may have; `touched` has two sides of the
     * widest attribute. From `persons` to `settled`: for counting persons (persons.h).
     * `partitions[0]` counts partitions. From `small` to `small_weight`: the tuples of small classes
     * (small.h). `fixed[c]` is what a dropped record of a class costs the attributes that are fixed.
     */
    Int32s counts, persons, first_of, next_of, link;
    Int64s seen, mark, undecided;
    Doubles settled;
    UInt64s held;
    UInt32s number, origin, chosen, order;
    Int64s begins, touched;
    Int64s partitions, small;
    UInt32s small_tuple, small_class;
    Int32s small_weight;
    UInt64s keys, kept_keys;
    Int32s slots;
    UInt64s multiplier;
    Doubles fixed;
    Int64s lost, low, high;
    Flags falls;
    Doubles score, least;

    /* The boxes from the first to the current one, by depth: `lo[depth, j]` and `hi[depth, j]`.
     * `distinct_from` are the levels from which on the tuples differ, `fresh` the attributes
     * whose levels were priced since `hi` fell. By depth, attribute and level: `paid` is what
     * removed records cost `j` above its base; `dropped` are the records that are removed when
     * `hi` falls to `l`, `extra` is what these cost `j`, and `due` what they cost the attributes
     * that are fixed. `owed[depth, j]` is what the records that a box owes cost `j`. */
    Frames frames;
    Int64s lo, hi, distinct_from;
    Flags fresh;
    Doubles paid, extra, due;
    Int64s dropped;
    Doubles owed;

    /* Output: candidates (`costs`, `removed`, `nodes`) and, with `log`, notes of closed boxes:
     * the reason, `lo` and `hi`. `done` counts what was done. `best` is the cost and the removed
     * records of the best node that this thread knows. `shared` is seen by all threads. */
    Int64s done;
    Doubles best, costs;
    Int64s removed, nodes, notes;
    Shared shared;

    /* Absent (NULL) where sizes are enough, where nothing is demanded of the population or of all
     * classes together, and where the loss is not one of classes. With `release`, `values` are
     * there, too, possibly of no demand. */
    Values *values;
    Release *release;
    const ClassLoss *class_loss;
} State;

/* The groups of attribute `j` at a level by code, a code of each group, and the charges. */
static inline int64_t at_level(const State *state, int64_t j, int64_t level) {
    return j * state->levels + level;
}
static inline UInt32s group_at(const State *state, int64_t j, int64_t level) {
    return ROW(state->group, at_level(state, j, level), state->widest);
}
static inline UInt32s member_at(const State *state, int64_t j, int64_t level) {
    return ROW(state->member, at_level(state, j, level), state->widest);
}
static inline Doubles charge_at(const State *state, int64_t j, int64_t level) {
    return ROW(state->charge, at_level(state, j, level), state->widest);
}
static inline int64_t groups_at(const State *state, int64_t j, int64_t level) {
    return AT(state->groups, at_level(state, j, level));
}

/* The levels of a box, and what is known of the levels of attribute `j` in it. */
static inline Int64s lo_of(const State *state, int64_t depth) {
    return ROW(state->lo, depth, state->attributes);
}
static inline Int64s hi_of(const State *state, int64_t depth) {
    return ROW(state->hi, depth, state->attributes);
}
#define BY_LEVEL(state, array, depth, j)                                                         \
    ROW((state)->array, (depth) * (state)->attributes + (j), (state)->levels)

/* The tuples of a box: their codes of attribute `j`, weights, and classes. */
static inline UInt32s column_of(const State *state, const Frame *frame, int64_t j) {
    return PART(state->codes, j * state->rows + frame->first, frame->tuples);
}
static inline Int32s weights_of(const State *state, const Frame *frame) {
    return PART(state->weights, frame->first, frame->tuples);
}
static inline UInt32s classes_of(const State *state, const Frame *frame) {
    return PART(state->class_of, frame->at_class, frame->tuples);
}
static inline UInt64s masks_of(const State *state, const Frame *frame, int64_t s) {
    return PART(state->masks, s * state->rows + frame->first, frame->tuples);
}
static inline Frame *frame_at(const State *state, int64_t depth) {
    return &AT(state->frames, depth);
}
static inline bool by_persons(const State *state) { return state->assigned.length > 0; }

/* What all threads share. Costs only fall, and a stale one is still a cost that is known. */
static inline double shared_now(const State *state, int64_t index) {
    return atomic_load_explicit(&AT(state->shared, index), memory_order_relaxed);
}
static inline void share_cost(const State *state, double cost) {
    _Atomic(double) *best = &AT(state->shared, BEST_COST);
    double known = atomic_load_explicit(best, memory_order_relaxed);
    while (cost < known
           && !atomic_compare_exchange_weak_explicit(best, &known, cost, memory_order_relaxed,
                                                     memory_order_relaxed)) {
    }
}

/* Before a loop over many tuples or cells: gcc unrolls it; other compilers do so unasked. */
#if defined(__GNUC__) && !defined(__clang__)
#define UNROLLED _Pragma("GCC unroll 8")
#else
#define UNROLLED
#endif

static inline int64_t smaller(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t larger(int64_t a, int64_t b) { return b > a ? b : a; }
static inline double lesser(double a, double b) { return b < a ? b : a; }
static inline double greater(double a, double b) { return b > a ? b : a; }

#endif
