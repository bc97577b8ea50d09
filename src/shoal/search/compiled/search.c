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
#include "small.h"
#include "merging.h"
#include "release.h"
#include "sensitive.h"
#include "bounds.h"
#include "together.h"
#include "class_loss.h"
#include "branching.h"
#include "sizes.h"

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

/* Work before a box is handed to an idle thread, in passes over the table: setting up a box costs
 * almost as much. */
#define LEAST_PASSES 64

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
    frame->few = -1;
    frame->end_sample = 2;
    frame->owes = frame->failing = 0;
    frame->serial = AT(state->partitions, 0) += 1;
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
    *child = *parent;
    child->status = NEW;
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

/* The same for the structures that a State points to. */
EXPORTED int64_t shoal_values_size(void) { return (int64_t)sizeof(Values); }
EXPORTED int64_t shoal_release_size(void) { return (int64_t)sizeof(Release); }
EXPORTED int64_t shoal_class_loss_size(void) { return (int64_t)sizeof(ClassLoss); }

/* The records removed of a class of `size` records whose values are in the first row of the tally:
 * for tests, which compare it with what the models say. */
EXPORTED int64_t shoal_removal(Values *values, int64_t k, int64_t size) {
    return removal(values, k, 0, size);
}
