// See pv.h.
#include "worker/match/pv.h"

#include <stdio.h>
#include <string.h>

bool pv_next(PvText *pv, char text[UCI_WORD_MAX]) {
    static const char *const others[] = {
        "string",         "score",   "nodes",      "time",     "nps",      "depth",
        "seldepth",       "multipv", "wdl",        "hashfull", "currmove", "tbhits",
        "currmovenumber", "cpuload", "refutation", "currline"};
    size_t size = 0;
    while (pv->at < pv->end && (unsigned char)*pv->at <= ' ')
        pv->at++;
    for (; pv->at < pv->end && (unsigned char)*pv->at > ' '; pv->at++)
        if (size < UCI_WORD_MAX - 1)
            text[size++] = *pv->at > ' ' && *pv->at < 127 ? *pv->at : '?';
    text[size] = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(text, others[i], UCI_WORD_MAX - 1) == 0)
            return false;
    return size > 0;
}

// A string is the last part of a line, and may hold any word.
PvText pv_text(const char *info, size_t size) {
    const char *at = memmem(info, size, " pv ", 4), *string = memmem(info, size, " string ", 8);
    if (!at || (string && string < at))
        return (PvText){NULL, NULL};
    return (PvText){at + 4, info + size};
}

// A mate in n moves takes 2n - 1 plies if the mover mates, 2n if the opponent does.
static bool mate_problem(int32_t score, int plies, GameEnd end, char problem[PV_PROBLEM_MAX]) {
    int wanted = score > 0 ? UCI_SCORE_MATE - score : UCI_SCORE_MATE + score;
    if (plies == wanted && end == END_CHECKMATE)
        return false;
    snprintf(problem, PV_PROBLEM_MAX, "Mate announced in %d plies but the PV %s", wanted,
             plies < wanted   ? "ends before it"
             : plies > wanted ? "is longer"
                              : "does not end in mate");
    return true;
}

// Plays the PV on `game`.
static bool walk(Game *game, PvText pv, int32_t score, bool bound, Move played,
                 char problem[PV_PROBLEM_MAX]) {
    char text[UCI_WORD_MAX];
    GameEnd end = END_NONE;
    int plies = 0;
    while (pv_next(&pv, text)) {
        if (end != END_NONE)
            return snprintf(problem, PV_PROBLEM_MAX, "PV goes on after %s", game_end_text(end)) > 0;
        Move move = move_from_uci(&game->now, text);
        if (move == MOVE_NONE)
            return snprintf(problem, PV_PROBLEM_MAX, "Illegal PV move %s", text) > 0;
        if (plies == 0 && !bound && move != played)
            return snprintf(problem, PV_PROBLEM_MAX, "Bestmove is not the first move of the PV, %s",
                            text) > 0;
        game_play(game, move);
        plies++;
        end = game_end(game);
    }
    return plies && !bound && uci_score_is_mate(score) && mate_problem(score, plies, end, problem);
}

bool pv_problem(Game *game, const char *info, size_t size, bool bound, Move played,
                char problem[PV_PROBLEM_MAX]) {
    PvText pv = pv_text(info, size);
    if (!pv.at)
        return false;
    UciInfo said;
    uci_read_info(info, size, &said);
    Position now = game->now;
    int plies = game->plies;
    bool wrong = walk(game, pv, said.score_cp, bound, played, problem);
    game->now = now;
    game->plies = plies;
    return wrong;
}
