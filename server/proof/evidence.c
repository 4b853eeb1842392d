// See evidence.h.
#include "server/proof/evidence.h"

#include <stdlib.h>

#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/ledger/ledger.h"
#include "server/storage/blob.h"
#include "sql/bundle.h"

enum { BOOK_MAX = 256 << 20 };

void evidence_release(Evidence *evidence) {
    json_decref(evidence->manifest);
    json_decref(evidence->batches);
    free(evidence->owned);
    *evidence = (Evidence){0};
}

static bool games_on_disk(const Evidence *evidence, const char *sha256, Str *text, Error *err) {
    size_t size;
    char *packed scope(free_ptr) = blob_get(evidence->source, sha256, GAMES_MAX, &size, err);
    return packed && zstd_decompress(packed, size, text, err);
}

// All queries see the database at one moment, whatever a running server writes meanwhile.
static bool read_rows(Db *db, int64_t test, double now, Evidence *out, Error *err) {
    json_t *row = sql_bundle_test(db, test);
    if (!row)
        return error_set(err, 404, "no_such_test", "there is no test %lld", (long long)test);
    out->manifest = json_pack(
        "{s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "format", EVIDENCE_FORMAT, "made",
        now, "test", row, "sides", sql_bundle_sides(db, test), "machines",
        sql_bundle_machines(db, test), "keys", sql_bundle_keys(db, test), "owners",
        sql_bundle_owners(db, test), "exclusions", sql_bundle_exclusions(db, test), "reopenings",
        sql_bundle_reopenings(db, test), "events", sql_bundle_events(db, test));
    out->batches = sql_bundle_batches(db, test);
    return (!db_failed(db) && out->manifest && out->batches) ||
           error_set(err, 500, "database", "the database cannot be read");
}

bool evidence_collect(Db *reader, const char *data, int64_t test, double now, Evidence *out,
                      Error *err) {
    *out = (Evidence){.games = games_on_disk, .source = data};
    if (!db_begin(reader, err))
        return false;
    bool good = read_rows(reader, test, now, out, err);
    db_rollback(reader);
    if (!good)
        return false;
    const char *book = member_text(json_object_get(out->manifest, "test"), "book");
    out->owned = blob_get(data, book, BOOK_MAX, &out->book_size, err);
    out->book = out->owned;
    return out->owned != NULL;
}
