/* All tuples that are near a tuple, found by sets of bits.
 *
 * For every label of an attribute there is a set of the tuples that have it. What two tuples cost
 * under their least common label is a sum over attributes and levels: how much more each level costs
 * than the one below, where the two have different labels below. Such sums are kept for 64 tuples at
 * a time, one word for each binary digit, in units that are rounded down. So a sum is never above the
 * true distance, and no tuple within a radius is missed. */
#ifndef SHOAL_LOCAL_SETS_H
#define SHOAL_LOCAL_SETS_H

#include "local.h"

/* Binary digits of a sum; units of the largest radius, which is less than the digits can hold; words
 * that are added to at once; and radii that are tried. */
enum { DIGITS = 7, UNITS = 112, BLOCK = 64, RADII = 16 };

typedef struct {
    /* Sizes: `words` of a set, `levels` pads all hierarchies, `k` records of a class, the most
     * branches that are followed for a tuple. */
    int64_t attributes, tuples, words, levels, k, effort;
    /* As in local.h; `cost` is that of each code. `set_of` has the indices of `cost`, and says which
     * set has the tuples with the label of a code at a level; -1 for all tuples. */
    Int64s cost_from, codes_of, cost, lowest, limit;
    Int32s set_of;
    Flags level_of_bit;
    UInt64s path;
    UInt32s codes;
    Int64s weights;
    UInt64s sets;
} Labels;

/* The search around one tuple, in the memory of one thread. */
typedef struct {
    /* Sizes: near tuples, words of a set of them, open branches. Then what a unit is. */
    int64_t most, words, branches, unit;
    /* `row[j, l]` is what attribute `j` costs the tuple at level `l`; digits of the sums, and sums
     * that the digits do not hold; the near tuples. */
    Int64s row;
    UInt64s digits, far;
    Int32s near;
    /* Branches over levels (local_labels.h). */
    Flags level;
    Int64s rest;
    Int32s order;
    Int64s steps, step_cost;
    UInt64s step_set;
    Int64s open_bound, open_cost;
    Int32s open_depth;
    UInt64s open_set;
    Int64s top;
} Around;

static inline int64_t index_at(const Labels *labels, int64_t t, int64_t j, int64_t level) {
    const int64_t code = AT(labels->codes, t * labels->attributes + j);
    return AT(labels->cost_from, j) + level * AT(labels->codes_of, j) + code;
}
static inline int64_t row_at(const Labels *labels, const Around *around, int64_t j, int64_t level) {
    return AT(around->row, j * (labels->levels + 1) + level);
}

/* Set what a tuple costs at each level, the forbidden one included; what it costs by itself. */
static int64_t set_row(const Labels *labels, Around *around, int64_t t) {
    int64_t own = 0;
    for (int64_t j = 0; j < labels->attributes; j++) {
        const int64_t lowest = AT(labels->lowest, j);
        for (int64_t level = lowest; level <= AT(labels->limit, j) + 1; level++) {
            AT(around->row, j * (labels->levels + 1) + level) =
                AT(labels->cost, index_at(labels, t, j, level));
        }
        own += row_at(labels, around, j, lowest);
    }
    return own;
}

/* What a level costs above the lowest, in units; more than the digits hold where it is too much. */
static int64_t units_at(const Labels *labels, const Around *around, int64_t j, int64_t level) {
    const int64_t above = row_at(labels, around, j, level)
        - row_at(labels, around, j, AT(labels->lowest, j));
    return smaller(above / around->unit, (int64_t)1 << DIGITS);
}

/* Add units to the sums of the tuples that are not in a set. */
static void add_outside(UInt64s digits, UInt64s far, UInt64s set, int64_t units) {
    uint64_t *restrict sum = digits.at, *restrict over = far.at;
    const uint64_t *restrict inside = set.at;
    const int64_t words = set.length;
    uint64_t bits[DIGITS];
    for (int64_t i = 0; i < DIGITS; i++) bits[i] = units >> i & 1 ? ~(uint64_t)0 : 0;
    for (int64_t w = 0; w < words; w++) {
        const uint64_t outside = ~inside[w];
        uint64_t carry = 0;
        for (int64_t i = 0; i < DIGITS; i++) {
            const uint64_t added = outside & bits[i], old = sum[i * BLOCK + w];
            const uint64_t one = old ^ added;
            sum[i * BLOCK + w] = one ^ carry;
            carry = (old & added) | (carry & one);
        }
        over[w] |= carry;
    }
}

