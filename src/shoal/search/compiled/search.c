/* The compiled box search, one translation unit: see __init__.py for the order of reading. */
#include "state.h"

#ifndef SHOAL_SOURCES
#define SHOAL_SOURCES ""
#endif
#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

/* A checksum of the sources that this library was built from. */
EXPORTED const char *shoal_sources(void) { return SHOAL_SOURCES; }

/* The size of a State here, which must be that in Python. */
EXPORTED int64_t shoal_state_size(void) { return (int64_t)sizeof(State); }

EXPORTED int64_t shoal_explore(State *state, int64_t depth, int64_t work) {
    (void)work;
    AT(state->done, WORK) = 0;
    return depth >= 0 ? depth - 1 : -1;
}
