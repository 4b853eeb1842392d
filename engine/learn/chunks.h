// The folder that `engine datagen` fills. It holds chunks of 1,000 games: `games-000012.anvil` has
// the games from number 12,000 on. The chunk that is being written has the name `games-000012.part`
// and gets the games in the order of their numbers, so at every moment it is a valid beginning of
// the whole chunk. A run that was interrupted continues after the last complete record. There is no
// other state on disk.
#pragma once

#include <limits.h>

#include "learn/gamefile.h"

enum { CHUNK_GAMES = 1000, CHUNKS_GAMES_MAX = 1000000000 };

// About 20 kB.
typedef struct Chunks {
    char folder[PATH_MAX];
    int lock;              // the open folder; no second run gets it
    GameFileHeader header; // of every chunk, but for `first`
    uint64_t games;        // that the run is to have
    uint16_t *have;        // of each chunk, games that were there at the start
    FILE *part;            // being written; NULL between two
    GameReader reader;     // scratch
    GameFileRecord game;
} Chunks;

// Makes the folder if it is missing, and looks at what is there. False: `err` says why, as when the
// folder is another run's: one with other settings, or one that is at work now.
bool chunks_open(Chunks *chunks, const char *folder, const GameFileHeader *header, uint64_t games,
                 Refusal *err) __attribute__((warn_unused_result));
void chunks_close(Chunks *chunks);

// The number of the first missing game from `number` on; chunks->games when none is.
uint64_t chunks_missing(const Chunks *chunks, uint64_t number);
// Games that were there at the start, of those that the run is to have.
uint64_t chunks_present(const Chunks *chunks);

// Appends a record (of gamefile_write_game). Games come in the order that chunks_missing names
// them. A chunk that has all its games gets its final name. False: `err` says what the disk said.
bool chunks_append(Chunks *chunks, uint64_t number, const uint8_t *record, size_t size,
                   Refusal *err) __attribute__((warn_unused_result));
