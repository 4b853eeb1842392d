// played: prints the games of a batch, as a worker uploads them, that stand a replay: tests of the
// server need games, and no engine. It reads a JSON object from standard input:
//   {"first_pair": 640, "outcomes": "2134", "openings": [{"fen","moves"}, …], "seed": 1,
//    "tc": "10.000+0.100", "adjudication": {…}, "chess960": false, "plies": 150,
//    "think_ms": 200}
// The outcomes are half points of the new side. A game that is won ends when the loser's scores say
// so, and the others by repetition. "plies": of random moves before that, 0 if absent. "think_ms":
// the longest that an engine thinks about a move, 0 if absent.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rules/game.h"
#include "engine/rules/movegen.h"
#include "engine/rules/notation.h"
#include "server/common/time_control.h"
#include "server/ledger/replay.h"

enum { PLIES_MAX = 400, WON_CP = 2000, LEVEL_CP = 100 };

static uint64_t seed;
static int plies_before, think_ms;

// splitmix64 (Steele, Lea and Flood 2014).
static int random_below(int n) {
    uint64_t z = seed += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (int)((z ^ z >> 31) % (uint64_t)n);
}

static _Noreturn void give_up(const char *what) {
    fprintf(stderr, "played: %s\n", what);
    exit(1);
}

// ---- moves --------------------------------------------------------------------------------------

static Move any_move(const Game *game) {
    MoveList list;
    movegen_legal(&game->now, &list);
    return list.moves[random_below(list.size)];
}

// Plays a move that does not end the game.
static void play_on(Game *game) {
    Game *before = malloc(sizeof *before);
    for (int tries = 0; before && tries < 100; tries++) {
        *before = *game;
        game_play(game, any_move(game));
        if (game_end(game) == END_NONE) {
            free(before);
            return;
        }
        *game = *before;
    }
    give_up("each move would end the game");
}

static bool is_legal(const Position *pos, Move move) {
    MoveList list;
    movegen_legal(pos, &list);
    for (int i = 0; i < list.size; i++)
        if (list.moves[i] == move)
            return true;
    return false;
}

static Move back(Move move) {
    return move_make(move_to(move), move_from(move));
}

// Plays there and back with a piece of each side, from moves that are drawn at random.
static bool find_cycle(const Game *game, Move cycle[4]) {
    Game *trial = malloc(sizeof *trial);
    bool found = false;
    for (int tries = 0; trial && tries < 20000 && !found; tries++) {
        *trial = *game;
        for (int i = 0; i < 4; i++) {
            cycle[i] = i < 2 ? any_move(trial) : back(cycle[i - 2]);
            if (!is_legal(&trial->now, cycle[i]))
                break;
            game_play(trial, cycle[i]);
            if (trial->now.rule50 == 0 || game_end(trial) != END_NONE)
                break;
            found = i == 3;
        }
    }
    free(trial);
    return found;
}

// ---- a game -------------------------------------------------------------------------------------

typedef struct Played {
    Game game;
    int opening, scores[PLIES_MAX];
    bool new_is_white;
    const char *result, *end;
} Played;

static int plies_of(const Played *played) {
    return played->game.plies - played->opening;
}

// Random moves of a game that is open.
static void play_before(Played *played) {
    while (plies_of(played) < plies_before) {
        played->scores[plies_of(played)] = LEVEL_CP;
        play_on(&played->game);
    }
}

// `loser` plays at random and sees that it is lost, until the rules of the test end the game.
static void play_to_resignation(Played *played, Color loser, const Adjudication *rules) {
    Adjudicator adjudicator = {.rules = rules};
    Decision decision = DECISION_NONE;
    for (int ply = plies_of(played); decision == DECISION_NONE; ply++) {
        Color mover = played->game.now.side;
        if (ply == PLIES_MAX)
            give_up("no rule of this test ends a game that is won");
        played->scores[ply] = mover == loser ? -WON_CP : WON_CP;
        play_on(&played->game);
        AdjudicatedMove move = {.by_white = mover == WHITE,
                                .resets = played->game.now.rule50 == 0,
                                .has_score = true,
                                .score = played->scores[ply],
                                .number = played->game.now.fullmove - 1,
                                .plies = ply + 1};
        decision = adjudicate(&adjudicator, &move);
    }
    played->result = loser == WHITE ? "0-1" : "1-0";
    played->end = "adjudication";
}

static void play_to_repetition(Played *played) {
    Move cycle[4];
    if (!find_cycle(&played->game, cycle))
        give_up("no piece can go there and back in an opening");
    for (int i = 0; game_end(&played->game) == END_NONE; i++) {
        played->scores[plies_of(played)] = LEVEL_CP;
        game_play(&played->game, cycle[i % 4]);
    }
    played->result = "1/2-1/2";
    played->end = "rule";
}

