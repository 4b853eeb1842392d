// What the tests of libsprt share: vectors of two files, this repository's own
// (tests/data/sprt/vectors.json) and the larger set in the shared data, which may be absent.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A section of this repository's vectors; `file` owns it.
static inline json_t *own_vectors(const char *section, json_t **file) {
    *file = json_load_file("tests/data/sprt/vectors.json", 0, NULL);
    assert_non_null(*file);
    json_t *list = json_object_get(*file, section);
    assert_true(json_array_size(list) > 0);
    return list;
}

// A section of the shared vectors; skips the test, by name, where they are not at hand.
static inline json_t *shared_vectors(const char *section, json_t **file) {
    const char *folder = getenv("PATCHMATE_SHARED");
    char path[4096];
    snprintf(path, sizeof path, "%s/data/vectors/sprt.json", folder ? folder : "../shared");
    *file = json_load_file(path, JSON_DECODE_INT_AS_REAL, NULL);
    if (!*file)
        skip();
    json_t *list = json_object_get(*file, section);
    assert_non_null(list);
    return list;
}

// A number, or one of the strings "inf", "-inf", "nan".
static inline double value_of(const json_t *value) {
    return json_is_string(value) ? strtod(json_string_value(value), NULL)
                                 : json_number_value(value);
}

static inline double member(const json_t *object, const char *name) {
    json_t *value = json_object_get(object, name);
    assert_non_null(value);
    return value_of(value);
}

static inline int counts_of(const json_t *list, double *out) {
    int n = (int)json_array_size(list);
    for (int i = 0; i < n; i++)
        out[i] = json_number_value(json_array_get(list, (size_t)i));
    return n;
}

static inline int member_counts(const json_t *object, const char *name, double *out) {
    return counts_of(json_object_get(object, name), out);
}

static inline int is_normalized(const json_t *object, const char *name) {
    const char *model = json_string_value(json_object_get(object, name));
    assert_non_null(model);
    return strcmp(model, "normalized") == 0;
}

#define assert_near(found, known, tolerance)                                                       \
    near_or_fail(found, known, tolerance, #found, __FILE__, __LINE__)

static inline void near_or_fail(double found, double known, double tolerance, const char *what,
                                const char *file, int line) {
    int same = (isnan(found) && isnan(known)) || found == known;
    if (same || fabs(found - known) <= tolerance)
        return;
    print_error("%s is %.17g, should be %.17g within %g\n", what, found, known, tolerance);
    _fail(file, line);
}

// Within `tolerance`, absolute up to 1 and relative beyond.
#define assert_close(found, known, tolerance)                                                      \
    assert_near(found, known, (tolerance)*fmax(1, fabs(known)))
