/* Depth-first exploration of a box and the boxes inside it.
 *
 * A box is tightened (bounds.h). What is left of it is split in two: one attribute stays at its
 * level of `hi`, or is lower. The open boxes are a stack. Threads share only the best cost, so they
 * never wait for each other. explorer.py is the Python side.
 *
 * The parts are included in reading order; the compiler sees them as one. All but the exported
 * functions at the end is static.
 */
#include "state.h"

#include "counting.h"
#include "persons.h"
#include "splitting.h"
#include "sensitive.h"
#include "bounds.h"
#include "class_loss.h"
#include "branching.h"

#ifndef SHOAL_SOURCES
#define SHOAL_SOURCES ""
#endif
#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

/* What exploring returns beside a depth: no box is left open, or the memory is refused. */
enum { NONE_OPEN = -1, REFUSED = -2 };

/* An exploration pauses when it has so many candidates or notes. */
enum { CANDIDATES = 64, NOTES = 4096 };

/* Work before a box is handed to an idle thread, in passes over the table: setting up a box costs
 * almost as much. */
#define LEAST_PASSES 64

/* The most candidates and notes of one box beyond those at which an exploration pauses: `hi` falls
 * at most as often as there are levels, and each level is closed once. */
static int64_t most_falls(const State *state) {
    return state->depths - 2 - state->attributes;
}

/* Whether every array has the length that the code relies on. */
static bool sizes_are_right(const State *state) {
    const int64_t m = state->attributes, levels = state->levels, widest = state->widest;
    const int64_t tuples = state->tuples, rows = state->rows, depths = state->depths;
    const int64_t classes = state->classes, demands = state->demands;
    const int64_t cells = state->number.length, persons = state->assigned.length;
    const bool numbers = m > 0 && levels > 0 && widest > 0 && tuples > 0 && rows >= tuples
        && depths >= m + 2 && classes > 0 && demands >= 0 && state->k > 0 && state->limit >= 0
        && state->k <= INT32_MAX && tuples < INT32_MAX && cells >= 2 * widest;
    const bool problem = state->bottom.length == m && state->group.length == m * levels * widest
        && state->groups.length == m * levels && state->member.length == m * levels * widest
        && state->base.length == m * levels && state->charge.length == m * levels * widest
        && state->priority.length == m && state->least_values.length == demands;
    const bool stacks = state->codes.length == m * rows && state->weights.length == rows
        && state->masks.length == demands * rows
        && state->class_of.length >= tuples * (depths - 1) && state->sample.length % m == 0
        && state->sample.length >= classes * depths * m;
    const bool work_space = state->counts.length >= cells && state->counts.length > tuples
        && state->held.length == demands * cells && state->origin.length == classes + 2
        && state->chosen.length == tuples + 1 && state->order.length == tuples
        && state->begins.length == classes + 3 && state->touched.length == 2 * widest
        && state->keys.length == tuples && state->kept_keys.length == tuples
        && state->slots.length >= 4 * tuples + 8 && state->multiplier.length == m
        && state->fixed.length == classes + 1 && state->lost.length == levels * widest
        && state->low.length == m && state->high.length == m && state->falls.length == m
        && state->score.length == m && state->least.length == m;
    const bool boxes = state->frames.length == depths && state->lo.length == depths * m
        && state->hi.length == depths * m && state->distinct_from.length == depths * m
        && state->fresh.length == depths * m && state->owed.length == depths * m
        && state->paid.length == depths * m * levels && state->extra.length == depths * m * levels
        && state->due.length == depths * m * levels && state->dropped.length == depths * m * levels;
    const int64_t found = CANDIDATES + most_falls(state) + 1;
    const int64_t noted = state->log ? NOTES + 3 * (most_falls(state) + m) + 3 : 0;
    const bool output = state->done.length == DONE_LENGTH && state->best.length == 2
        && state->costs.length >= found && state->removed.length >= found
        && state->nodes.length >= found * m && state->notes.length >= noted * (1 + 2 * m)
        && state->shared.length == SHARED_LENGTH;
    const bool counted = persons == 0
        || (persons == rows && state->head.length == rows && state->tail.length == rows
            && state->persons_from.length == tuples + 1 && state->next_of.length == tuples
            && state->link.length == tuples && state->persons.length == state->counts.length
            && state->first_of.length == state->counts.length && state->mark.length == 1
            && state->undecided.length == levels && state->settled.length == 2);
    return numbers && problem && stacks && work_space && boxes && output && counted
        && values_are_right(state) && class_loss_is_right(state);
}

