// Games of the archive as PGN: see game_files.h. The players are the two sides of the test, by
// engine and commit.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine/rules/pgn.h"
#include "server/common/json_member.h"
#include "server/common/pgn_words.h"
#include "server/common/time_control.h"
#include "server/common/visible.h"
#include "server/pages/game_files.h"

// Of a move with its number, and of its comment: five numbers of at most 20 characters each.
enum { COMMENT_MAX = 200, MOVE_ROOM = 256, SHA_SHOWN = 8 };

// The sides by colour: 0 is White.
typedef struct Pgn {
    const ArchivedGame *game;
    TimeControl clocks[2];
    int opening; // plies of it
    bool black_first;
    double left_ms[2];
    int moved[2];
    Str comment;
} Pgn;

static void pgn_release(Pgn *pgn) {
    str_release(&pgn->comment);
}

// ---- tags ---------------------------------------------------------------------------------------

// The value comes from people or machines: one line, cut at what readers of PGN take.
static void add_tag(Str *out, const char *name, const char *value) {
    char shown[PGN_TAG_VALUE_MAX], line[PGN_TAG_NAME_MAX + 2 * PGN_TAG_VALUE_MAX + 16];
    visible_copy(shown, sizeof shown, value, strlen(value), false);
    pgn_write_tag(name, shown, line, sizeof line);
    str_puts(out, line);
}

__attribute__((format(printf, 3, 4))) static void add_words(Str *out, const char *name,
                                                            const char *format, ...) {
    va_list args;
    char value[PGN_TAG_VALUE_MAX];
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    add_tag(out, name, value);
}

// The day on which the batch arrived, in UTC.
static void add_date(Str *out, double received) {
    char text[32];
    time_t seconds = (time_t)received;
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(text, sizeof text, "%Y.%m.%d", &utc);
    add_tag(out, "Date", text);
}

