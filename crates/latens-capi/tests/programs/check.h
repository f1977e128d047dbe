/* What the tests in C share. */
#ifndef CHECK_H
#define CHECK_H

#include <latens.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program where a condition does not hold, NDEBUG or not. */
#define CHECK(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                       \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

/* A call that goes well, and leaves an error that says so. */
#define OK(call)                                                                                  \
    do {                                                                                          \
        memset(&error, 0xa5, sizeof error);                                                       \
        lt_status status_ = (call);                                                               \
        if (status_ != LT_STATUS_OK) {                                                            \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, error.message);         \
            exit(1);                                                                              \
        }                                                                                         \
        CHECK(error.status == LT_STATUS_OK && error.message[0] == 0);                             \
        CHECK(error.offset == LT_NONE && error.values_before == LT_NONE);                         \
        CHECK(error.values_right == LT_NONE);                                                     \
    } while (0)

/* A call that fails in this way, with and without a place for the error. */
#define FAILS(expected, call)                                                                     \
    do {                                                                                          \
        memset(&error, 0xa5, sizeof error);                                                       \
        lt_status status_ = (call);                                                               \
        if (status_ != (expected)) {                                                              \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                         \
                    lt_status_name(status_));                                                     \
            exit(1);                                                                              \
        }                                                                                         \
        CHECK(error.status == status_ && strlen(error.message) > 5);                              \
        CHECK(memchr(error.message, 0, LT_MESSAGE_SIZE) != NULL);                                 \
    } while (0)

/* Memory of exactly so many bytes, so that AddressSanitizer sees what goes beyond. */
static inline void *exactly(size_t bytes) {
    void *memory = malloc(bytes);
    CHECK(memory != NULL || bytes == 0);
    return memory;
}

/* A copy of the first bytes of something, in memory of exactly that size. */
static inline void *copy_of(const void *from, size_t bytes) {
    void *memory = exactly(bytes);
    if (bytes > 0) memcpy(memory, from, bytes);
    return memory;
}

/* Fills memory with numbers of a type: small steps, with some jumps. */
void numbers_of(uint32_t type, void *to, size_t n);

void test_pco(void);
void test_wrapped(void);
void test_dbp(void);
void test_wcodec(const char *path);
void test_base(const char *path);
void test_requests(void);
void test_threads(const char *path);
void test_watch(const char *path);

#endif
