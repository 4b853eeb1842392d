// Reads bundles, which come from strangers. See bundle.h.
#include <stdlib.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/proof/bundle.h"
#include "server/proof/tar_file.h"

// The games by their names, sorted; `data` is borrowed.
struct Bundle {
    TarMember *games;
    size_t count, capacity;
    int64_t members;
};

void bundle_free(Bundle **bundle) {
    if (*bundle)
        free((*bundle)->games);
    free(*bundle);
}

int64_t bundle_members(const Bundle *bundle) {
    return bundle->members;
}

static bool refuse(Error *err, const char *name, const char *what) {
    return error_set(err, 422, "", "%s: %s; get the bundle again from where it came from", name,
                     what);
}

// ---- the list of members ------------------------------------------------------------------------

// The next line of SHA256SUMS.
typedef struct SumLine {
    char sha[SHA256_HEX_MAX], name[TAR_NAME_MAX + 1];
} SumLine;

static bool next_sum(const char **at, const char *end, SumLine *out) {
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    if (!newline || newline - *at < 67 || newline - *at > 66 + TAR_NAME_MAX)
        return false;
    memcpy(out->sha, *at, 64);
    out->sha[64] = 0;
    size_t size = (size_t)(newline - *at) - 66;
    memcpy(out->name, *at + 66, size);
    out->name[size] = 0;
    bool good = sha256_is_hex(out->sha) && memcmp(*at + 64, "  ", 2) == 0 &&
                strlen(out->name) == size && tar_name_is_plain(out->name);
    *at = newline + 1;
    return good;
}

static bool check_sum(const TarMember *member, const SumLine *sum, Error *err) {
    char sha[SHA256_HEX_MAX];
    if (strcmp(member->name, sum->name) != 0)
        return error_set(err, 422, "",
                         "%.100s is missing: SHA256SUMS lists it, and %.100s stands in its place; "
                         "get the bundle again from where it came from",
                         sum->name, member->name);
    return strcmp(sha256_hex(member->data, member->size, sha), sum->sha) == 0 ||
           refuse(err, member->name, "its bytes are not those that SHA256SUMS lists");
}

// ---- the members --------------------------------------------------------------------------------

static bool read_manifest(const TarMember *member, Evidence *out, Error *err) {
    if (member->size > BUNDLE_JSON_MAX)
        return refuse(err, member->name, "it is too large");
    out->manifest = json_loadb(member->data, member->size, JSON_REJECT_DUPLICATES, NULL);
    const char *format = member_text(out->manifest, "format");
    if (!json_is_object(out->manifest))
        return refuse(err, member->name, "it is no JSON object");
    return strcmp(format, EVIDENCE_FORMAT) == 0 ||
           error_set(err, 422, "",
                     "the bundle says that it is a \"%.40s\", and this program reads \"%s\": use "
                     "the program of the version that wrote it",
                     format, EVIDENCE_FORMAT);
}

static bool read_batches(const TarMember *member, Evidence *out, Error *err) {
    const char *at = member->data, *end = at + member->size;
    if (member->size > BUNDLE_JSON_MAX)
        return refuse(err, member->name, "it is too large");
    out->batches = json_array();
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((newline ? newline : end) - at);
        json_t *batch =
            size <= BUNDLE_LINE_MAX ? json_loadb(at, size, JSON_REJECT_DUPLICATES, NULL) : NULL;
        if (!json_is_object(batch) || json_array_append_new(out->batches, batch) < 0) {
            json_decref(batch);
            return refuse(err, member->name, "a line of it is no batch");
        }
        at = newline ? newline + 1 : end;
    }
    return true;
}

static bool add_game(Bundle *bundle, const TarMember *member, Error *err) {
    if (strncmp(member->name, "games/", 6) != 0)
        return refuse(err, member->name, "a bundle has no such file");
    if (bundle->count == bundle->capacity) {
        bundle->capacity = 2 * bundle->capacity + 64;
        bundle->games = xrealloc(bundle->games, bundle->capacity * sizeof *bundle->games);
    }
    bundle->games[bundle->count++] = *member;
    return true;
}

static bool take(Bundle *bundle, const TarMember *member, Evidence *out, Error *err) {
    static const char *const order[] = {"manifest.json", "batches.jsonl", "book"};
    int64_t number = bundle->members++;
    if (bundle->members > BUNDLE_MEMBERS_MAX)
        return refuse(err, member->name, "it is one file too many");
    if (number < 3 && strcmp(member->name, order[number]) != 0)
        return error_set(err, 422, "",
                         "%s is missing: get the bundle again from where it came from",
                         order[number]);
    if (number == 0)
        return read_manifest(member, out, err);
    if (number == 1)
        return read_batches(member, out, err);
    if (number > 2)
        return add_game(bundle, member, err);
    out->book = member->data;
    out->book_size = member->size;
    return true;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const TarMember *)a)->name, ((const TarMember *)b)->name);
}

static bool games_in_bundle(const Evidence *evidence, const char *sha256, Str *text, Error *err) {
    const Bundle *bundle = evidence->source;
    TarMember key = {.size = 0};
    snprintf(key.name, sizeof key.name, "games/%.64s.jsonl.zst", sha256);
    const TarMember *found =
        bundle->count ? bsearch(&key, bundle->games, bundle->count, sizeof *bundle->games, by_name)
                      : NULL;
    if (!found)
        return error_set(err, 404, "no_such_blob", "%s is not in the bundle", key.name);
    return zstd_decompress(found->data, found->size, text, err);
}

static bool read_members(const char *bytes, size_t size, Bundle *bundle, Evidence *out,
                         Error *err) {
    TarMember sums, member;
    SumLine sum;
    size_t at = 0;
    TarStep step = tar_next(bytes, size, &at, &sums, err);
    if (step == TAR_DAMAGED)
        return false;
    if (step == TAR_END || strcmp(sums.name, "SHA256SUMS") != 0)
        return refuse(err, "SHA256SUMS", "it is missing, and must come first");
    const char *line = sums.data, *end = sums.data + sums.size;
    while ((step = tar_next(bytes, size, &at, &member, err)) == TAR_NEXT) {
        if (line == end)
            return refuse(err, member.name, "SHA256SUMS does not list it");
        if (!next_sum(&line, end, &sum))
            return refuse(err, "SHA256SUMS", "a line of it cannot be read");
        if (!check_sum(&member, &sum, err) || !take(bundle, &member, out, err))
            return false;
    }
    if (step == TAR_DAMAGED)
        return false;
    if (line < end)
        return refuse(err, next_sum(&line, end, &sum) ? sum.name : "SHA256SUMS",
                      "it is missing: SHA256SUMS lists it");
    return bundle->members >= 3 || refuse(err, "the bundle", "it has no manifest, batches or book");
}

bool bundle_read(const char *bytes, size_t size, Evidence *out, Bundle **bundle, Error *err) {
    *bundle = xcalloc(1, sizeof **bundle);
    *out = (Evidence){.games = games_in_bundle, .source = *bundle};
    if (!read_members(bytes, size, *bundle, out, err))
        return false;
    (*bundle)->members++; // SHA256SUMS
    if ((*bundle)->count)
        qsort((*bundle)->games, (*bundle)->count, sizeof *(*bundle)->games, by_name);
    return true;
}
