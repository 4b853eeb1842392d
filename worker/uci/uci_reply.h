// What a UCI engine says, one line at a time, read leniently: the bytes come from a program that
// may be broken or hostile. Lines come without their newline and need no final NUL.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/uci/engine_spec.h"

enum { UCI_WORD_MAX = 16 }; // of a move, with its NUL

typedef enum {
    UCI_OTHER,
    UCI_UCIOK,
    UCI_READYOK,
    UCI_OPTION,
    UCI_BESTMOVE,
    UCI_SCORE,      // info with an exact score of the first line
    UCI_BOUND,      // … with a lower or upper bound only
    UCI_OTHER_INFO, // info without either
} UciKind;

typedef struct UciInfo {
    int32_t score_cp; // SCORE_NONE without one
    int32_t depth, seldepth;
    int64_t nodes;
    int32_t time_ms; // -1 without one
} UciInfo;

UciKind uci_kind(const char *line, size_t size);
void uci_read_info(const char *line, size_t size, UciInfo *out);
// The word after "bestmove", cut to fit, unprintable bytes as '?'; "" when there is none.
void uci_read_bestmove(const char *line, size_t size, char out[UCI_WORD_MAX]);
// Whether this "option" line declares `name` (case is ignored, as UCI wants it).
bool uci_option_is(const char *line, size_t size, const char *name);
