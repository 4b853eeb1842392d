// Any bytes as a game file, and as the payload of a record whose sum is right: refused with a
// reason, or games that can be written and read again.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/checksum.h"
#include "engine/learn/gamefile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Work {
    GameReader reader;
    GameFileRecord game, again;
    uint8_t file[GAMEFILE_HEADER_MAX + GAMEFILE_RECORD_MAX];
} Work;

static size_t file_begin(Work *work) {
    const GameFileHeader header = {.engine = "e", .limit = "l", .net = "n", .openings = "o"};
    return gamefile_write_header(&header, (char *)work->file);
}

// Reads a file that holds one game. True: `out` has it.
static bool read_one(Work *work, size_t size, GameFileRecord *out) {
    Refusal err = {0};
    if (!game_reader_open_stream(&work->reader, fmemopen(work->file, size, "rb"), &err))
        abort();
    GameReadStatus status = game_reader_next(&work->reader, out, &err);
    game_reader_close(&work->reader);
    if (status == GAME_END || (status == GAME_DAMAGED && !err.message[0]))
        abort();
    return status == GAME_READ;
}

static void check_again(Work *work) {
    const GameFileRecord *a = &work->game, *b = &work->again;
    size_t size = file_begin(work);
    size += gamefile_write_game(a, work->file + size);
    if (!read_one(work, size, &work->again) || a->result != b->result || a->plies != b->plies ||
        memcmp(a->moves, b->moves, (size_t)a->plies * sizeof *a->moves) != 0)
        abort();
}

static void as_file(Work *work, const uint8_t *data, size_t size) {
    Refusal err = {0};
    FILE *in = fmemopen((void *)(uintptr_t)data, size, "rb");
    if (!in || !game_reader_open_stream(&work->reader, in, &err))
        return;
    while (game_reader_next(&work->reader, &work->game, &err) == GAME_READ)
        if (work->reader.offset > size)
            abort();
    game_reader_close(&work->reader);
}

static void as_payload(Work *work, const uint8_t *data, size_t size) {
    size_t length = file_begin(work);
    uint8_t *record = work->file + length;
    uint32_t sum = checksum_crc32(0, data, size);
    for (int i = 0; i < 4; i++) {
        record[i] = (uint8_t)(size >> 8 * i);
        record[4 + i] = (uint8_t)(sum >> 8 * i);
    }
    memcpy(record + 8, data, size);
    if (read_one(work, length + 8 + size, &work->game))
        check_again(work);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rules_init();
    Work *work = calloc(1, sizeof *work);
    if (work && size > 0)
        as_file(work, data, size);
    if (work && size > 0 && size <= GAMEFILE_PAYLOAD_MAX)
        as_payload(work, data, size);
    free(work);
    return 0;
}
