/* How many records of a class are removed at least, for every model of sensitive values.
 *
 * The same numbers as `least_removal` of the models (privacy/), for one class whose values are
 * tallied. Sums have another order here, so the tolerances are a little larger than those of the
 * models: a number is never above theirs. Up to the tolerance it is 0 exactly where the class may
 * be released.
 */
#ifndef SHOAL_REMOVAL_H
#define SHOAL_REMOVAL_H

#include "state.h"

/* Kinds of demands: distinct values, entropy, recursive diversity, limits of shares, and closeness
 * by one of three distances. */
enum { DIFFERENT, ENTROPY, RECURSIVE, SHARES, EQUAL, ORDERED, HIERARCHICAL };

/* Sums of distances and shares, and products of counts, are trusted up to these. */
#define TOLERANCE 2e-9
#define ROUNDING 1e-12

/* The sensitive values of the tuples, the demands on them, and work space for one thread.
 *
 * Tuple `t` has `counted[i]` records with value `value[i]`, for `i` from `starts[t]` to below
 * `starts[t + 1]`. The values of all attributes have consecutive numbers, `values` in all; those of
 * demand `d` begin at `first[d]` and end before `last[d]`, at most `widest`.
 *
 * A demand has a `kind`, a least number of `different` values, a parameter `number`, and limits of
 * the share of each value, `most[d, v]` and `least[d, v]`; distances have the shares of the table
 * in `most`. The hierarchy of the values has `heights[d]` levels, in `ancestor[d, height, v]`:
 * `highest` rows for each demand, with numbers below `nodes`. `logarithms[n]` is `n * log(n)`.
 *
 * `tally` has a row of all values for every group of any attribute, twice, and `sizes` how many
 * records each has; `touched` lists groups. `order` are the tuples by class, those of class `c`
 * from `begins[c]` on; `arranged[0]` is the serial number of the partition that they are those of.
 * `ranked`, `net`, `over` and `under` are for `removal`. `failed[j]` is what the
 * records of all classes that owe anything cost `j` at `hi`. */
struct Values {
    int64_t demands, values, widest, highest, nodes;
    Int64s starts;
    Int32s value, counted;
    Int64s kind;
    Doubles number;
    Int64s different, first, last;
    Doubles most, least;
    Int64s ancestor, heights;
    Doubles logarithms;
    Int32s tally, sizes;
    Int64s touched;
    UInt32s order;
    Int64s begins, arranged, ranked;
    Doubles net, over, under, failed;
};

/* `n * log(n)`, from a table for small numbers. */
static inline double times_logarithm(const Values *values, int64_t number) {
    if (number < values->logarithms.length) return AT(values->logarithms, number);
    return (double)number * log((double)number);
}

/* The entropy of a class whose counts are cut down to a cap. */
static double entropy_under(const Values *values, Int32s counts, int64_t cap) {
    int64_t left = 0;
    double weight = 0.0;
    for (int64_t v = 0; v < counts.length; v++) {
        const int64_t cut = smaller(AT(counts, v), cap);
        left += cut;
        weight += times_logarithm(values, cut);
    }
    return log((double)left) - weight / (double)left;
}

/* Cut the most frequent values down to a common level, as little as the entropy needs. */
static int64_t kept_by_entropy(const Values *values, Int32s counts, int64_t records,
                               double demand) {
    if (entropy_under(values, counts, records) >= demand) return records;
    int64_t low = 1, high = 0;
    for (int64_t v = 0; v < counts.length; v++) high = larger(high, AT(counts, v));
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (entropy_under(values, counts, middle) >= demand) {
            low = middle;
        } else {
            high = middle;
        }
    }
    /* Between the caps `low` and `low + 1`: take one record from `many` of the largest counts. */
    int64_t left = 0, above = 0;
    double weight = 0.0;
    for (int64_t v = 0; v < counts.length; v++) {
        const int64_t count = AT(counts, v), cut = smaller(count, low + 1);
        left += cut;
        weight += times_logarithm(values, cut);
        above += count > low;
    }
    const double step = times_logarithm(values, low + 1) - times_logarithm(values, low);
    int64_t few = 0, many = above;
    while (many - few > 1) {
        const int64_t middle = (few + many) / 2, rest = larger(left - middle, 1);
        const double entropy =
            log((double)rest) - (weight - (double)middle * step) / (double)rest;
        if (entropy >= demand) {
            many = middle;
        } else {
            few = middle;
        }
    }
    return left - many;
}

/* Whether recursive diversity holds for the counts cut down to a cap: top < c * tail. */
static bool is_recursive(const Values *values, int64_t found, int64_t cap, double c,
                         int64_t rank) {
    int64_t tail = 0;
    for (int64_t i = rank - 1; i < found; i++) tail += smaller(AT(values->ranked, i), cap);
    return (double)smaller(AT(values->ranked, 0), cap) < c * (double)tail - ROUNDING;
}

