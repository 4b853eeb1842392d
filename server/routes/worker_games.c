// PUT tasks/T/games/SEQ: the games of a batch become a blob. Here only the outside is looked at;
// what the games say is checked later against rules and outcomes (ledger/replayer.h), where no worker waits for it.
#include <stdlib.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/ledger/ledger.h"
#include "server/ledger/replay.h"
#include "server/routes/respond.h"
#include "server/routes/worker_handlers.h"
#include "server/storage/blob.h"

typedef struct Upload {
    int64_t seq;
    char sha[SHA256_HEX_MAX];
} Upload;

// So many lines, each an object by its looks.
static bool lines_check(const Str *text, int expected, Error *err) {
    int lines = 0;
    for (const char *p = text->data, *end = p + text->size; p < end; lines++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *stop = newline ? newline : end;
        if (stop - p > GAME_LINE_MAX)
            return error_set(err, 422, "bad_games", "line %d has over %d bytes, more than any game",
                             lines + 1, GAME_LINE_MAX);
        if (lines == expected)
            return error_set(err, 422, "bad_games", "more than %d games", expected);
        if (stop - p < 2 || *p != '{' || stop[-1] != '}')
            return error_set(err, 422, "bad_games", "line %d is no JSON object", lines + 1);
        p = stop + 1;
    }
    return lines == expected ||
           error_set(err, 422, "bad_games", "%d games, should be %d", lines, expected);
}

static bool games_check(const Request *req, int batch_pairs, Error *err) {
    if (req->body_size > games_packed_max(batch_pairs))
        return error_set(err, 413, "too_large", "%d games take at most %zu bytes", 2 * batch_pairs,
                         games_packed_max(batch_pairs));
    Str text scope(str_release);
    str_init(&text, games_text_max(batch_pairs));
    // What expands to too much has a line that is too long, or too many lines: that is said then.
    bool whole = zstd_decompress(req->body, req->body_size, &text, err);
    return (whole || text.overflow) && lines_check(&text, 2 * batch_pairs, err) && whole;
}

static bool games_store(Request *req, Response *res, int batch_pairs, char *sha, Error *err) {
    return respond_disk_check(req, res, err) && games_check(req, batch_pairs, err) &&
           blob_put(req->site->data, req->body, req->body_size, sha, err);
}

// On a reader: slow things, and the file is on disk when this returns. What is known already costs
// next to nothing.
bool games_prepare(Request *req, Response *res, Error *err) {
    Turn reader = {.db = req->turn->db, .now = req->turn->now};
    Upload *upload = xcalloc(1, sizeof *upload);
    int batch_pairs;
    bool there = false;
    long seq;
    req->state = upload;
    req->state_free = free;
    if (!parse_long(req->params[1], 0, INT32_MAX, &seq))
        return error_set(err, 404, "not_found", "a batch has a number from 0");
    upload->seq = seq;
    sha256_hex(req->body, req->body_size, upload->sha);
    return ledger_games_expected(&reader, request_id(req, 0), req->viewer.worker_id, seq,
                                 upload->sha, &batch_pairs, &there, err) &&
           (there || games_store(req, res, batch_pairs, upload->sha, err));
}

bool games_apply(Request *req, Response *res, Error *err) {
    const Upload *upload = req->state;
    if (!ledger_games(req->turn, request_id(req, 0), req->viewer.worker_id, upload->seq,
                      upload->sha, (int64_t)req->body_size, err))
        return false;
    response_json(res, 200, json_pack("{s:s}", "sha256", upload->sha));
    return true;
}
