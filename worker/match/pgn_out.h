// Finished games of a match as PGN. Reading PGN is engine/rules/pgn.h's.
#pragma once

#include "engine/rules/pgn.h"
#include "server/common/str.h"
#include "worker/match/match_spec.h"

// What is told of every move beyond {+0.23/12 1.234s}.
typedef struct PgnFormat {
    PgnNotation notation;
    bool minimal; // no comments, and the tags that the standard wants
    bool nodes, seldepth, nps, hashfull, tbhits, time_left, latency, pv;
} PgnFormat;

// Whether a format shows what only an engine's info lines hold (MatchSpec.keep_info).
bool pgn_format_needs_info(const PgnFormat *format);

typedef struct PgnHeader {
    const char *event, *site;
    const EngineSpec *engines;   // as in MatchSpec
    const char *const *controls; // their time controls as text
    int pairing_count;           // of a round
    bool chess960;
    PgnFormat format;
} PgnHeader;

// Appends one game.
void pgn_out_game(Str *out, const PgnHeader *header, const GameRecord *record);
// Appends the final position as a line of EPD.
void epd_out_game(Str *out, const GameRecord *record);
