// PUT tasks/T/games/SEQ: the games of a batch become a blob. Only their size and form are checked
// here: the batch that follows says what is to be compared with them (ledger_batch_replay()).
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

static bool games_store(Request *req, Response *res, int batch_pairs, char *sha, Error *err) {
    return respond_disk_check(req, res, err) &&
           games_check(req->body, req->body_size, batch_pairs, err) &&
           blob_put(req->site->data, req->body, req->body_size, sha, err);
}

// Does the slow part on a reader. Afterwards the file is on disk. If the server has these games
// already, nothing is written.
bool games_prepare(Request *req, Response *res, Error *err) {
    Turn reader = {.db = req->turn->db, .now = req->turn->now};
    Upload *upload = xcalloc(1, sizeof *upload);
    int batch_pairs;
    bool there = false;
    long seq;
    req->state = upload;
    req->state_free = free;
    if (!parse_long(req->params[1], 0, INT32_MAX, &seq))
        return error_set(err, 404, "not_found", "the number of a batch is 0 or more");
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
