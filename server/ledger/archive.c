// See archive.h.
#include "server/ledger/archive.h"

#include <string.h>

#include "server/common/hash.h"
#include "server/common/str.h"
#include "server/ledger/replay.h"
#include "server/storage/blob.h"
#include "server/storage/book.h"

static int64_t lines_of(const Str *text) {
    int64_t lines = 0;
    for (const char *p = text->data, *end = p + text->size; p < end; lines++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        p = newline ? newline + 1 : end;
    }
    return lines;
}

bool archive_unpack(const char *data, const char *sha256, int64_t pairs, Str *text, int64_t *games,
                    Error *err) {
    size_t size;
    *games = 0;
    char *packed scope(free_ptr) = blob_get(data, sha256, games_packed_max(pairs), &size, err);
    if (!packed || !zstd_decompress(packed, size, text, err))
        return false;
    *games = lines_of(text);
    return *games == 2 * pairs || error_set(err, 500, "internal", "there are %lld games, not %lld",
                                            (long long)*games, (long long)(2 * pairs));
}

// ---- what is asked for --------------------------------------------------------------------------

// What a batch is read with.
typedef struct Reading {
    const char *data;
    const ArchiveFilter *filter;
    ArchiveWrite *write;
    Str *out;
    size_t unpacked, read; // bytes of games in this step
} Reading;

// Within a batch, what was unpacked does not end a step: each step gets on.
static bool step_is_over(const Reading *reading) {
    return reading->out->size >= ARCHIVE_PART || reading->read >= ARCHIVE_READ;
}

static int64_t opening_of(const SqlArchiveBatches *b, int64_t pair) {
    if (!b->has_dealt_by_seed || pair < 0)
        return -1;
    return (int64_t)book_order((uint64_t)b->dealt_by_seed, (uint64_t)(pair % b->openings),
                               (uint64_t)b->openings);
}

static bool has_opening(const SqlArchiveBatches *b, int64_t opening) {
    for (int64_t i = 0; i < b->units; i++)
        if (opening_of(b, b->first_pair + i) == opening)
            return true;
    return false;
}

// By its counts, which the replay has compared with its games.
static bool may_have_ending(const SqlArchiveBatches *b, const char *ending) {
    if (strcmp(ending, "time") == 0)
        return b->time_losses > 0;
    if (strcmp(ending, "ponder") == 0)
        return b->ponders > 0;
    if (strcmp(ending, "rule") == 0 || strcmp(ending, "adjudication") == 0)
        return true;
    return b->crashes > 0;
}

static bool may_have_result(const SqlArchiveBatches *b, ArchiveResult result) {
    switch (result) {
    case ARCHIVE_WIN:
        return b->wins > 0;
    case ARCHIVE_LOSS:
        return b->losses > 0;
    case ARCHIVE_DRAW:
        return b->draws > 0;
    case ARCHIVE_WHITE_WINS:
    case ARCHIVE_BLACK_WINS:
        return b->wins + b->losses > 0;
    case ARCHIVE_ANY:
        break;
    }
    return true;
}

static bool may_have(const SqlArchiveBatches *b, const ArchiveFilter *filter) {
    return b->outcomes &&
           (filter->pair < 0 ||
            (filter->pair >= b->first_pair && filter->pair < b->first_pair + b->units)) &&
           may_have_result(b, filter->result) &&
           (!filter->ending || may_have_ending(b, filter->ending)) &&
           (filter->opening < 0 || has_opening(b, filter->opening));
}

static bool has_result(const GameLine *line, ArchiveResult wanted) {
    GameResult result = game_result_read(line->result);
    bool white_wins = result == RESULT_WHITE_WINS, black_wins = result == RESULT_BLACK_WINS;
    switch (wanted) {
    case ARCHIVE_WIN:
        return line->new_is_white ? white_wins : black_wins;
    case ARCHIVE_LOSS:
        return line->new_is_white ? black_wins : white_wins;
    case ARCHIVE_DRAW:
        return result == RESULT_DRAW;
    case ARCHIVE_WHITE_WINS:
        return white_wins;
    case ARCHIVE_BLACK_WINS:
        return black_wins;
    case ARCHIVE_ANY:
        break;
    }
    return true;
}

