// PUT tasks/T/endings/N: the other end of a game that a rule had ended and that was played on. A
// reader replays the game as it is stored, and then the rest. See server/ledger/ending.h.
#include <stdlib.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/ledger/ending.h"
#include "server/routes/worker_handlers.h"
#include "server/storage/blob.h"

enum { THOUGHT_MAX_MS = 1000000000 };

typedef struct Upload {
    Ending ending;
    EndingFound found;
    char sha[SHA256_HEX_MAX];
} Upload;

static bool body_read(Request *req, Ending *ending, Error *err) {
    json_int_t thought, rest;
    if (!request_json(req, err, "{s:s, s:s, s:s, s:[I, I]}", "moves", &ending->end.moves, "result",
                      &ending->end.result, "end", &ending->end.end, "thought_ms", &thought, &rest))
        return false;
    ending->thought_ms = thought;
    ending->rest_ms = rest;
    return (thought >= 0 && rest >= 0 && thought <= THOUGHT_MAX_MS && rest <= THOUGHT_MAX_MS) ||
           error_field(err, 422, "bad_request", "thought_ms", "thought_ms is 0 to %d",
                       THOUGHT_MAX_MS);
}

static bool replay(const Request *req, Upload *upload, const EndingPlace *place, Error *err) {
    ReplayFacts facts = {.first_pair = place->first_pair, .chess960 = place->chess960};
    Error lost;
    size_t size;
    char *packed scope(free_ptr) =
        blob_get(req->site->data, place->games, games_packed_max(place->pairs), &size, &lost);
    Str text scope(str_release);
    str_init(&text, games_text_max(place->pairs));
    if (!packed || !zstd_decompress(packed, size, &text, &lost))
        return error_set(err, 409, "no_games", "the games of its batch cannot be read");
    return replay_ending(text.data, text.size, &facts, place->number, &upload->ending.end,
                         &upload->found, err);
}

bool ending_prepare(Request *req, Response *res, Error *err) {
    Turn reader = {.db = req->turn->db, .now = req->turn->now};
    EndingPlace place;
    long game;
    (void)res;
    if (!parse_long(req->params[1], 0, INT32_MAX, &game))
        return error_set(err, 404, "not_found", "the number of a game is 0 or more");
    Upload *upload = xcalloc(1, sizeof *upload);
    req->state = upload;
    req->state_free = free;
    sha256_hex(req->body, req->body_size, upload->sha);
    upload->ending = (Ending){.task = request_id(req, 0),
                              .worker = req->viewer.worker_id,
                              .game = game,
                              .sha256 = upload->sha};
    return body_read(req, &upload->ending, err) &&
           ledger_ending_place(&reader, &upload->ending, &place, err) &&
           (place.there || replay(req, upload, &place, err));
}

bool ending_apply(Request *req, Response *res, Error *err) {
    const Upload *upload = req->state;
    if (!ledger_ending(req->turn, &upload->ending, &upload->found, err))
        return false;
    response_json(res, 200, json_object());
    return true;
}
