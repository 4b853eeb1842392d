// Game files of made-up games, and the training sets that come of them.
#pragma once

#include "tests/unit/rules/rules_kit.h"

#include <stdlib.h>

#include "engine/learn/gamefile.h"
#include "engine/learn/train_output.h"
#include "engine/learn/train_random.h"
#include "engine/learn/train_set.h"
#include "server/common/str.h"
#include "tests/kit/repo_kit.h"

enum { GAMES = 60, PLIES = 40 };

typedef enum {
    SCORES_OF_WHITE, // as the format wants them: they foretell the result
    SCORES_OF_MOVER, // the mistake
    SCORES_OF_GAME,  // the game's number, so that its positions can be told
    SCORES_GROWING,  // by 10 a move for the winner
} ScoreKind;

static inline int score_of(ScoreKind kind, int number, int result, Color side, int ply) {
    if (kind == SCORES_GROWING)
        return (result - 1) * (10 * ply + 10);
    if (kind == SCORES_OF_GAME)
        return result == 1 ? 0 : (result - 1) * (100 + number);
    return (result - 1) * 150 * (kind == SCORES_OF_MOVER && side == BLACK ? -1 : 1);
}

// A game of random moves far from its beginning.
static inline void random_game(GameFileRecord *game, int number, ScoreKind kind, uint64_t *random) {
    game->start = position_of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 20");
    game->result = number % 3;
    Position pos = game->start;
    for (game->plies = 0; game->plies < PLIES; game->plies++) {
        MoveList list;
        Undo undo;
        movegen_legal(&pos, &list);
        if (list.size == 0)
            break;
        Move move = list.moves[random_next(random) % (unsigned)list.size];
        game->moves[game->plies] = (ScoredMove){
            move, (int16_t)score_of(kind, number, game->result, pos.side, game->plies)};
        position_make(&pos, move, &undo);
    }
}

static inline void write_games(const char *folder, const char *name, int first, int count,
                               ScoreKind kind) {
    static uint8_t bytes[1 << 20];
    GameFileHeader header = {"Test 1", "nodes 1", "none", "random", "rules", 5, (uint64_t)first};
    GameFileRecord *game = calloc(1, sizeof *game);
    uint64_t random = 77 + (uint64_t)first;
    size_t size = gamefile_write_header(&header, (char *)bytes);
    for (int i = 0; i < count; i++) {
        random_game(game, first + i, kind, &random);
        size += gamefile_write_game(game, bytes + size);
    }
    Refusal err = {""};
    if (!output_write(folder, name, bytes, size, &err))
        fail_msg("%s", err.message);
    free(game);
}

static inline TrainSetOptions options_of(const char *const *folder) {
    return (TrainSetOptions){.folders = folder,
                             .folder_count = 1,
                             .validation = 25,
                             .scale = 361,
                             .seed = 1,
                             .correlation = 0.4};
}

static inline TrainSet *load(const char *folder, const TrainSetOptions *changed) {
    TrainSet *set = calloc(1, sizeof *set);
    TrainSetOptions options = changed ? *changed : options_of(&folder);
    Refusal err = {""};
    if (!train_set_load(set, &options, &err))
        fail_msg("%s", err.message);
    return set;
}

static inline void drop(TrainSet *set) {
    train_set_release(set);
    free(set);
}
