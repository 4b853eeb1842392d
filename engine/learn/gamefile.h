// Files of self-play games. `engine datagen` writes them; the trainer, the tuner and `engine games`
// read them. Every ply is stored with its move and its score; the reader chooses the positions to
// learn from. Numbers are little-endian.
//
// A file has a header of text lines, an empty line, and records to the end of the file:
//
//   anvil games 1
//   engine Anvil 1.0, bench 6 = 123456       the engine that played
//   seed 7                                   seed of the run
//   first 12000                              number of the file's first game in that run
//   limit nodes 5000                         limit of the search for each move
//   net SHA256 | none                        net of the engine; none: the classical evaluation
//   openings 8-9 random plies, …             how games begin
//   ends |score| >= 1500 for 4 plies, …      when games are adjudicated; old files lack this line
//
//   u32 length      number of bytes after the sum
//   u32 sum         CRC-32 of those bytes
//   FEN, NUL        the position after the opening, where the record begins
//   u8 result       half points of White: 0, 1, 2
//   u16 plies
//   plies × { u16 move (rules/types.h), i16 score (centipawns, WHITE's view; mates as score.h) }
//
// If a file was truncated or damaged, the records before that place are valid, because records are
// only appended.
#pragma once

#include <stdio.h>

#include "base/score.h"
#include "rules/game.h"
#include "rules/movegen.h"

enum {
    GAMEFILE_HEADER_MAX = 2048,          // bytes
    GAMEFILE_PLIES_MAX = GAME_PLIES_MAX, // of a record
    GAMEFILE_PAYLOAD_MAX = FEN_MAX + 1 + 2 + 4 * GAMEFILE_PLIES_MAX,
    GAMEFILE_RECORD_MAX = 8 + GAMEFILE_PAYLOAD_MAX,
};

typedef struct GameFileHeader {
    char engine[80], limit[80], net[96], openings[160], ends[80]; // one line each
    uint64_t seed, first;
} GameFileHeader;

typedef struct ScoredMove {
    Move move;
    int16_t score; // White's view; from the search that chose the move
} ScoredMove;

// One game. To visit its positions, play the moves on a copy of `start`: every move is legal. Its
// size is about 8 kB.
typedef struct GameFileRecord {
    Position start;
    int result; // half points of White: 0, 1, 2
    int plies;
    ScoredMove moves[GAMEFILE_PLIES_MAX];
} GameFileRecord;

// The number of plies before move i of the record, by the counters of its FEN. The plies of the
// opening count. A game from a book without counters begins at 0 or 1.
static inline int game_record_ply(const GameFileRecord *game, int i) {
    return 2 * (game->start.fullmove - 1) + (game->start.side == BLACK) + i;
}
// True if the score describes the position itself and not an exchange: the side to move is not in
// check, and the chosen move is neither a capture nor a promotion.
static inline bool scored_move_is_quiet(const Position *pos, Move move) {
    return !pos->checkers && move_kind(move) != MOVE_PROMOTION && !move_is_capture(pos, move);
}

// ---- reading -----------------------------------------------------------------------------------

// Reads one file from the beginning to the end without allocating memory. Close it only after it
// was opened with success.
typedef struct GameReader {
    FILE *in;
    GameFileHeader header;
    uint64_t games;  // complete games read so far
    uint64_t offset; // the end of the last complete game: a damaged file can be truncated here
    uint8_t payload[GAMEFILE_PAYLOAD_MAX];
} GameReader;

typedef enum {
    GAME_READ,   // `out` has the next game; its FEN and all moves are legal
    GAME_END,    // no more games
    GAME_DAMAGED // the rest of the file cannot be read; `err` has the reason and the place
} GameReadStatus;

// On false, `err` has the reason: no such file, not a game file, or a header that cannot be read.
// Call rules_init() before.
bool game_reader_open(GameReader *reader, const char *path, Refusal *err)
    __attribute__((warn_unused_result));
// The same from a stream. The reader closes the stream, also when it fails.
bool game_reader_open_stream(GameReader *reader, FILE *in, Refusal *err)
    __attribute__((warn_unused_result));
GameReadStatus game_reader_next(GameReader *reader, GameFileRecord *out, Refusal *err)
    __attribute__((warn_unused_result));
void game_reader_close(GameReader *reader);

// ---- writing -----------------------------------------------------------------------------------

// Writes the header as text with its empty line and returns its length.
size_t gamefile_write_header(const GameFileHeader *header, char out[GAMEFILE_HEADER_MAX]);
// Writes one record of at most GAMEFILE_PLIES_MAX plies and returns its length in bytes.
size_t gamefile_write_game(const GameFileRecord *game, uint8_t out[GAMEFILE_RECORD_MAX]);