static void add_player(Str *out, const char *color, const SqlArchiveBatches *b, bool is_new) {
    const char *engine = is_new ? b->new_engine : b->base_engine;
    const char *sha = is_new ? b->new_sha : b->base_sha;
    add_words(out, color, "%s %.*s (%s)", engine ? engine : "?", SHA_SHOWN, sha ? sha : "",
              is_new ? "new" : "base");
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

static void add_controls(Str *out, const Pgn *pgn) {
    char white[TC_TEXT_MAX], black[TC_TEXT_MAX];
    tc_text(&pgn->clocks[0], white);
    tc_text(&pgn->clocks[1], black);
    if (strcmp(white, black) == 0) {
        add_tag(out, "TimeControl", white);
        return;
    }
    add_tag(out, "WhiteTimeControl", white);
    add_tag(out, "BlackTimeControl", black);
}

static void add_place(Str *out, const ArchivedGame *game) {
    const SqlArchiveBatches *b = game->batch;
    add_words(out, "Test", "%lld", (long long)b->test);
    add_words(out, "Task", "%lld", (long long)b->task);
    add_words(out, "Batch", "%lld", (long long)b->seq);
    add_words(out, "Pair", "%lld", (long long)(b->first_pair + game->number / 2));
    add_words(out, "Game", "%d", game->number % 2);
    add_words(out, "Machine", "%lld", (long long)b->machine);
    if (game->opening >= 0)
        add_words(out, "BookOpening", "%lld", (long long)game->opening + 1);
    add_tag(out, "Counts", b->counts);
}

static void add_tags(Str *out, const Pgn *pgn, const Game *moves) {
    const ArchivedGame *game = pgn->game;
    const SqlArchiveBatches *b = game->batch;
    const GameLine *line = &game->line;
    add_words(out, "Event", "Test %lld: %s", (long long)b->test, b->title);
    add_tag(out, "Site", b->machine_name);
    add_date(out, b->received);
    add_words(out, "Round", "%lld.%d", (long long)(b->first_pair + game->number / 2 + 1),
              game->number % 2 + 1);
    add_player(out, "White", b, line->new_is_white);
    add_player(out, "Black", b, !line->new_is_white);
    add_tag(out, "Result", game_result_text(game_result_read(line->result)));
    add_start(out, &moves->start, b->chess960);
    add_controls(out, pgn);
    add_words(out, "PlyCount", "%d", moves->plies);
    add_tag(out, "Termination", pgn_termination(line->end));
    add_tag(out, "Ending", line->end);
    add_tag(out, "Reason", member_text(game->json, "reason"));
    add_place(out, game);
}

// ---- comments -----------------------------------------------------------------------------------

static int64_t value_at(const Pgn *pgn, GameListName list, int ply) {
    const GameText *text = pgn->game->text;
    return ply < text->counts[list] ? text->values[list][ply] : GAME_LIST_NULL;
}

static void add_clock(Str *out, int64_t left_ms) {
    int64_t s = left_ms / 1000;
    str_printf(out, ", [%%clk %lld:%02d:%02d.%03d]", (long long)(s / 3600), (int)(s / 60 % 60),
               (int)(s % 60), (int)(left_ms % 1000));
}

// What a move took is what its clock had, and got for the move, and has not left. Only a clock
// tells it.
static void add_time(Pgn *pgn, int color, int ply) {
    const TimeControl *tc = &pgn->clocks[color];
    int64_t left = value_at(pgn, LIST_CLOCKS, ply);
    if (tc->base_s <= 0 || left == GAME_LIST_NULL)
        return;
    bool period = tc->moves && ++pgn->moved[color] % tc->moves == 0;
    double got = 1000 * (tc->increment_s + (period ? tc->base_s : 0));
    double took = fmax(pgn->left_ms[color] + got - (double)left, 0);
    pgn->left_ms[color] = (double)left;
    str_printf(&pgn->comment, "%.3fs", took / 1000);
}

static void pgn_begin(Pgn *pgn) {
    for (int color = 0; color < 2; color++) {
        pgn->left_ms[color] = 1000 * pgn->clocks[color].base_s;
        pgn->moved[color] = 0;
    }
}

static const char *comment(int at, void *ctx) {
    Pgn *pgn = ctx;
    Str *out = &pgn->comment;
    int ply = at - pgn->opening, color = (at + pgn->black_first) % 2;
    if (at == 0)
        pgn_begin(pgn);
    if (ply < 0)
        return "book";
    int64_t score = value_at(pgn, LIST_SCORES, ply), left = value_at(pgn, LIST_CLOCKS, ply);
    str_clear(out);
    if (score != GAME_LIST_NULL)
        pgn_add_score(out, score, value_at(pgn, LIST_DEPTHS, ply));
    add_time(pgn, color, ply);
    str_printf(out, "%sn=%lld", out->size && out->data[out->size - 1] == 's' ? ", " : "",
               (long long)value_at(pgn, LIST_NODES, ply));
    if (pgn->clocks[color].base_s > 0 && left >= 0)
        add_clock(out, left);
    return out->data;
}

// ---- a game -------------------------------------------------------------------------------------

static bool read_clocks(Pgn *pgn, Error *err) {
    const SqlArchiveBatches *b = pgn->game->batch;
    ClockScale scale = {b->reference_speed, b->scale_min, b->scale_max};
    int of_new = !pgn->game->line.new_is_white;
    const char *base = b->base_tc ? b->base_tc : b->new_tc;
    return clock_scale_apply(&scale, b->new_tc, b->speed, &pgn->clocks[of_new], err) &&
           clock_scale_apply(&scale, base, b->speed, &pgn->clocks[!of_new], err);
}

static bool set_up(Pgn *pgn, Game *moves, Error *err) {
    const ArchivedGame *game = pgn->game;
    if (!game_set_up(moves, &game->line, game->batch->chess960, game->number, err))
        return false;
    pgn->opening = moves->plies;
    pgn->black_first = moves->start.side == BLACK;
    return game_play_text(moves, game->line.moves, game->number, "the game", err);
}

// Readers look for "[%clk 0:00:09.980]" as one piece. Where the writer wrapped the line within it,
// the line ends before it instead.
static void join_clocks(char *text) {
    static const char broken[] = "[%clk\n";
    for (char *p = text; (p = strstr(p, broken));) {
        p[-1] = '\n';
        p += sizeof broken - 2;
        *p = ' ';
    }
}

bool game_file_pgn(Str *out, const ArchivedGame *game, Error *err) {
    Pgn pgn scope(pgn_release) = {.game = game};
    Game *moves scope(free_ptr) = xmalloc(sizeof *moves);
    str_init(&pgn.comment, COMMENT_MAX);
    if (!read_clocks(&pgn, err) || !set_up(&pgn, moves, err))
        return false;
    size_t room = (size_t)(moves->plies + 1) * MOVE_ROOM;
    char *text scope(free_ptr) = xmalloc(room);
    if (pgn_write_moves(moves, game_result_read(game->line.result), comment, &pgn, text, room) >=
        room)
        return game_is_wrong(err, game->number, "its moves are too long");
    join_clocks(text);
    add_tags(out, &pgn, moves);
    str_putc(out, '\n');
    str_puts(out, text);
    str_puts(out, "\n\n");
    return true;
}
