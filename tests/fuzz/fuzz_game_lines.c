// Any bytes as the games of a batch, as a machine uploads them: with an even first byte the rest is
// the frame itself, with an odd one the lines in it. Refusals say why; what is taken has the lines
// that it should, none too long, and playing it over again says in words what is wrong with it.
#include "tests/fuzz/worker_call.h"

#include <stdint.h>

#include "engine/rules/position.h"
#include "server/common/hash.h"
#include "server/ledger/replay.h"
#include "tests/fuzz/openings_of.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BATCH_PAIRS = 4, TEXT_MAX = 16 << 20 };

static void check_taken(const Str *frame) {
    Error err = {0};
    Str text scope(str_release);
    str_init(&text, TEXT_MAX);
    if (!zstd_decompress(frame->data, frame->size, &text, &err))
        abort();
    int lines = 0;
    for (const char *p = text.data, *end = p + text.size; p < end; lines++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        if (stop - p > GAME_LINE_MAX)
            abort();
        p = stop + 1;
    }
    if (lines != 2 * BATCH_PAIRS)
        abort();
    json_auto_t *openings = openings_of(text.data, text.size);
    GamePrints prints = {.seed = 1};
    ReplayFacts facts = {.outcomes = "2222",
                         .prints = &prints,
                         .openings = openings,
                         .clocks = {{.base_s = 10, .increment_s = 0.1}, {.nodes = 1000}}};
    if (text.size % 2)
        facts.clocks[1] = facts.clocks[0];
    if (!replay_games(text.data, text.size, &facts, &err) && !err.message[0])
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    WorkerCall *call = call_open();
    rules_init();
    if (!size)
        return 0;
    Str frame scope(str_release);
    str_init(&frame, TEXT_MAX);
    if (data[0] & 1)
        zstd_compress(data + 1, size - 1, 1, &frame);
    else
        str_add(&frame, data + 1, size - 1);
    const Route *route = call_route("PUT", "/api/v1/tasks/{task}/games/{seq}");
    Error err = {0};
    RequestData *request = call_request(call, route, frame.data, frame.size);
    db_savepoint(call->kit.db);
    if (call_made(route, request, &err))
        check_taken(&frame);
    db_savepoint_undo(call->kit.db);
    call_forget_events(call);
    request_free(request);
    return 0;
}
