// The games of a test, as PGN and as lines of JSON: all of them, or those that the query asks for.
// The reply comes part by part (Response.more). Every name and every value of the query is looked
// at: a filter that is misspelled must not give all games.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/pgn_words.h"
#include "server/common/str.h"
#include "server/ledger/archive.h"
#include "server/pages/doc_games.h"
#include "server/pages/game_files.h"
#include "server/pages/page.h"
#include "server/routes/routes.h"

typedef struct Download {
    ArchiveFilter filter;
    ArchiveCursor cursor;
    ArchiveWrite *write;
} Download;

static bool bad(Error *err, const char *name, const char *value, const char *allowed) {
    return error_field(err, 422, "bad_filter", name,
                       "%s=%.40s names no games: %s is %s, or is left out for all games", name,
                       value, name, allowed);
}

// ---- the query ----------------------------------------------------------------------------------

static bool read_number(const char *name, const char *value, int64_t least, int64_t most,
                        const char *allowed, int64_t *out, Error *err) {
    long number = 0;
    bool good = parse_long(value, least, most, &number) || bad(err, name, value, allowed);
    *out = number;
    return good;
}

static bool read_task(ArchiveFilter *filter, const char *value, Error *err) {
    return read_number("task", value, 1, INT64_MAX, "the number of a task", &filter->task, err);
}

static bool read_machine(ArchiveFilter *filter, const char *value, Error *err) {
    return read_number("machine", value, 1, INT64_MAX, "the number of a machine", &filter->machine,
                       err);
}

static bool read_batch(ArchiveFilter *filter, const char *value, Error *err) {
    return read_number("batch", value, 0, INT32_MAX, "the number of a batch of its task, from 0",
                       &filter->seq, err);
}

static bool read_pair(ArchiveFilter *filter, const char *value, Error *err) {
    return read_number("pair", value, 0, INT64_MAX, "the number of a pair of the test, from 0",
                       &filter->pair, err);
}

static bool read_game(ArchiveFilter *filter, const char *value, Error *err) {
    int64_t game;
    bool good = read_number("game", value, 0, 1, "0 or 1, the first or the second game of a pair",
                            &game, err);
    filter->game = (int)game;
    return good;
}

static bool read_opening(ArchiveFilter *filter, const char *value, Error *err) {
    int64_t number;
    bool good = read_number("opening", value, 1, INT64_MAX,
                            "the number of an opening of the book, from 1", &number, err);
    filter->opening = number - 1;
    return good;
}

static bool read_result(ArchiveFilter *filter, const char *value, Error *err) {
    static const char *const words[] = {[ARCHIVE_WIN] = "win",
                                        [ARCHIVE_LOSS] = "loss",
                                        [ARCHIVE_DRAW] = "draw",
                                        [ARCHIVE_WHITE_WINS] = "1-0",
                                        [ARCHIVE_BLACK_WINS] = "0-1"};
    for (int i = ARCHIVE_WIN; i <= ARCHIVE_BLACK_WINS; i++)
        if (strcmp(words[i], value) == 0) {
            filter->result = (ArchiveResult)i;
            return true;
        }
    if (strcmp(value, "1/2-1/2") != 0)
        return bad(err, "result", value,
                   "win, loss or draw of the new side, or 1-0, 0-1 or 1/2-1/2");
    filter->result = ARCHIVE_DRAW;
    return true;
}

static bool read_ending(ArchiveFilter *filter, const char *value, Error *err) {
    char allowed[200] = "";
    for (int i = 0; game_endings[i]; i++) {
        size_t used = strlen(allowed);
        if (strcmp(game_endings[i], value) == 0) {
            filter->ending = game_endings[i];
            return true;
        }
        snprintf(allowed + used, sizeof allowed - used, "%s%s",
                 !i                    ? ""
                 : game_endings[i + 1] ? ", "
                                       : " or ",
                 game_endings[i]);
    }
    return bad(err, "ending", value, allowed);
}

static bool read_which(ArchiveFilter *filter, const char *value, Error *err) {
    filter->all = strcmp(value, "all") == 0;
    return filter->all || strcmp(value, "counted") == 0 ||
           error_field(err, 422, "bad_filter", "which",
                       "which=%.40s names no games: which is counted, the games that count, or "
                       "all, those of batches that do not count as well",
                       value);
}

