// Writes bundles. See bundle.h.
#include <stdlib.h>
#include <string.h>

#include "server/common/batch_signature.h"
#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/ledger/ledger.h"
#include "server/proof/bundle.h"
#include "server/proof/tar_file.h"
#include "server/storage/blob.h"

static const char *games_name(const char *sha256, char out[TAR_NAME_MAX]) {
    snprintf(out, TAR_NAME_MAX, "games/%s.jsonl.zst", sha256);
    return out;
}

static bool write_member(FILE *out, const char *name, const char *data, size_t size, Error *err) {
    static const char zeros[TAR_BLOCK] = {0};
    char header[TAR_BLOCK];
    if (!tar_header(name, size, header))
        return error_set(err, 500, "", "%s cannot be a member of a bundle", name);
    size_t padding = tar_padding(size);
    return (fwrite(header, 1, TAR_BLOCK, out) == TAR_BLOCK && fwrite(data, 1, size, out) == size &&
            fwrite(zeros, 1, padding, out) == padding) ||
           error_errno(err, "cannot write the bundle");
}

static void add_sum(Str *sums, const char *name, const char *data, size_t size) {
    char sha[SHA256_HEX_MAX];
    str_printf(sums, "%s  %s\n", sha256_hex(data, size, sha), name);
}

// The games of a batch that are in the bundle; NULL: it has none, or they are gone.
static const char *games_there(const json_t *batch, const char *data) {
    const char *sha = json_string_value(json_object_get(batch, "games"));
    if (!sha || !sha256_is_hex(sha))
        return NULL;
    char *path scope(free_ptr) = blob_path(data, sha);
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    return file ? sha : NULL;
}

// The games are named by their hashes, so the list is complete before the first of them is read.
static bool list_games(const Evidence *evidence, const char *data, Str *sums,
                       BundleWritten *written, Error *err) {
    const json_t *test = json_object_get(evidence->manifest, "test"), *batch;
    bool dropped = json_is_number(json_object_get(test, "games_dropped"));
    char name[TAR_NAME_MAX];
    size_t i;
    json_array_foreach (evidence->batches, i, batch) {
        const char *sha = games_there(batch, data);
        if (sha)
            str_printf(sums, "%s  %s\n", sha, games_name(sha, name));
        else if (!json_is_null(json_object_get(batch, "games")) && !dropped)
            return error_set(err, 500, "",
                             "the games of batch %lld of task %lld are not on disk, and no rule "
                             "dropped them: restore the blobs from a backup",
                             (long long)member_int(batch, "seq"),
                             (long long)member_int(batch, "task"));
        written->games += sha != NULL;
        written->missing += !sha && !json_is_null(json_object_get(batch, "games"));
    }
    return true;
}

static bool write_games(const Evidence *evidence, const char *data, FILE *out, Error *err) {
    const json_t *batch;
    char name[TAR_NAME_MAX];
    size_t i, size;
    json_array_foreach (evidence->batches, i, batch) {
        const char *sha = games_there(batch, data);
        if (!sha)
            continue;
        char *packed scope(free_ptr) = blob_get(data, sha, GAMES_MAX, &size, err);
        if (!packed || !write_member(out, games_name(sha, name), packed, size, err))
            return false;
    }
    return true;
}

static void add_lines(const json_t *batches, Str *out) {
    const json_t *batch;
    size_t i;
    json_array_foreach (batches, i, batch) {
        char *line scope(free_ptr) = signed_json(batch);
        str_puts(out, line);
        str_putc(out, '\n');
    }
}

bool bundle_write(const Evidence *evidence, const char *data, FILE *out, BundleWritten *written,
                  Error *err) {
    static const char end[TAR_END_SIZE] = {0};
    Str sums scope(str_release), lines scope(str_release);
    char *manifest scope(free_ptr) =
        json_dumps(evidence->manifest, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    *written = (BundleWritten){0};
    str_init(&sums, BUNDLE_JSON_MAX);
    str_init(&lines, BUNDLE_JSON_MAX);
    add_lines(evidence->batches, &lines);
    if (!manifest || lines.overflow)
        return error_set(err, 413, "too_large", "the log of the test has over %d MiB",
                         BUNDLE_JSON_MAX >> 20);
    add_sum(&sums, "manifest.json", manifest, strlen(manifest));
    add_sum(&sums, "batches.jsonl", lines.data, lines.size);
    add_sum(&sums, "book", evidence->book, evidence->book_size);
    if (!list_games(evidence, data, &sums, written, err))
        return false;
    written->members = 4 + written->games;
    return write_member(out, "SHA256SUMS", sums.data, sums.size, err) &&
           write_member(out, "manifest.json", manifest, strlen(manifest), err) &&
           write_member(out, "batches.jsonl", lines.data, lines.size, err) &&
           write_member(out, "book", evidence->book, evidence->book_size, err) &&
           write_games(evidence, data, out, err) &&
           (fwrite(end, 1, sizeof end, out) == sizeof end ||
            error_errno(err, "cannot write the bundle"));
}
