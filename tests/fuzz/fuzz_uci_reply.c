// Any bytes as what an engine says: as a search's output through the real reader, in reads of the
// sizes that the first byte chooses, and line by line through the parsers.
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/common/log.h"
#include "worker/match/output_check.h"
#include "worker/match/pv.h"
#include "worker/uci/engine_pipe.h"
#include "worker/uci/engine_process.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_info(const UciInfo *info) {
    bool mate = uci_score_is_mate(info->score_cp);
    if (info->score_cp != UCI_SCORE_NONE &&
        abs(info->score_cp) > (mate ? UCI_SCORE_MATE : UCI_SCORE_CP_MAX))
        abort();
    if (info->score_cp != UCI_SCORE_NONE && mate && abs(info->score_cp) < UCI_SCORE_MATE / 2)
        abort();
}

// The game is to be as it was, whatever the PV says.
static void check_pv(const char *line, size_t size) {
    static Game game;
    char problem[PV_PROBLEM_MAX];
    Position start;
    Refusal err;
    if (!position_from_fen(&start, POSITION_START_FEN, false, &err))
        abort();
    game_init(&game, &start);
    pv_problem(&game, line, size, false, MOVE_NONE, problem);
    pv_problem(&game, line, size, true, MOVE_NONE, problem);
    Said said = {0};
    for (int i = 0; i < 8; i++) {
        MoveOutput output = {line, size, i & 1, i & 2, i & 4};
        output_count(&start, &output, move_from_uci(&start, "f2f3"), &said);
    }
    if (said.moves != 8 || said_wrong(&said) > 8)
        abort();
    if (game.plies || game.now.key != start.key)
        abort();
}

static void read_lines(const char *text, size_t size) {
    for (const char *end; size; size -= (size_t)(end - text), text = end) {
        char move[UCI_WORD_MAX];
        UciInfo info;
        const char *newline = memchr(text, '\n', size);
        end = newline ? newline + 1 : text + size;
        uci_kind(text, (size_t)(end - text));
        uci_read_bestmove(text, (size_t)(end - text), move);
        uci_read_info(text, (size_t)(end - text), &info);
        uci_option_is(text, (size_t)(end - text), "Hash");
        check_info(&info);
        check_pv(text, (size_t)(end - text));
    }
}

// Without a process: its pipes are ours, and there is no process to end.
static void search(EngineProcess *engine, const char *text, size_t size, size_t step) {
    int out[2];
    EngineReply reply = {0};
    if (pipe2(out, O_NONBLOCK) != 0)
        fatal("cannot make a pipe");
    *engine = (EngineProcess){.cancel_fd = -1,
                              .read_at_ns = INT64_MAX / 2,
                              .process = {.pidfd = -1, .output = out[0], .errors = -1}};
    engine->process.input = open("/dev/null", O_WRONLY);
    if (!pipe_open(engine))
        fatal("cannot wait");
    size_t first = size < step ? size : step;
    if (write(out[1], text, first) != (ssize_t)first)
        fatal("a pipe takes 64 KiB");
    EngineStatus status = engine_go(engine, "go\n", 3, 0, &reply);
    if (write(out[1], text + first, size - first) != (ssize_t)(size - first))
        fatal("a pipe takes 64 KiB");
    close(out[1]);
    while (status == ENGINE_OK || status == ENGINE_TIMEOUT) {
        if (status == ENGINE_OK && (strlen(reply.move) >= sizeof reply.move))
            abort();
        engine->deadline_ns = os_now_ns() + INT64_C(1000000000);
        status = engine_go_on(engine, &reply);
    }
    pipe_close(engine);
    close(out[0]);
    close(engine->process.input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static EngineProcess engine;
    rules_init();
    if (size == 0 || size > 60000)
        return 0;
    read_lines((const char *)data, size);
    search(&engine, (const char *)data, size, (size_t)data[0] * 4);
    return 0;
}
