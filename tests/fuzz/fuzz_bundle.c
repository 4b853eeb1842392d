// Any bytes as a bundle, which strangers send each other. After 't' they are the file: its reader
// accounts for every byte. After 'e' they are what the file would hold, divided by NULs (manifest,
// batches, book, and the games of every batch, unpacked): the sums of a file would stop most of
// what a fuzzer invents, and the checks behind them must stand anything.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rules/position.h"
#include "server/proof/bundle.h"
#include "server/proof/evidence_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Part {
    const char *text;
    size_t size;
} Part;

static FILE *nowhere;

static bool games_given(const Evidence *evidence, const char *sha256, Str *text, Error *err) {
    const Part *games = evidence->source;
    (void)sha256;
    str_add(text, games->text, games->size);
    return games->size > 0 || error_set(err, 404, "no_such_blob", "there are none");
}

static void check(const Evidence *evidence) {
    if (evidence_check(evidence, nowhere) < 0)
        abort();
}

static void take_file(const char *bytes, size_t size) {
    Evidence evidence scope(evidence_release) = {0};
    Bundle *bundle scope(bundle_free) = NULL;
    Error err = {0};
    if (bundle_read(bytes, size, &evidence, &bundle, &err))
        check(&evidence);
    else if (!*err.message)
        abort();
}

static void take_parts(const char *bytes, size_t size) {
    Part parts[4] = {{"", 0}, {"", 0}, {"", 0}, {"", 0}};
    for (int i = 0; i < 4 && size; i++) {
        const char *end = i < 3 ? memchr(bytes, 0, size) : NULL;
        parts[i] = (Part){bytes, end ? (size_t)(end - bytes) : size};
        size -= end ? parts[i].size + 1 : parts[i].size;
        bytes += parts[i].size + (end != NULL);
    }
    Evidence evidence scope(evidence_release) = {
        .manifest = json_loadb(parts[0].text, parts[0].size, JSON_REJECT_DUPLICATES, NULL),
        .batches = json_loadb(parts[1].text, parts[1].size, JSON_REJECT_DUPLICATES, NULL),
        .book = parts[2].text,
        .book_size = parts[2].size,
        .games = games_given,
        .source = &parts[3]};
    if (json_is_object(evidence.manifest) && json_is_array(evidence.batches))
        check(&evidence);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!nowhere) {
        rules_init();
        if (!(nowhere = fopen("/dev/null", "w")))
            abort();
    }
    if (!size)
        return 0;
    if (*data == 't')
        take_file((const char *)data + 1, size - 1);
    else if (*data == 'e')
        take_parts((const char *)data + 1, size - 1);
    return 0;
}