/* Whether the levels of the first box are levels. */
static bool levels_are_right(const State *state) {
    const Int64s lo = lo_of(state, 0), hi = hi_of(state, 0);
    for (int64_t j = 0; j < state->attributes; j++) {
        if (AT(lo, j) < AT(state->bottom, j) || AT(lo, j) > AT(hi, j)) return false;
        if (AT(state->bottom, j) < 0 || AT(hi, j) >= state->levels) return false;
    }
    return true;
}

/* Set up the only box on the stack, of which only the levels are set; whether it is not empty.
 *
 * All tuples start as one class, as if `hi` were above all levels. Then `hi` is lowered in every
 * attribute that separates tuples, in one at least, so that the classes are counted. */
static bool begin(State *state, int64_t depth) {
    Frame *frame = frame_at(state, depth);
    const Int64s lo = lo_of(state, depth), hi = hi_of(state, depth);
    const int64_t tuples = state->tuples, m = state->attributes;
    int64_t falls = 0;
    frame->first = frame->at_class = frame->at_sample = frame->removed = 0;
    frame->tuples = frame->end = frame->end_class = tuples;
    frame->classes = 1;
    frame->end_sample = 2;
    frame->owes = frame->failing = 0;
    frame->status = NEW;
    for (int64_t t = 0; t < tuples; t++) AT(state->class_of, t) = 1;
    for (int64_t j = 0; j < m; j++) {
        AT(state->sample, m + j) = AT(state->codes, j * state->rows);
        AT(state->distinct_from, depth * m + j) = AT(state->bottom, j);
        AT(state->owed, depth * m + j) = 0.0;
        for (int64_t level = AT(lo, j); level <= AT(hi, j); level++) {
            AT(BY_LEVEL(state, paid, depth, j), level) = 0.0;
            AT(BY_LEVEL(state, extra, depth, j), level) = 0.0;
            AT(BY_LEVEL(state, due, depth, j), level) = 0.0;
            AT(BY_LEVEL(state, dropped, depth, j), level) = 0;
        }
        AT(state->high, j) = AT(hi, j);
        AT(hi, j) += groups_at(state, j, AT(hi, j)) > 1;
        falls += AT(hi, j) - AT(state->high, j);
    }
    AT(hi, 0) += falls == 0;
    return lower(state, depth);
}

/* Whether to pause: a stop signal, full output, enough work, or an idle thread without a box.
 *
 * At least one box is explored, whatever it cost to set up: so the search always advances. */
static bool pauses(const State *state, int64_t depth, int64_t work) {
    const Int64s done = state->done;
    if (shared_now(state, STOP) != 0.0 || AT(done, FOUND) >= CANDIDATES) return true;
    if (state->log && AT(done, NOTED) >= NOTES) return true;
    if (AT(done, OPENED) == 0) return false;
    if (shared_now(state, IDLE) > 0.0 && AT(done, WORK) >= LEAST_PASSES * state->tuples) {
        for (int64_t above = 0; above < depth; above++) {
            if (frame_at(state, above)->status == SECOND_CHILD) return true;
        }
    }
    return AT(done, WORK) >= work;
}

