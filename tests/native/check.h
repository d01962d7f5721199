/* Checks for the C core's tests: the first that fails names itself and ends the program. */
#ifndef SH_CHECK_H
#define SH_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define CHECK_EQ(actual, expected)                                                                 \
    do {                                                                                           \
        const long long actual_ = (long long)(actual), expected_ = (long long)(expected);          \
        if (actual_ != expected_) {                                                                \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #actual, actual_, \
                    expected_);                                                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define CHECK_TEXT(actual, expected)                                                               \
    do {                                                                                           \
        if (strcmp(actual, expected) != 0) {                                                       \
            fprintf(stderr, "%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #actual,      \
                    actual, expected);                                                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Names the test first, so that a sanitizer's report stands below it. */
#define RUN(test)                                                                                  \
    do {                                                                                           \
        fprintf(stderr, "%s\n", #test);                                                            \
        test();                                                                                    \
    } while (0)

#endif
