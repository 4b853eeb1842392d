// See pgn_out.h.
#include "pgn_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../engine/rules/pgn.h"

enum { MOVES_TEXT_MAX = GAME_PLIES_MAX * 48 };

static void add_tag(Str *out, const char *name, const char *value) {
    char line[PGN_TAG_NAME_MAX + 2 * PGN_TAG_VALUE_MAX + 16], cut[PGN_TAG_VALUE_MAX];
    snprintf(cut, sizeof cut, "%s", value);
    pgn_write_tag(name, cut, line, sizeof line);
    str_puts(out, line);
}

static void add_number_tag(Str *out, const char *name, int value) {
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    add_tag(out, name, text);
}

static const char *termination(GameEndKind kind) {
    switch (kind) {
    case GAME_END_RULE:
        return "normal";
    case GAME_END_ADJUDICATION:
        return "adjudication";
    case GAME_END_TIME:
        return "time forfeit";
    case GAME_END_ILLEGAL:
        return "rules infraction";
    case GAME_END_CRASH:
    case GAME_END_STALL:
        return "abandoned";
    case GAME_END_ABORTED:
        break;
    }
    return "unterminated";
}

static void add_date(Str *out) {
    char text[16];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(text, sizeof text, "%Y.%m.%d", &local);
    add_tag(out, "Date", text);
}

static void add_start(Str *out, const Position *start, bool chess960) {
    char fen[FEN_MAX];
    position_to_fen(start, fen);
    if (chess960)
        add_tag(out, "Variant", "Chess960");
    if (strcmp(fen, POSITION_START_FEN) == 0)
        return;
    add_tag(out, "SetUp", "1");
    add_tag(out, "FEN", fen);
}

typedef struct Comments {
    const GameRecord *record;
    char text[64];
} Comments;

static void score_to_text(int32_t score, char *out, size_t size) {
    int plies = SCORE_MATE - abs(score);
    if (score_is_mate(score))
        snprintf(out, size, "%cM%d", score > 0 ? '+' : '-', plies);
    else
        snprintf(out, size, "%+.2f", score / 100.0);
}

static const char *comment(int ply, void *ctx) {
    Comments *comments = ctx;
    const GameRecord *record = comments->record;
    const MoveRecord *move = &record->moves[ply];
    char score[16];
    if (ply < record->opening_plies)
        return "book";
    double seconds = move->time_us / 1e6;
    if (move->score_cp == SCORE_NONE) {
        snprintf(comments->text, sizeof comments->text, "%.3fs", seconds);
        return comments->text;
    }
    score_to_text(move->score_cp, score, sizeof score);
    snprintf(comments->text, sizeof comments->text, "%s/%d %.3fs", score, move->depth, seconds);
    return comments->text;
}

static void add_moves(Str *out, const GameRecord *record) {
    Comments comments = {.record = record};
    char *text = xmalloc(MOVES_TEXT_MAX);
    pgn_write_moves(&record->game, record->result, comment, &comments, text, MOVES_TEXT_MAX);
    str_puts(out, text);
    free(text);
}

void pgn_out_game(Str *out, const PgnHeader *header, const GameRecord *record) {
    int white = record->white, black = 1 - white;
    add_tag(out, "Event", header->event);
    add_tag(out, "Site", header->site);
    add_date(out);
    add_number_tag(out, "Round", record->pair + 1);
    add_tag(out, "White", header->names[white]);
    add_tag(out, "Black", header->names[black]);
    add_tag(out, "Result", game_result_text(record->result));
    add_start(out, &record->game.start, header->chess960);
    add_number_tag(out, "PlyCount", record->game.plies);
    add_tag(out, "WhiteTimeControl", header->control[white]);
    add_tag(out, "BlackTimeControl", header->control[black]);
    add_tag(out, "Termination", termination(record->kind));
    add_tag(out, "Reason", record->reason);
    str_putc(out, '\n');
    add_moves(out, record);
    str_puts(out, "\n\n");
}