// By its place alone.
static bool is_in_place(const SqlArchiveBatches *b, int number, const ArchiveFilter *filter) {
    int64_t pair = b->first_pair + number / 2;
    return (filter->pair < 0 || pair == filter->pair) &&
           (filter->game < 0 || number % 2 == filter->game) &&
           (filter->opening < 0 || opening_of(b, pair) == filter->opening);
}

// ---- a batch ------------------------------------------------------------------------------------

// What a line is read into.
typedef struct LineBuffer {
    GameText taken;
    char text[GAME_LINE_MAX];
} LineBuffer;

static bool give_line(Reading *reading, const SqlArchiveBatches *b, const char *line, size_t size,
                      int number, LineBuffer *buffer, Error *err) {
    ArchivedGame game = {.batch = b,
                         .number = number,
                         .opening = opening_of(b, b->first_pair + number / 2),
                         .text = &buffer->taken};
    if (size > GAME_LINE_MAX)
        return game_is_wrong(err, number, "its line has more than 128 KiB");
    memcpy(buffer->text, line, size);
    size = game_text_take(buffer->text, size, &buffer->taken);
    json_auto_t *json = json_loadb(buffer->text, size, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(json) || !game_line_read(json, &buffer->taken, &game.line))
        return game_is_wrong(err, number, "it cannot be read");
    game.json = json;
    const char *ending = reading->filter->ending;
    return !has_result(&game.line, reading->filter->result) ||
           (ending && strcmp(ending, game.line.end) != 0) ||
           reading->write(reading->out, &game, err);
}

// Gives the games of a batch from *next on. Afterwards *next is 0 if all were given.
static bool give_lines(Reading *reading, const SqlArchiveBatches *b, const Str *text, int *next,
                       Error *err) {
    LineBuffer *buffer scope(free_ptr) = xmalloc(sizeof *buffer);
    const char *p = text->data, *end = p + text->size;
    for (int number = 0; p < end; number++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *stop = newline ? newline : end;
        if (number >= *next && is_in_place(b, number, reading->filter)) {
            if (step_is_over(reading)) {
                *next = number;
                return true;
            }
            reading->read += (size_t)(stop - p);
            if (!give_line(reading, b, p, (size_t)(stop - p), number, buffer, err))
                return false;
        }
        p = stop + 1;
    }
    *next = 0;
    return true;
}

static bool give_batch(Reading *reading, const SqlArchiveBatches *b, int *next, Error *err) {
    Str text scope(str_release);
    int64_t games;
    str_init(&text, games_text_max(b->units));
    bool good = b->sha256 ? archive_unpack(reading->data, b->sha256, b->units, &text, &games, err)
                          : error_set(err, 500, "internal", "they are not in the archive");
    reading->unpacked += text.size;
    return (good && give_lines(reading, b, &text, next, err)) ||
           error_prefix(err, "the games of batch %lld of task %lld", (long long)b->seq,
                        (long long)b->task);
}

ArchiveStep archive_step(Db *db, const char *data, const ArchiveFilter *filter,
                         ArchiveCursor *cursor, ArchiveWrite *write, Str *out, Error *err) {
    Reading reading = {.data = data, .filter = filter, .write = write, .out = out};
    bool over = false;
    int seen = 0;
    SqlArchiveBatchesRows rows scope(sql_rows_end) = sql_archive_batches(
        db, .test = filter->test, .task = filter->task, .machine = filter->machine,
        .seq = filter->seq, .all = filter->all, .after = cursor->after, .limit = ARCHIVE_BATCHES);
    for (; !over && sql_archive_batches_next(&rows); seen++) {
        const SqlArchiveBatches *b = &rows.row;
        if (cursor->batch != b->id)
            *cursor = (ArchiveCursor){.after = cursor->after, .batch = b->id};
        if (may_have(b, filter) && !give_batch(&reading, b, &cursor->next, err))
            return ARCHIVE_BROKEN;
        if (cursor->next)
            return ARCHIVE_MORE;
        cursor->after = b->id;
        over = step_is_over(&reading) || reading.unpacked >= ARCHIVE_READ;
    }
    if (db_failed(db)) {
        error_set(err, 503, "unavailable", "the database cannot be read at the moment");
        return ARCHIVE_BROKEN;
    }
    return over || seen == ARCHIVE_BATCHES ? ARCHIVE_MORE : ARCHIVE_END;
}
