// Parses the output of a UCI engine, one line at a time. Every sequence of bytes is accepted,
// because the engine may be broken or hostile. Lines have no newline and need no final NUL.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/uci/engine_spec.h"

enum { UCI_WORD_MAX = 16 }; // bytes of a move, with its NUL

typedef enum {
    UCI_OTHER,
    UCI_UCIOK,
    UCI_READYOK,
    UCI_OPTION,
    UCI_BESTMOVE,
    UCI_SCORE,      // info with an exact score of the first principal variation
    UCI_BOUND,      // info with a lower or upper bound of that score
    UCI_OTHER_INFO, // other info
} UciKind;

typedef struct UciInfo {
    int32_t score_cp; // UCI_SCORE_NONE without one
    int32_t depth, seldepth;
    int64_t nodes;
    int32_t time_ms; // -1 without one
} UciInfo;

UciKind uci_kind(const char *line, size_t size);
// Whether this info line tells the first principal variation.
bool uci_has_pv(const char *line, size_t size);
void uci_read_info(const char *line, size_t size, UciInfo *out);
// The word after "bestmove", truncated to fit, with '?' for unprintable bytes; "" if there is none.
void uci_read_bestmove(const char *line, size_t size, char out[UCI_WORD_MAX]);
// Whether this "option" line declares `name`, without regard to case, as in UCI.
bool uci_option_is(const char *line, size_t size, const char *name);