/* Cut the counts down to the highest level at which recursive diversity holds; -1 if at none. */
static int64_t kept_by_recursion(Values *values, Int32s counts, int64_t records, double c,
                                 int64_t rank) {
    const Int64s ranked = values->ranked;
    int64_t found = 0;
    for (int64_t v = 0; v < counts.length; v++) {
        const int64_t count = AT(counts, v);
        if (count == 0) continue;
        int64_t at = found++;
        for (; at > 0 && AT(ranked, at - 1) < count; at--) AT(ranked, at) = AT(ranked, at - 1);
        AT(ranked, at) = count;
    }
    if (is_recursive(values, found, AT(ranked, 0), c, rank)) return records;
    if (!is_recursive(values, found, 1, c, rank)) return -1;
    int64_t low = 1, high = AT(ranked, 0), kept = 0;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (is_recursive(values, found, middle, c, rank)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    for (int64_t i = 0; i < found; i++) kept += smaller(AT(ranked, i), low);
    return kept;
}

/* The largest part in which every share is within its limits, found by bisection; -1 for none. */
static int64_t kept_within_shares(const Values *values, int64_t d, Int32s counts,
                                  int64_t records) {
    const Doubles most = ROW(values->most, d, values->widest);
    const Doubles least = ROW(values->least, d, values->widest);
    bool fits = true;
    int64_t low = 0, high = records + 1;
    for (int64_t v = 0; v < counts.length; v++) {
        const double count = AT(counts, v);
        fits &= count <= AT(most, v) * (double)records + AT(values->number, d) + ROUNDING;
        if (AT(least, v) > 0.0) {
            fits &= count > AT(least, v) * (double)records;
            high = smaller(high, (int64_t)(count / AT(least, v) + TOLERANCE) + 1);
        }
    }
    if (fits) return records;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        double total = 0.0;
        for (int64_t v = 0; v < counts.length; v++) {
            total += lesser((double)AT(counts, v), AT(most, v) * (double)middle);
        }
        if (total >= (double)middle - TOLERANCE) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low > 0 ? low : -1;
}

/* What is moved between the children of the nodes at a height of the tree of values. */
static double moved_at(Values *values, int64_t d, Int32s counts, int64_t records,
                       int64_t height) {
    const Int64s child = ROW(values->ancestor, d * values->highest + height - 1, values->widest);
    const Int64s parent = ROW(values->ancestor, d * values->highest + height, values->widest);
    const Doubles shares = ROW(values->most, d, values->widest);
    const Doubles net = values->net, over = values->over, under = values->under;
    for (int64_t v = 0; v < counts.length; v++) {
        AT(net, AT(child, v)) = AT(over, AT(parent, v)) = AT(under, AT(parent, v)) = 0.0;
    }
    for (int64_t v = 0; v < counts.length; v++) {
        AT(net, AT(child, v)) += (double)AT(counts, v) / (double)records - AT(shares, v);
    }
    for (int64_t v = 0; v < counts.length; v++) {
        const double amount = AT(net, AT(child, v));
        AT(net, AT(child, v)) = 0.0;
        AT(over, AT(parent, v)) += greater(amount, 0.0);
        AT(under, AT(parent, v)) += greater(-amount, 0.0);
    }
    double moved = 0.0;
    for (int64_t v = 0; v < counts.length; v++) {
        moved += lesser(AT(over, AT(parent, v)), AT(under, AT(parent, v)));
        AT(over, AT(parent, v)) = 0.0;
    }
    return moved;
}

/* The earth mover's distance from a class to the table, as the demand measures it. */
static double distance_of(Values *values, int64_t d, Int32s counts, int64_t records) {
    const int64_t kind = AT(values->kind, d), heights = AT(values->heights, d);
    const Doubles shares = ROW(values->most, d, values->widest);
    double total = 0.0, running = 0.0;
    if (kind == HIERARCHICAL) {
        for (int64_t height = 1; height < heights; height++) {
            const double moved = moved_at(values, d, counts, records, height);
            total += moved * (double)height / (double)(heights - 1);
        }
        return total;
    }
    if (kind == ORDERED) {
        for (int64_t v = 0; v < counts.length - 1; v++) {
            running += (double)AT(counts, v) / (double)records - AT(shares, v);
            total += fabs(running);
        }
        return total / (double)larger(counts.length - 1, 1);
    }
    for (int64_t v = 0; v < counts.length; v++) {
        total += fabs((double)AT(counts, v) / (double)records - AT(shares, v));
    }
    return total / 2;
}

/* The most records of a class with these values that a demand lets stay; -1 for none. */
static int64_t kept_by(Values *values, int64_t d, Int32s counts, int64_t records) {
    const double number = AT(values->number, d);
    switch (AT(values->kind, d)) {
    case DIFFERENT:
        return records;
    case ENTROPY:
        return kept_by_entropy(values, counts, records, number);
    case RECURSIVE:
        return kept_by_recursion(values, counts, records, number, AT(values->different, d));
    case SHARES:
        return kept_within_shares(values, d, counts, records);
    default: {
        const double far = (double)records * (distance_of(values, d, counts, records) - number);
        return records - larger((int64_t)ceil(far - TOLERANCE), 0);
    }
    }
}

/* Records removed however the class of `size` records is split whose tally of values begins at
 * `at`: the most that any demand removes. */
static int64_t removal(Values *values, int64_t k, int64_t at, int64_t size) {
    if (size < k) return size;
    int64_t most = 0;
    for (int64_t d = 0; d < values->demands; d++) {
        const int64_t first = AT(values->first, d), last = AT(values->last, d);
        const Int32s counts = PART(values->tally, at + first, last - first);
        int64_t records = 0, different = 0;
        for (int64_t v = 0; v < counts.length; v++) {
            records += AT(counts, v);
            different += AT(counts, v) > 0;
        }
        if (records == 0 || different < AT(values->different, d)) return size;
        const int64_t kept = kept_by(values, d, counts, records);
        if (kept < 0) return size;
        most = larger(most, records - kept);
    }
    return most;
}

#endif
