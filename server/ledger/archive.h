// The archive: the games of batches, as their workers uploaded them and the server replayed them.
// It reads the games of a test one after another, in steps that are bounded in work and memory, so
// that a reader serves them to a client that may be slow. A batch whose counts already say that it
// holds no game that is asked for is not unpacked. Moves that were played on after a rule had ended
// a game (ending.h) were never part of these games.
#pragma once

#include "server/common/str.h"
#include "server/ledger/replay_game.h"
#include "sql/archive.h"

typedef enum {
    ARCHIVE_ANY,
    ARCHIVE_WIN, // of the side under test
    ARCHIVE_LOSS,
    ARCHIVE_DRAW,
    ARCHIVE_WHITE_WINS,
    ARCHIVE_BLACK_WINS,
} ArchiveResult;

typedef struct ArchiveFilter {
    int64_t test;
    int64_t task, machine;      // 0: any
    int64_t seq, pair, opening; // -1: any; opening: its line in the book, from 0
    int game;                   // 0 or 1 of its pair; -1: both
    ArchiveResult result;
    const char *ending; // as in API.md; NULL: any
    bool all;           // also games of batches that do not count
} ArchiveFilter;

// Where a step goes on; all 0 at first.
typedef struct ArchiveCursor {
    int64_t after; // id of the last batch that is done
    int64_t batch; // that is done in part
    int next;      // its first game that is not done; 0: there is no such batch
} ArchiveCursor;

// A game, read and not replayed again: what is in its line comes from outside.
typedef struct ArchivedGame {
    const SqlArchiveBatches *batch;
    int number;      // in its batch, from 0
    int64_t opening; // its line in the book, from 0; -1: not known
    GameLine line;
    const json_t *json;
    const GameText *text; // that was taken out of `json`
} ArchivedGame;

// Appends a game. False: it cannot be written.
typedef bool ArchiveWrite(Str *out, const ArchivedGame *game, Error *err);

typedef enum { ARCHIVE_MORE, ARCHIVE_END, ARCHIVE_BROKEN } ArchiveStep;

// A step ends soon after it has written this much, or read that much of games. So `out` gets at
// most one game more than ARCHIVE_PART.
enum { ARCHIVE_PART = 128 << 10, ARCHIVE_READ = 2 << 20, ARCHIVE_BATCHES = 500 };

// Appends the next games that fit the filter. ARCHIVE_MORE, maybe without a game: there may be
// more. ARCHIVE_BROKEN: games cannot be read, and `err` says which.
ArchiveStep archive_step(Db *db, const char *data, const ArchiveFilter *filter,
                         ArchiveCursor *cursor, ArchiveWrite *write, Str *out, Error *err);

// Unpacks the games of a batch of `pairs` pairs. False: they are not there, damaged, or not two
// for each pair; `err` says it, and *games is how many there are.
bool archive_unpack(const char *data, const char *sha256, int64_t pairs, Str *text, int64_t *games,
                    Error *err);