static const struct {
    const char *name;
    bool (*read)(ArchiveFilter *filter, const char *value, Error *err);
} filters[] = {{"task", read_task},     {"machine", read_machine}, {"batch", read_batch},
               {"pair", read_pair},     {"game", read_game},       {"opening", read_opening},
               {"result", read_result}, {"ending", read_ending},   {"which", read_which}};
enum { FILTERS = sizeof filters / sizeof *filters };

static bool read_one(ArchiveFilter *filter, const Param *param, Error *err) {
    for (int i = 0; i < FILTERS; i++)
        if (strcmp(filters[i].name, param->name) ==
            0) // a form sends the fields that are empty, too
            return !*param->value || filters[i].read(filter, param->value, err);
    return error_field(err, 422, "bad_filter", "",
                       "there is no filter %.40s; filters are task, machine, batch, pair, game, "
                       "opening, result, ending and which",
                       param->name);
}

static bool read_filter(Request *req, ArchiveFilter *filter, Error *err) {
    DocContext ctx = page_context(req);
    *filter = (ArchiveFilter){
        .test = request_id(req, 0), .seq = -1, .pair = -1, .opening = -1, .game = -1};
    for (size_t i = 0; ctx.query && i < ctx.query->count; i++)
        if (!read_one(filter, &ctx.query->items[i], err))
            return false;
    return filter->seq < 0 || filter->task ||
           error_field(err, 422, "bad_filter", "batch",
                       "batches are counted within a task, from 0: give task, too");
}

// ---- the test -----------------------------------------------------------------------------------

static bool is_there(Db *db, const ArchiveFilter *filter, Error *err) {
    SqlArchiveTest test;
    if (!sql_archive_test(db, &test, filter->test))
        return error_set(err, 404, "no_such_test", "there is no test %lld",
                         (long long)filter->test);
    if (!doc_games_dropped(filter->test, test.games_dropped, err))
        return false;
    if (filter->task && !sql_archive_task(db, 0, .task = filter->task, .test = filter->test))
        return error_field(err, 404, "no_such_task", "task", "test %lld has no task %lld",
                           (long long)filter->test, (long long)filter->task);
    if (filter->machine &&
        !sql_archive_machine(db, 0, .test = filter->test, .machine = filter->machine))
        return error_field(err, 404, "no_such_machine", "machine",
                           "machine %lld has played nothing for test %lld",
                           (long long)filter->machine, (long long)filter->test);
    return true;
}

// ---- the reply ----------------------------------------------------------------------------------

static bool next_part(Request *req, Response *res, Error *err) {
    Download *download = req->state;
    ArchiveStep step = archive_step(req->turn->db, req->site->data, &download->filter,
                                    &download->cursor, download->write, &res->body, err);
    if (step == ARCHIVE_END)
        res->more = NULL;
    return step != ARCHIVE_BROKEN;
}

// One pair is for a person who follows a link, and the browser shows it. More are a file.
static bool serve(Request *req, Response *res, const char *type, const char *ending,
                  ArchiveWrite *write, Error *err) {
    Download *download = xcalloc(1, sizeof *download);
    req->state = download;
    req->state_free = free;
    download->write = write;
    if (!read_filter(req, &download->filter, err) ||
        !is_there(req->turn->db, &download->filter, err))
        return false;
    bool shown = download->filter.pair >= 0;
    res->type = shown ? "text/plain; charset=utf-8" : type;
    if (!shown)
        response_header(res, "Content-Disposition", "attachment; filename=\"test-%lld.%s\"",
                        (long long)download->filter.test, ending);
    res->more = next_part;
    return true;
}

static bool games_pgn(Request *req, Response *res, Error *err) {
    return serve(req, res, "application/vnd.chess-pgn", "pgn", game_file_pgn, err);
}

static bool games_jsonl(Request *req, Response *res, Error *err) {
    return serve(req, res, "application/x-ndjson", "jsonl", game_file_json, err);
}

const Route routes_games[] = {
    {"GET", "/tests/{id}/games.pgn", ACCESS_ANYONE, 0, games_pgn, NULL},
    {"GET", "/tests/{id}/games.jsonl", ACCESS_ANYONE, 0, games_jsonl, NULL},
    {"GET", "/api/v1/tests/{id}/games.pgn", ACCESS_ANYONE, 0, games_pgn, NULL},
    {"GET", "/api/v1/tests/{id}/games.jsonl", ACCESS_ANYONE, 0, games_jsonl, NULL},
    {0},
};
