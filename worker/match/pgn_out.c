// See pgn_out.h.
#include "worker/match/pgn_out.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/common/pgn_words.h"
#include "worker/match/game_record.h"
#include "worker/match/games_json.h"

// A comment holds at most one line of an engine, of 1 KiB, and numbers.
enum { COMMENT_MAX = 2048, MOVE_TEXT_USUAL = 128 };

bool pgn_format_needs_info(const PgnFormat *format) {
    return format->hashfull || format->tbhits || format->pv;
}

// ---- tags ---------------------------------------------------------------------------------------

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

static void add_time(Str *out, const char *name, const char *format, int64_t at_us) {
    char text[64];
    time_t seconds = (time_t)(at_us / 1000000);
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(text, sizeof text, format, &local);
    add_tag(out, name, text);
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

static void add_times(Str *out, const GameRecord *record) {
    char text[32];
    long seconds = (long)(record->lasted_us / 1000000);
    snprintf(text, sizeof text, "%02ld:%02ld:%02ld", seconds / 3600, seconds / 60 % 60,
             seconds % 60);
    add_tag(out, "GameDuration", text);
    add_time(out, "GameStartTime", "%Y-%m-%dT%H:%M:%S %z", record->started_us);
    add_time(out, "GameEndTime", "%Y-%m-%dT%H:%M:%S %z", record->started_us + record->lasted_us);
}

static void add_details(Str *out, const PgnHeader *header, int white, int black,
                        const GameRecord *record) {
    add_times(out, record);
    add_number_tag(out, "PlyCount", record->game.plies);
    if (strcmp(header->controls[white], header->controls[black]) == 0) {
        add_tag(out, "TimeControl", header->controls[white]);
    } else {
        add_tag(out, "WhiteTimeControl", header->controls[white]);
        add_tag(out, "BlackTimeControl", header->controls[black]);
    }
    add_tag(out, "Termination", pgn_termination(game_end_name(record->kind)));
    add_tag(out, "Reason", record->reason);
    if (record->overloaded)
        add_tag(out, "Overloaded", "the machine was busy elsewhere");
}

// ---- comments -----------------------------------------------------------------------------------

typedef struct Comments {
    const GameRecord *record;
    const PgnFormat *format;
    int64_t left_us[GAME_PLIES_MAX];
    Str text;
} Comments;

static void add_counts(Str *out, const PgnFormat *format, const MoveRecord *move) {
    if (format->nodes)
        str_printf(out, ", n=%lld", (long long)move->nodes);
    if (format->seldepth)
        str_printf(out, ", sd=%d", move->seldepth);
    if (format->nps)
        str_printf(out, ", nps=%.0f",
                   move->time_us > 0 ? (double)move->nodes * 1e6 / move->time_us : 0.0);
}

static void add_info(Str *out, const PgnFormat *format, const GameRecord *record, int ply) {
    const char *pv;
    if (format->hashfull) {
        int64_t permille = record_info_number(record, ply, "hashfull");
        str_printf(out, ", hashfull=%lld", (long long)(permille > 0 ? permille : 0));
    }
    if (format->tbhits) {
        int64_t hits = record_info_number(record, ply, "tbhits");
        str_printf(out, ", tbhits=%lld", (long long)(hits > 0 ? hits : 0));
    }
    if (!format->pv)
        return;
    size_t size = record_info_pv(record, ply, &pv);
    str_puts(out, ", pv=\"");
    str_add(out, pv ? pv : "", size);
    str_putc(out, '"');
}

static const char *comment(int ply, void *ctx) {
    Comments *comments = ctx;
    const GameRecord *record = comments->record;
    const MoveRecord *move = &record->moves[ply];
    const PgnFormat *format = comments->format;
    Str *out = &comments->text;
    int64_t latency_us;
    str_clear(out);
    if (ply < record->opening_plies)
        return "book";
    if (move->score_cp != UCI_SCORE_NONE)
        pgn_add_score(out, move->score_cp, move->depth);
    str_printf(out, "%.3fs", move->time_us / 1e6);
    if (format->time_left && comments->left_us[ply] >= 0)
        str_printf(out, ", tl=%.3fs", (double)comments->left_us[ply] / 1e6);
    if (format->latency && record_latency_us(move, &latency_us))
        str_printf(out, ", latency=%.3fs", (double)latency_us / 1e6);
    add_counts(out, format, move);
    add_info(out, format, record, ply);
    if (ply == record->game.plies - 1)
        str_printf(out, ", %s", record->reason);
    return out->data;
}

// ---- a game -------------------------------------------------------------------------------------

static void add_moves(Str *out, const PgnFormat *format, const EngineSpec *engines,
                      const GameRecord *record) {
    scope(free_ptr) Comments *comments = xmalloc(sizeof *comments);
    *comments = (Comments){.record = record, .format = format};
    str_init(&comments->text, COMMENT_MAX);
    if (format->time_left)
        record_clocks(record, engines, comments->left_us);
    const char *(*say)(int, void *) = format->minimal ? NULL : comment;
    size_t room = (size_t)record->game.plies * MOVE_TEXT_USUAL + MOVE_TEXT_USUAL;
    scope(free_ptr) char *text = xmalloc(room);
    size_t size = pgn_write_moves_in(format->notation, &record->game, record->result, say, comments,
                                     text, room);
    if (size >= room) {
        text = xrealloc(text, size + 1);
        pgn_write_moves_in(format->notation, &record->game, record->result, say, comments, text,
                           size + 1);
    }
    str_puts(out, text);
    str_release(&comments->text);
}

void pgn_out_game(Str *out, const PgnHeader *header, const GameRecord *record) {
    int white = record->players[record->white], black = record->players[1 - record->white];
    add_tag(out, "Event", header->event);
    add_tag(out, "Site", header->site);
    add_time(out, "Date", "%Y.%m.%d", record->started_us);
    add_number_tag(out, "Round", record->pair / header->pairing_count + 1);
    add_tag(out, "White", header->engines[white].name);
    add_tag(out, "Black", header->engines[black].name);
    add_tag(out, "Result", game_result_text(record->result));
    add_start(out, &record->game.start, header->chess960);
    if (!header->format.minimal)
        add_details(out, header, white, black, record);
    str_putc(out, '\n');
    add_moves(out, &header->format, header->engines, record);
    str_puts(out, "\n\n");
}

void epd_out_game(Str *out, const GameRecord *record) {
    char fen[FEN_MAX];
    position_to_fen(&record->game.now, fen);
    size_t at = 0;
    for (int field = 0; field < 4; field++)
        at += strcspn(fen + at, " ") + 1;
    str_add(out, fen, at);
    str_printf(out, "hmvc %d; fmvn %d;\n", record->game.now.rule50, record->game.now.fullmove);
}
