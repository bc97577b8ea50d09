/* The box search. */

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED
#endif

EXPORTED const char *shoal_sources(void)
{
    return SHOAL_SOURCES;
}
