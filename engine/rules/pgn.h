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
    GameResult result; // as the movetext ends
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

// Movetext in SAN as PGN export format wraps it (80 columns), result token last. `comment(i, ctx)`
// gives the text of the comment after move i, or NULL; may itself be NULL. Writes at most `size`
// bytes with the final NUL and returns the length that the whole would have, as snprintf does. No
// line end follows the result.
size_t pgn_write_moves(const Game *game, GameResult result,
                       const char *(*comment)(int ply, void *ctx), void *ctx, char *out,
                       size_t size);
// The same in another notation: long algebraic, or UCI.
typedef enum { PGN_SAN, PGN_LAN, PGN_UCI } PgnNotation;
size_t pgn_write_moves_in(PgnNotation notation, const Game *game, GameResult result,
                          const char *(*comment)(int ply, void *ctx), void *ctx, char *out,
                          size_t size);
// One tag pair line, quotes and backslashes escaped; same contract.
size_t pgn_write_tag(const char *name, const char *value, char *out, size_t size);

// One EPD record: position (four or six fields) and operations. `ops`, if not NULL, points into
// `line` at the first operation. hmvc and fmvn are honoured.
bool epd_read(const char *line, bool chess960, Position *pos, const char **ops, Refusal *err);
// Finds operation `name` in `ops` and copies its operand, quotes removed. False when absent or too
// long for `out`.
bool epd_operation(const char *ops, const char *name, char *out, size_t size);
