/* Pack tuples into groups: the best ball of free tuples first.
 *
 * The ball of a tuple takes, again and again, the free candidate that widens it least, until it is
 * safe. Candidates are the neighbours of the tuples that it has taken. Its score is the cost of a
 * record less the mean reach of its records: balls that cost little more than their members must
 * pay anyway come first. */
#ifndef SHOAL_LOCAL_PACK_H
#define SHOAL_LOCAL_PACK_H

#include "local.h"
#include "local_safe.h"

typedef struct {
    Label label;
    int32_t member[BALL_MEMBERS];
    int64_t count, size;
    int32_t candidate[BALL_CANDIDATES];
    int64_t candidates;
} Ball;

static void add_candidate(Ball *ball, int32_t t) {
    if (ball->candidates == BALL_CANDIDATES) return;
    for (int64_t i = 0; i < ball->candidates; i++) {
        if (ball->candidate[i] == t) return;
    }
    ball->candidate[ball->candidates++] = t;
}

static void add_neighbours(const Local *local, Ball *ball, int64_t t) {
    for (int64_t i = 0; i < AT(local->listed, t); i++) {
        const int32_t u = AT(local->near, t * local->width + i);
        if (AT(local->group_of, u) >= 0) continue;
        bool is_member = false;
        for (int64_t n = 0; n < ball->count; n++) is_member |= ball->member[n] == u;
        if (!is_member) add_candidate(ball, u);
    }
}

/* Take the candidate that widens the ball least; whether there was one. */
static bool grow(const Local *local, Ball *ball) {
    int64_t best = FORBIDDEN, chosen = -1;
    for (int64_t i = 0; i < ball->candidates; i++) {
        const int64_t price = widened(local, &ball->label, ball->candidate[i], best + 1);
        if (price < best
            || (price == best && chosen >= 0 && ball->candidate[i] < ball->candidate[chosen])) {
            best = price;
            chosen = i;
        }
    }
    if (chosen < 0 || ball->count == BALL_MEMBERS) return false;
    const int32_t t = ball->candidate[chosen];
    ball->candidate[chosen] = ball->candidate[--ball->candidates];
    widen(local, &ball->label, t);
    ball->member[ball->count++] = t;
    ball->size += AT(local->weights, t);
    add_neighbours(local, ball, t);
    return true;
}

/* The ball of a free tuple; false if the candidates are not enough. */
static bool make_ball(Local *local, int64_t t, Ball *ball) {
    label_of_tuple(local, t, &ball->label);
    ball->member[0] = (int32_t)t;
    ball->count = 1;
    ball->size = AT(local->weights, t);
    ball->candidates = 0;
    if (ball->label.price >= FORBIDDEN) return false;
    add_neighbours(local, ball, t);
    while (!safe_together(local, ball->member, ball->count, ball->size)) {
        if (!grow(local, ball)) return false;
    }
    return true;
}

static int64_t score_of(const Local *local, const Ball *ball) {
    int64_t reach = 0;
    for (int64_t i = 0; i < ball->count; i++) {
        reach += AT(local->weights, ball->member[i]) * AT(local->reach, ball->member[i]);
    }
    return ball->label.price - reach / ball->size;
}

/* The heap of balls, the least score first; ties go to the smaller number. */
static inline bool before(const Local *local, int32_t t, int32_t u) {
    const int64_t a = AT(local->score, t), b = AT(local->score, u);
    return a < b || (a == b && t < u);
}
static void sift_down(Local *local, int64_t at) {
    const int64_t end = AT(local->numbers, HEAPED);
    const int32_t t = AT(local->heap, at);
    for (int64_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
        if (child + 1 < end && before(local, AT(local->heap, child + 1), AT(local->heap, child))) {
            child++;
        }
        if (!before(local, AT(local->heap, child), t)) break;
        AT(local->heap, at) = AT(local->heap, child);
        at = child;
    }
    AT(local->heap, at) = t;
}
static void pop_heap(Local *local) {
    const int64_t last = AT(local->numbers, HEAPED) -= 1;
    if (last > 0) {
        AT(local->heap, 0) = AT(local->heap, last);
        sift_down(local, 0);
    }
}

/* Make a group of tuples that are free. */
static int64_t make_group(Local *local, const Label *label, const int32_t *members,
                          int64_t count) {
    const int64_t g = take_group(local);
    for (int64_t i = 0; i < count; i++) link_tuple(local, members[i], g);
    Label own = *label;
    own.member = AT(local->head, g);
    set_label(local, g, &own);
    AT(local->changed, g) = AT(local->numbers, CLOCK) += 1;
    AT(local->numbers, TOTAL) += cost_of_group(local, g);
    return g;
}

/* Score the balls of the ordered tuples from `first` to below `last`. */
static void score_balls(Local *local, int64_t first, int64_t last) {
    Ball ball;
    for (int64_t at = first; at < last; at++) {
        const int64_t t = AT(local->order, at);
        AT(local->score, t) = make_ball(local, t, &ball) ? score_of(local, &ball) : INT64_MAX;
    }
}

/* A heap of the ordered tuples with a ball. */
static void heap_balls(Local *local, int64_t ordered) {
    int64_t heaped = 0;
    for (int64_t at = 0; at < ordered; at++) {
        if (AT(local->score, AT(local->order, at)) < INT64_MAX) {
            AT(local->heap, heaped++) = AT(local->order, at);
        }
    }
    AT(local->numbers, HEAPED) = heaped;
    for (int64_t at = heaped / 2; at-- > 0;) sift_down(local, at);
}

/* Claim the best balls, looking at no more than `most`; the groups made. */
static int64_t claim_balls(Local *local, int64_t most) {
    Ball ball;
    int64_t made = 0;
    for (int64_t i = 0; i < most && AT(local->numbers, HEAPED) > 0; i++) {
        const int32_t t = AT(local->heap, 0);
        if (AT(local->group_of, t) >= 0 || !make_ball(local, t, &ball)) {
            pop_heap(local);
            continue;
        }
        const int64_t score = score_of(local, &ball);
        if (score > AT(local->score, t)) {
            AT(local->score, t) = score;
            sift_down(local, 0);
            continue;
        }
        pop_heap(local);
        make_group(local, &ball.label, ball.member, ball.count);
        made++;
    }
    return made;
}

#endif
