// `games`: the contents of game files. Without an option it prints totals. --check reads every file
// to its end and checks the results as well, --pgn prints the games, and --epd prints the useful
// positions for other programs.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "learn/gamefile.h"
#include "learn/meter.h"
#include "learn/train_set.h"
#include "rules/error.h"
#include "rules/pgn.h"

enum {
    SANE_POSITIONS = 1000, // with fewer positions the correlation is not checked
    GAME_PGN_MAX = 1 << 18,
};
static const double SANE_CORRELATION = 0.4;

typedef struct GamesTotals {
    uint64_t games, positions, results[3], quiet, useful;
    Correlation sums; // of score and result
} GamesTotals;

typedef struct GamesTask {
    GameReader reader;
    GameFileRecord game;
    Game replayed;
    GamesTotals totals;
    char comment[16], text[GAME_PGN_MAX];
} GamesTask;

// Called for each game. On false, `err` says what is wrong with the game.
typedef bool GameVisit(GamesTask *task, Refusal *err);

static const GameResult RESULTS[] = {RESULT_BLACK_WINS, RESULT_DRAW, RESULT_WHITE_WINS};

// ---- statistics --------------------------------------------------------------------------------

static int clamp(int value, int most) {
    return value > most ? most : value < -most ? -most : value;
}

// True if the trainer may learn from move i of the game, played on `pos`, provided that it is
// quiet.
static bool is_useful(const GameFileRecord *game, int i) {
    return game_record_ply(game, i) >= TRAIN_PLIES_LEAST &&
           abs(game->moves[i].score) <= TRAIN_SCORE_MOST;
}

static bool game_add(GamesTask *task, Refusal *err) {
    const GameFileRecord *game = &task->game;
    GamesTotals *totals = &task->totals;
    Position pos = game->start;
    (void)err;
    for (int i = 0; i < game->plies; i++) {
        ScoredMove played = game->moves[i];
        Undo undo;
        bool quiet = scored_move_is_quiet(&pos, played.move);
        totals->quiet += quiet;
        totals->useful += quiet && is_useful(game, i);
        correlation_add(&totals->sums, clamp(played.score, TRAIN_SCORE_MOST), game->result - 1);
        position_make(&pos, played.move, &undo);
    }
    totals->games++;
    totals->results[game->result]++;
    totals->positions += (uint64_t)game->plies;
    return true;
}

