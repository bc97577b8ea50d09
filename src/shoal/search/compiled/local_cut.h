/* First groups in one pass: an order of the tuples is cut into runs, each as long as it takes until
 * it is safe. The numbers of the runs, from 1, are written into `group_of`; 0 is suppressed. */
#ifndef SHOAL_LOCAL_CUT_H
#define SHOAL_LOCAL_CUT_H

#include "local.h"
#include "local_safe.h"

/* The run that is being cut: its label, where it begins in the order, and its records or persons. */
typedef struct {
    Label label;
    int64_t first, size;
} Run;

static void begin_run(Local *local, int64_t at, Run *run) {
    label_of_tuple(local, AT(local->order, at), &run->label);
    run->first = at;
    run->size = 0;
    begin_tally(local);
}

/* Take a tuple into a run; false if they may not have one label. */
static bool extend_run(Local *local, int64_t t, Run *run) {
    if (widened(local, &run->label, t, FORBIDDEN) >= FORBIDDEN) return false;
    widen(local, &run->label, t);
    run->size += tally_tuple(local, t);
    return true;
}

/* Take the run before, with this number, into a run; false if there is none that may have one label
 * with it. */
static bool join_run_before(Local *local, int64_t number, Run *run) {
    bool joined = false;
    while (number > 0 && run->first > 0) {
        const int64_t t = AT(local->order, run->first - 1);
        if (AT(local->group_of, t) != number) break;
        if (!extend_run(local, t, run)) return false;
        run->first -= 1;
        joined = true;
    }
    return joined;
}

/* End a run that is not safe before `end`: join the runs before it until it is, or else suppress it.
 * The number of the last run. */
static int64_t close_run(Local *local, int64_t end, int64_t number, Run *run) {
    bool joined = true;
    while (joined && !tally_is_safe(local, run->size)) {
        joined = join_run_before(local, number, run);
        if (joined) number--;
    }
    if (joined) number++;
    for (int64_t at = run->first; at < end; at++) {
        AT(local->group_of, AT(local->order, at)) = joined ? (int32_t)number : 0;
    }
    return number;
}

/* Cut the first `ordered` tuples into runs. */
static void cut_order(Local *local, int64_t ordered) {
    int64_t number = 0;
    Run run;
    bool is_open = false;
    for (int64_t at = 0; at < ordered; at++) {
        const int64_t t = AT(local->order, at);
        if (!is_open) begin_run(local, at, &run);
        if (!extend_run(local, t, &run)) {
            number = close_run(local, at, number, &run);
            begin_run(local, at, &run);
            extend_run(local, t, &run);
        }
        is_open = !tally_is_safe(local, run.size);
        AT(local->group_of, t) = (int32_t)(number + 1);
        if (!is_open) number++;
    }
    if (is_open) close_run(local, ordered, number, &run);
}

#endif
