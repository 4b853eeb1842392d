// See pgn_words.h.
#include "server/common/pgn_words.h"

#include <stddef.h>
#include <string.h>

enum { MATE = 1000000, SCORE_CP_MAX = 900000 }; // beyond it is a mate

const char *const game_endings[] = {"rule",  "adjudication", "time",   "illegal",
                                    "crash", "stall",        "ponder", NULL};

const char *pgn_termination(const char *ending) {
    static const char *const words[] = {"normal",          "adjudication", "time forfeit",
                                        "illegal move",    "abandoned",    "stalled connection",
                                        "rules infraction"};
    for (size_t i = 0; game_endings[i]; i++)
        if (strcmp(game_endings[i], ending) == 0)
            return words[i];
    return "unterminated";
}

void pgn_add_score(Str *out, int64_t score, int64_t depth) {
    int64_t size = score < 0 ? -score : score;
    if (size > SCORE_CP_MAX)
        str_printf(out, "%cM%lld/%lld ", score > 0 ? '+' : '-', (long long)(MATE - size),
                   (long long)depth);
    else
        str_printf(out, "%+.2f/%lld ", (double)score / 100, (long long)depth);
}
