// The folder that `engine datagen` fills. It holds chunks of 1,000 games: `games-000012.anvil` has
// the games from number 12,000 on. The chunk that is being written has the name
// `games-000012.part`. Games are appended in the order of their numbers, so the file is always a
// valid beginning of the complete chunk. An interrupted run continues after the last complete
// record. There is no other state on disk.
#pragma once

#include <limits.h>

#include "learn/gamefile.h"

enum { CHUNK_GAMES = 1000, CHUNKS_GAMES_MAX = 1000000000 };

// Its size is about 20 kB.
typedef struct Chunks {
    char folder[PATH_MAX];
    int lock;              // the open folder; a second run cannot lock it
    GameFileHeader header; // of every chunk, except for the field `first`
    uint64_t games;        // games that the run wants
    uint16_t *have;        // for each chunk, the number of games at the start
    FILE *part;            // the current chunk; NULL between two chunks
    GameReader reader;     // temporary memory
    GameFileRecord game;
} Chunks;

// Creates the folder if it does not exist, and reads which games it has. On false, `err` has the
// reason; for example, the folder belongs to a run with other settings, or another run is using it
// now.
bool chunks_open(Chunks *chunks, const char *folder, const GameFileHeader *header, uint64_t games,
                 Refusal *err) __attribute__((warn_unused_result));
void chunks_close(Chunks *chunks);

// The number of the first missing game from `number` on; chunks->games if none is missing.
uint64_t chunks_missing(const Chunks *chunks, uint64_t number);
// How many games of this run the folder had at the start.
uint64_t chunks_present(const Chunks *chunks);

// Appends a record (from gamefile_write_game). The games must come in the order of
// chunks_missing(). A chunk that has all its games gets its final name. On false, `err` has the
// error of the disk.
bool chunks_append(Chunks *chunks, uint64_t number, const uint8_t *record, size_t size,
                   Refusal *err) __attribute__((warn_unused_result));
