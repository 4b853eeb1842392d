// Writes finished games of a match as PGN. engine/rules/pgn.h reads PGN.
#pragma once

#include "engine/rules/pgn.h"
#include "server/common/str.h"
#include "worker/match/match_spec.h"

// The values that comments of moves have in addition to {+0.23/12 1.234s}.
typedef struct PgnFormat {
    PgnNotation notation;
    bool minimal; // no comments, and only the tags that the standard requires
    bool nodes, seldepth, nps, hashfull, tbhits, time_left, latency, pv;
} PgnFormat;

// Whether the format needs the engines' info lines (MatchSpec.keep_info).
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
