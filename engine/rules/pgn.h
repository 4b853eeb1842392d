// PGN, reading and writing, and EPD. The reader takes one game after another from bytes in memory.
// It skips comments, variations, NAGs and escape lines. Every length is bounded, because the bytes
// come from outside.
#pragma once

#include "rules/error.h"
#include "rules/game.h"

enum { PGN_TAGS_MAX = 64, PGN_TAG_NAME_MAX = 64, PGN_TAG_VALUE_MAX = 256 };

typedef struct PgnTag {
    char name[PGN_TAG_NAME_MAX], value[PGN_TAG_VALUE_MAX];
} PgnTag;

typedef struct PgnGame {
    int tag_count;
    PgnTag tags[PGN_TAGS_MAX];
    Game game;
    GameResult result; // from the end of the movetext
} PgnGame;

typedef struct PgnReader {
    const char *text; // borrowed
    size_t size, offset;
    int line; // of the next unread byte, from 1
} PgnReader;

typedef enum { PGN_GAME, PGN_END, PGN_BAD } PgnStatus;

void pgn_reader_init(PgnReader *reader, const char *text, size_t size);
// Reads the next game. PGN_BAD: `err` names line and token, and the reader stands at the next game,
// so that reading can go on. Variant "Chess960"/"fischerandom" and SetUp/FEN tags are honoured.
PgnStatus pgn_read(PgnReader *reader, PgnGame *out, Refusal *err);
const char *pgn_tag(const PgnGame *game, const char *name); // NULL when absent

// Writes the moves in SAN, wrapped at 80 columns as in PGN's export format, and then the result.
// `comment(i, ctx)` returns the comment after move i, or NULL; `comment` may be NULL. Writes at
// most `size` bytes with the final NUL and returns the length of the complete text, as snprintf
// does. There is no line end after the result.
size_t pgn_write_moves(const Game *game, GameResult result,
                       const char *(*comment)(int ply, void *ctx), void *ctx, char *out,
                       size_t size);
// The same in another notation: long algebraic, or UCI.
typedef enum { PGN_SAN, PGN_LAN, PGN_UCI } PgnNotation;
size_t pgn_write_moves_in(PgnNotation notation, const Game *game, GameResult result,
                          const char *(*comment)(int ply, void *ctx), void *ctx, char *out,
                          size_t size);
// Writes one tag pair as a line, with quotes and backslashes escaped. `size` and the returned
// length are as above.
size_t pgn_write_tag(const char *name, const char *value, char *out, size_t size);

// Reads one EPD record: a position (four or six fields) and operations. `ops`, if not NULL, is set
// to the first operation in `line`. The operations hmvc and fmvn set the counters.
bool epd_read(const char *line, bool chess960, Position *pos, const char **ops, Refusal *err);
// Finds operation `name` in `ops` and copies its operand without quotes. False if it is absent or
// too long for `out`.
bool epd_operation(const char *ops, const char *name, char *out, size_t size);
