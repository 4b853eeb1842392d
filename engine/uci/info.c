// Writes UCI's `info` line from a report of the search.
#include "uci/info.h"

#include <stdarg.h>
#include <stdio.h>

#include "rules/notation.h"

typedef struct InfoLine {
    char *text;
    size_t length, size;
} InfoLine;

__attribute__((format(printf, 2, 3))) static void line_add(InfoLine *line, const char *format,
                                                           ...) {
    va_list args;
    va_start(args, format);
    int written = vsnprintf(line->text + line->length, line->size - line->length, format, args);
    va_end(args);
    if (written > 0)
        line->length += (size_t)written;
    if (line->length >= line->size)
        line->length = line->size - 1;
}

static void add_score(InfoLine *line, Score score, Bound bound) {
    if (score >= SCORE_MATE_LEAST)
        line_add(line, " score mate %d", (SCORE_MATE - score + 1) / 2);
    else if (score <= -SCORE_MATE_LEAST)
        line_add(line, " score mate %d", -(SCORE_MATE + score) / 2);
    else
        line_add(line, " score cp %d", score);
    if (bound == BOUND_LOWER || bound == BOUND_UPPER)
        line_add(line, bound == BOUND_LOWER ? " lowerbound" : " upperbound");
}

static void add_moves(InfoLine *line, const Position *start, const Move *moves, int count) {
    Position pos = *start;
    char text[MOVE_TEXT_MAX];
    Undo undo;
    for (int i = 0; i < count; i++) {
        line_add(line, " %s", move_to_uci(&pos, moves[i], text));
        position_make(&pos, moves[i], &undo);
    }
}

char *uci_info_text(const Root *root, const SearchInfo *info, char out[UCI_INFO_MAX]) {
    InfoLine line = {out, 0, UCI_INFO_MAX};
    uint64_t time_us = info->time_us > 0 ? (uint64_t)info->time_us : 1;
    line_add(&line, "info depth %d seldepth %d multipv %d", info->depth, info->seldepth,
             info->multi_pv);
    add_score(&line, info->score, info->bound);
    line_add(&line, " nodes %llu nps %llu hashfull %d time %llu pv",
             (unsigned long long)info->nodes, (unsigned long long)(info->nodes * 1000000 / time_us),
             info->hash_permille, (unsigned long long)(time_us / 1000));
    add_moves(&line, &root->pos, info->pv, info->pv_length);
    return out;
}