/* Start a child with all that is known of its parent. */
static void inherit(State *state, int64_t depth) {
    const Frame *parent = frame_at(state, depth);
    Frame *child = frame_at(state, depth + 1);
    const double bounds[] = {child->bound, child->bound_at, child->bound_below};
    const int64_t attribute = child->attribute, below_first = child->below_first;
    *child = *parent;
    child->status = NEW;
    child->attribute = attribute, child->below_first = below_first;
    child->bound = bounds[0], child->bound_at = bounds[1], child->bound_below = bounds[2];
    for (int64_t j = 0; j < state->attributes; j++) {
        const int64_t from = depth * state->attributes + j, to = from + state->attributes;
        AT(state->lo, to) = AT(state->lo, from);
        AT(state->hi, to) = AT(state->hi, from);
        AT(state->distinct_from, to) = AT(state->distinct_from, from);
        AT(state->fresh, to) = AT(state->fresh, from);
        AT(state->owed, to) = AT(state->owed, from);
        for (int64_t level = AT(state->lo, from); level <= AT(state->hi, from); level++) {
            const int64_t was = from * state->levels + level, is = to * state->levels + level;
            AT(state->paid, is) = AT(state->paid, was);
            AT(state->extra, is) = AT(state->extra, was);
            AT(state->due, is) = AT(state->due, was);
            AT(state->dropped, is) = AT(state->dropped, was);
        }
    }
}

/* Open a child: at `hi` or below it in the attribute branched on; whether it is not empty. At `hi`
 * the classes stay the same, so nothing is counted again. */
static bool descend(State *state, int64_t depth, bool below) {
    const Frame *frame = frame_at(state, depth);
    Frame *child = frame_at(state, depth + 1);
    const int64_t j = frame->attribute;
    inherit(state, depth);
    if (!below) {
        child->bound = frame->bound_at;
        AT(lo_of(state, depth + 1), j) = AT(hi_of(state, depth + 1), j);
        return true;
    }
    child->bound = frame->bound_below;
    for (int64_t i = 0; i < state->attributes; i++) {
        AT(state->high, i) = AT(hi_of(state, depth), i) - (i == j);
    }
    return lower(state, depth + 1);
}

/* Make candidates on a path down from the top, which closes no box. */
static void dive(State *state, int64_t depth) {
    const int64_t log = state->log;
    state->log = false;
    if (state->class_loss != NULL) {
        dive_by_cells(state, depth);
    } else {
        dive_by_attributes(state, depth);
    }
    state->log = log;
}

/* Make candidates of a node and those one level below it. */
static void neighbours(State *state, int64_t depth) {
    if (state->class_loss != NULL) {
        neighbours_by_cells(state, depth);
    } else {
        neighbours_by_attributes(state, depth);
    }
}

/* Tighten a box and choose the attribute to branch on; whether the box is closed. */
static bool open_box(State *state, int64_t depth) {
    const bool by_cells = state->class_loss != NULL;
    if (by_cells ? tighten_by_cells(state, depth) : tighten(state, depth)) return true;
    if (state->values == NULL) compress(state, depth);
    if (by_cells) {
        branch_by_cells(state, depth);
    } else {
        branch_by_attributes(state, depth);
    }
    return false;
}

/* Explore the boxes on the stack, deepest first, until `work` is spent.
 *
 * Returns the depth at which it ended, NONE_OPEN when no box is left open, or REFUSED. */
EXPORTED int64_t shoal_explore(State *state, int64_t depth, int64_t work) {
    if (!sizes_are_right(state) || depth >= state->depths) return REFUSED;
    AT(state->done, WORK) = 0;
    while (depth >= 0) {
        Frame *frame = frame_at(state, depth);
        if (frame->status <= UNPREPARED) {
            const int64_t request = frame->status;
            if (depth != 0 || !levels_are_right(state)) return REFUSED;
            if (!begin(state, depth)) return NONE_OPEN;
            if (request == DIVE) dive(state, depth);
            if (request == NEIGHBOURS) neighbours(state, depth);
            if (request != UNPREPARED) return NONE_OPEN;
        }
        if (frame->status == NEW) {
            if (pauses(state, depth, work)) break;
            AT(state->done, OPENED) += 1;
            if (open_box(state, depth)) {
                depth--;
                continue;
            }
        }
        if (frame->status == DONE) {
            depth--;
            continue;
        }
        const bool below = (frame->below_first == 1) == (frame->status == FIRST_CHILD);
        frame->status += 1;
        if (descend(state, depth, below)) depth++;
    }
    return depth;
}

/* A checksum of the sources that this library was built from. */
EXPORTED const char *shoal_sources(void) { return SHOAL_SOURCES; }

/* The size of a State here, which must be that in Python. */
EXPORTED int64_t shoal_state_size(void) { return (int64_t)sizeof(State); }
