// Any line as a game of the archive, which a machine sent: what is written of it is a game for a
// reader of PGN, with the same moves, and one line of JSON. The first byte chooses clocks and
// variant.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rules/pgn.h"
#include "server/pages/game_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINE_MAX_SIZE = 16 << 10, TEXT_MAX = 4 << 20 };

static const char *const clocks[] = {"10+0.1", "40/10+0.1", "nodes=1000", "st=1"};
static GameText taken;
static PgnGame read;

static void check_pgn(const ArchivedGame *game) {
    Error err;
    Refusal why;
    PgnReader reader;
    Str out scope(str_release);
    str_init(&out, TEXT_MAX);
    if (!game_file_pgn(&out, game, &err))
        return;
    pgn_reader_init(&reader, out.data, out.size);
    if (out.overflow || pgn_read(&reader, &read, &why) != PGN_GAME ||
        pgn_read(&reader, &read, &why) != PGN_END)
        abort();
}

static void check_json(const ArchivedGame *game) {
    Error err;
    Str out scope(str_release);
    str_init(&out, TEXT_MAX);
    if (!game_file_json(&out, game, &err))
        return;
    json_auto_t *json = json_loadb(out.data, out.size, JSON_REJECT_DUPLICATES, NULL);
    const char *newline = memchr(out.data, '\n', out.size);
    if (out.overflow || !json_is_object(json) || newline != out.data + out.size - 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rules_init();
    if (size < 2 || size > LINE_MAX_SIZE)
        return 0;
    SqlArchiveBatches batch = {.test = 1,
                               .task = 2,
                               .machine = 3,
                               .machine_name = "a machine",
                               .counts = "counted",
                               .title = "a test",
                               .units = 1,
                               .speed = 1e6,
                               .new_tc = clocks[data[0] & 3],
                               .base_tc = data[0] & 4 ? clocks[data[0] >> 3 & 3] : NULL,
                               .new_sha = "0123456789",
                               .new_engine = "Anvil",
                               .chess960 = data[0] & 32,
                               .reference_speed = 1e6,
                               .scale_min = 0.1,
                               .scale_max = 10};
    char *line scope(free_ptr) = xmalloc(size);
    memcpy(line, data + 1, size - 1);
    size_t left = game_text_take(line, size - 1, &taken);
    json_auto_t *json = json_loadb(line, left, JSON_REJECT_DUPLICATES, NULL);
    ArchivedGame game = {.batch = &batch, .number = data[0] >> 6, .opening = -1, .json = json};
    game.text = &taken;
    if (!json_is_object(json) || !game_line_read(json, &taken, &game.line))
        return 0;
    check_pgn(&game);
    check_json(&game);
    return 0;
}