/* Sum up what the tuples of a block cost under their least common labels with a tuple. */
static void sum_block(const Labels *labels, Around *around, int64_t t, int64_t block) {
    const int64_t first = block * BLOCK, count = smaller(BLOCK, labels->words - first);
    const UInt64s digits = ROW(around->digits, block, DIGITS * BLOCK);
    const UInt64s far = PART(around->far, first, count);
    for (int64_t i = 0; i < digits.length; i++) AT(digits, i) = 0;
    for (int64_t w = 0; w < count; w++) AT(far, w) = 0;
    for (int64_t j = 0; j < labels->attributes; j++) {
        int64_t before = 0;
        for (int64_t level = AT(labels->lowest, j); level <= AT(labels->limit, j); level++) {
            const int64_t set = AT(labels->set_of, index_at(labels, t, j, level));
            const int64_t units = units_at(labels, around, j, level + 1);
            if (set < 0) break;
            const UInt64s inside = PART(labels->sets, set * labels->words + first, count);
            if (units >= (int64_t)1 << DIGITS) {
                for (int64_t w = 0; w < count; w++) AT(far, w) |= ~AT(inside, w);
                break;
            }
            if (units > before) add_outside(digits, far, inside, units - before);
            before = units;
        }
    }
}

/* The tuples of a word whose sums are below a number of units. */
static uint64_t below(const Labels *labels, const Around *around, int64_t w, int64_t units) {
    const UInt64s digits = ROW(around->digits, w / BLOCK, DIGITS * BLOCK);
    uint64_t less = 0, equal = ~(uint64_t)0;
    for (int64_t i = DIGITS; i-- > 0;) {
        const uint64_t digit = AT(digits, i * BLOCK + w % BLOCK);
        if (units >> i & 1) {
            less |= equal & ~digit;
            equal &= digit;
        } else {
            equal &= ~digit;
        }
    }
    const int64_t last = labels->tuples - w * 64;
    return less & ~AT(around->far, w) & (last < 64 ? ((uint64_t)1 << last) - 1 : ~(uint64_t)0);
}

static int64_t count_below(const Labels *labels, const Around *around, int64_t units) {
    int64_t count = 0;
    for (int64_t w = 0; w < labels->words; w++) {
        count += __builtin_popcountll(below(labels, around, w, units));
    }
    return count;
}

/* Find all tuples within a radius of tuple `t`, itself left out: the largest of the radii up to
 * `most` where they are not too many. How many there are; `known` is set to the radius. */
static int64_t find_near(const Labels *labels, Around *around, int64_t t, int64_t most,
                         int64_t *known) {
    int64_t fits = 0, count = 0;
    around->unit = most / UNITS + 1;
    for (int64_t b = 0; b * BLOCK < labels->words; b++) sum_block(labels, around, t, b);
    for (int64_t step = RADII / 2; step > 0; step /= 2) {
        const int64_t radius = fits + step;
        if (count_below(labels, around, UNITS * radius / RADII) <= around->most) fits = radius;
    }
    if (fits == RADII - 1 && count_below(labels, around, UNITS) <= around->most) fits = RADII;
    const int64_t units = UNITS * fits / RADII;
    *known = smaller(most, units * around->unit);
    for (int64_t w = 0; w < labels->words; w++) {
        for (uint64_t left = below(labels, around, w, units); left != 0; left &= left - 1) {
            const int64_t u = w * 64 + __builtin_ctzll(left);
            if (u != t) AT(around->near, count++) = (int32_t)u;
        }
    }
    return count;
}

static bool labels_are_right(const Labels *labels) {
    const int64_t m = labels->attributes, n = labels->tuples, words = labels->words;
    return m > 0 && m <= MOST_ATTRIBUTES && n > 0 && n < INT32_MAX && labels->k > 0
        && words == (n + 63) / 64 && labels->levels > 0 && labels->cost_from.length == m
        && labels->codes_of.length == m && labels->lowest.length == m
        && labels->limit.length == m && labels->set_of.length == labels->cost.length
        && labels->level_of_bit.length == m * 65 && labels->path.length == n * m
        && labels->codes.length == n * m && labels->weights.length == n
        && labels->sets.length % words == 0;
}

#endif