static double share(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

// False if the numbers cannot come from correct data.
static bool totals_print(const GamesTotals *totals, int files) {
    char games[METER_TEXT_MAX], positions[METER_TEXT_MAX];
    double correlation = correlation_of(&totals->sums);
    printf("files        %d\ngames        %s\n", files, meter_count(totals->games, games));
    printf("positions    %s, %.1f a game\n", meter_count(totals->positions, positions),
           share(totals->positions, totals->games));
    printf("results      +%" PRIu64 " =%" PRIu64 " -%" PRIu64 " for White, %.1f %%\n",
           totals->results[2], totals->results[1], totals->results[0],
           50 * share(2 * totals->results[2] + totals->results[1], totals->games));
    printf("quiet        %.1f %%: not in check, and the move is no capture and no promotion\n",
           100 * share(totals->quiet, totals->positions));
    printf("useful       %.1f %%: quiet, from ply %d on, |score| <= %d\n",
           100 * share(totals->useful, totals->positions), TRAIN_PLIES_LEAST, TRAIN_SCORE_MOST);
    printf("correlation  %.3f of score and result\n", correlation);
    if (totals->positions < SANE_POSITIONS || correlation > SANE_CORRELATION)
        return true;
    fprintf(stderr, "anvil: games: the correlation of score and result is too low: data with such "
                    "errors is useless for training\n");
    return false;
}

// ---- replay ------------------------------------------------------------------------------------

static void game_replay(GamesTask *task) {
    game_init(&task->replayed, &task->game.start);
    for (int i = 0; i < task->game.plies; i++)
        game_play(&task->replayed, task->game.moves[i].move);
}

// Checks the result: it must follow from the rules or, if the game was adjudicated, agree with the
// last score.
static bool game_check(GamesTask *task, Refusal *err) {
    const GameFileRecord *game = &task->game;
    if (game->plies == 0)
        return refused(err, "game %" PRIu64 " has no move", task->reader.games - 1);
    game_replay(task);
    GameEnd end = game_end(&task->replayed);
    GameResult result = RESULTS[game->result];
    int last = game->moves[game->plies - 1].score;
    bool fits = end != END_NONE               ? result == game_result(&task->replayed, end)
                : result == RESULT_WHITE_WINS ? last > 0
                : result == RESULT_BLACK_WINS ? last < 0
                                              : true;
    if (!fits)
        return refused(err, "game %" PRIu64 " has the result %s, but its end is: %s, last score %d",
                       task->reader.games - 1, game_result_text(result), game_end_text(end), last);
    task->totals.games++;
    return true;
}

static const char *score_comment(int ply, void *context) {
    GamesTask *task = context;
    snprintf(task->comment, sizeof task->comment, "%+.2f", task->game.moves[ply].score / 100.0);
    return task->comment;
}

static void print_tag(GamesTask *task, const char *name, const char *value) {
    pgn_write_tag(name, value, task->text, sizeof task->text);
    fputs(task->text, stdout);
}

static bool game_print(GamesTask *task, Refusal *err) {
    char number[24], fen[FEN_MAX];
    GameResult result = RESULTS[task->game.result];
    snprintf(number, sizeof number, "%" PRIu64, task->reader.header.first + task->reader.games - 1);
    game_replay(task);
    print_tag(task, "Event", "Self-play");
    print_tag(task, "Round", number);
    print_tag(task, "White", task->reader.header.engine);
    print_tag(task, "Black", task->reader.header.engine);
    print_tag(task, "Result", game_result_text(result));
    if (task->game.start.chess960)
        print_tag(task, "Variant", "Chess960");
    print_tag(task, "SetUp", "1");
    print_tag(task, "FEN", position_to_fen(&task->game.start, fen));
    size_t size = pgn_write_moves(&task->replayed, result, score_comment, task, task->text,
                                  sizeof task->text);
    printf("\n%s\n\n", task->text);
    return size < sizeof task->text || refused(err, "a game is too long to print");
}

// Prints a line for each useful position: EPD with its counters, `ce` for the score of the side to
// move, and `c9` for the game's result.
static bool game_print_positions(GamesTask *task, Refusal *err) {
    const GameFileRecord *game = &task->game;
    Position pos = game->start;
    (void)err;
    for (int i = 0; i < game->plies; i++) {
        ScoredMove played = game->moves[i];
        char fen[FEN_MAX];
        Undo undo;
        if (scored_move_is_quiet(&pos, played.move) && is_useful(game, i)) {
            int score = pos.side == WHITE ? played.score : -played.score;
            printf("%s ce %d; c9 \"%s\";\n", position_to_fen(&pos, fen), score,
                   game_result_text(RESULTS[game->result]));
        }
        position_make(&pos, played.move, &undo);
    }
    return true;
}

// ---- the command -------------------------------------------------------------------------------

// Visits all games of a file. Errors are printed on stderr.
static bool file_visit(GamesTask *task, const char *path, GameVisit *visit) {
    Refusal err;
    GameReadStatus status = GAME_DAMAGED;
    bool is_good = game_reader_open(&task->reader, path, &err);
    if (is_good) {
        while (is_good &&
               (status = game_reader_next(&task->reader, &task->game, &err)) == GAME_READ)
            is_good = visit(task, &err);
        game_reader_close(&task->reader);
    }
    if (is_good && status == GAME_END)
        return true;
    fprintf(stderr, "anvil: games: %s: %s\n", path, err.message);
    return false;
}

static bool files_visit(GamesTask *task, int count, char **paths, GameVisit *visit) {
    bool are_good = true;
    for (int i = 0; i < count; i++) {
        uint64_t before = task->totals.games;
        bool is_good = file_visit(task, paths[i], visit);
        if (visit == game_check && is_good)
            printf("%s: %" PRIu64 " games, all correct\n", paths[i], task->totals.games - before);
        are_good &= is_good;
    }
    if (visit == game_add)
        are_good &= totals_print(&task->totals, count);
    return are_good;
}

const char GAMES_USAGE[] = "usage: games [--pgn | --epd | --check] FILE …\n"
                           "Prints totals over all games in files of datagen. Instead of totals:\n"
                           "  --pgn     prints the games as PGN\n"
                           "  --epd     prints the useful positions, each with score and result\n"
                           "  --check   checks all checksums, moves and results\n";

int command_games(int argc, char **argv) {
    GameVisit *visit = game_add;
    if (argc > 0 && strcmp(argv[0], "--pgn") == 0)
        visit = game_print;
    else if (argc > 0 && strcmp(argv[0], "--epd") == 0)
        visit = game_print_positions;
    else if (argc > 0 && strcmp(argv[0], "--check") == 0)
        visit = game_check;
    int options = visit != game_add;
    if (argc <= options || argv[options][0] == '-')
        return COMMAND_MISUSED;
    rules_init();
    GamesTask *task = calloc(1, sizeof *task);
    bool are_good = task && files_visit(task, argc - options, argv + options, visit);
    free(task);
    return are_good ? 0 : 1;
}