static void set_up(Played *played, const json_t *opening, bool chess960) {
    Position start;
    Refusal why;
    char word[MOVE_TEXT_MAX];
    const char *moves = json_string_value(json_object_get(opening, "moves"));
    const char *fen = json_string_value(json_object_get(opening, "fen"));
    if (!fen || !moves || !position_from_fen(&start, fen, chess960, &why))
        give_up("an opening is no position");
    game_init(&played->game, &start);
    for (int used; sscanf(moves, "%7s%n", word, &used) == 1; moves += used) {
        Move move = move_from_uci(&played->game.now, word);
        if (move == MOVE_NONE)
            give_up("an opening has an illegal move");
        game_play(&played->game, move);
    }
    played->opening = played->game.plies;
}

// ---- the text -----------------------------------------------------------------------------------

// A side that starts with `base` and gets `increment` for each move, in ms.
static void print_clocks(int plies, int64_t base, int64_t increment) {
    int64_t left[2] = {base, base};
    printf(",\"clock_ms\":[");
    for (int i = 0; i < plies; i++) {
        if (base > 0)
            left[i % 2] += increment - (think_ms ? random_below(think_ms + 1) : 0);
        printf("%s%lld", i ? "," : "", (long long)left[i % 2]);
    }
    putchar(']');
}

static void print_list(const char *name, int plies, int64_t first, int64_t step) {
    printf(",\"%s\":[", name);
    for (int i = 0; i < plies; i++)
        printf("%s%lld", i ? "," : "", (long long)(first + step * (i / 2)));
    putchar(']');
}

static void print_scores(const Played *played, int plies) {
    printf(",\"scores\":[");
    for (int i = 0; i < plies; i++)
        printf("%s%d", i ? "," : "", played->scores[i]);
    putchar(']');
}

static void print_game(const Played *played, int64_t pair, const json_t *opening, const char *tc) {
    TimeControl clock;
    Error err;
    Position pos = played->game.start;
    char word[MOVE_TEXT_MAX], *text = json_dumps(opening, JSON_COMPACT);
    int plies = plies_of(played);
    if (!tc_parse(tc, &clock, &err))
        give_up(err.message);
    printf("{\"pair\":%lld,\"opening\":%s,\"new_is\":\"%s\",\"result\":\"%s\",\"end\":\"%s\","
           "\"reason\":\"\","
           "\"moves\":\"",
           (long long)pair, text, played->new_is_white ? "white" : "black", played->result,
           played->end);
    free(text);
    for (int i = 0; i < played->game.plies; i++) {
        Undo undo;
        if (i >= played->opening)
            printf("%s%s", i > played->opening ? " " : "",
                   move_to_uci(&pos, played->game.moves[i], word));
        position_make(&pos, played->game.moves[i], &undo);
    }
    putchar('"');
    print_clocks(plies, (int64_t)(1000 * clock.base_s), (int64_t)(1000 * clock.increment_s));
    print_scores(played, plies);
    print_list("depths", plies, 9, 0);
    print_list("nodes", plies, 1000, 1);
    printf(",\"rest_ms\":{\"new\":0,\"base\":0}}\n");
}

// The half points of a pair as those of its games: 3 is a win and a draw.
static int points_of(int digit, int game) {
    return game == 0 ? (digit + 1) / 2 : digit / 2;
}

static void play(const json_t *task, const Adjudication *rules, int number, char digit) {
    const json_t *opening = json_array_get(json_object_get(task, "openings"), (size_t)number / 2);
    int64_t first = json_integer_value(json_object_get(task, "first_pair"));
    int points = points_of(digit - '0', number % 2);
    Played *played = calloc(1, sizeof *played);
    if (!played)
        give_up("out of memory");
    set_up(played, opening, json_is_true(json_object_get(task, "chess960")));
    played->new_is_white = number % 2 == 0;
    play_before(played);
    if (points == 1)
        play_to_repetition(played);
    else
        play_to_resignation(played, (points == 2) == played->new_is_white ? BLACK : WHITE, rules);
    print_game(played, first + number / 2, opening, json_string_value(json_object_get(task, "tc")));
    free(played);
}

int main(void) {
    Adjudication rules;
    json_t *task = json_loadf(stdin, 0, NULL);
    const char *outcomes = json_string_value(json_object_get(task, "outcomes"));
    char *text = json_dumps(json_object_get(task, "adjudication"), 0);
    if (!outcomes || !text || !replay_rules(text, &rules))
        give_up("this is no task");
    rules_init();
    seed = (uint64_t)json_integer_value(json_object_get(task, "seed"));
    plies_before = (int)json_integer_value(json_object_get(task, "plies"));
    think_ms = (int)json_integer_value(json_object_get(task, "think_ms"));
    if (plies_before < 0 || plies_before > PLIES_MAX / 2 || think_ms < 0)
        give_up("plies is 0 to 200, and think_ms 0 or more");
    for (int number = 0; number < 2 * (int)strlen(outcomes); number++)
        play(task, &rules, number, outcomes[number / 2]);
    free(text);
    json_decref(task);
    return 0;
}
