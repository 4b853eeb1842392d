// See score.h. report.c prints the counts.
#include "worker/match_cli/score.h"

GameOutcome game_outcome(const GameRecord *game) {
    return (GameOutcome){.pair = game->pair,
                         .index = game->index,
                         .players = {game->players[0], game->players[1]},
                         .white = game->white,
                         .result = game->result,
                         .kind = game->kind,
                         .culprit = game->culprit,
                         .overloaded = game->overloaded};
}

// Twice the points of `engine`: 0, 1 or 2.
static int points(const GameOutcome *game, int engine) {
    if (game->result == RESULT_DRAW)
        return 1;
    return (game->result == RESULT_WHITE_WINS) == (game->players[game->white] == engine) ? 2 : 0;
}

void match_score_add_game(MatchScore *score, const GameOutcome *game) {
    if (game->result == RESULT_NONE)
        return;
    int won = points(game, score->first);
    score->wins += won == 2;
    score->draws += won == 1;
    score->losses += won == 0;
    if (game->players[game->white] == score->first)
        score->white[won]++;
    if (game->culprit < 0)
        return;
    int which = game->players[game->culprit] != score->first;
    (game->kind == GAME_END_TIME ? score->time_losses : score->faults)[which]++;
    score->overloaded += game->overloaded;
}

void match_score_add_pair(MatchScore *score, const GameOutcome games[2]) {
    int first = points(&games[0], score->first), second = points(&games[1], score->first);
    score->pairs[first + second]++;
    score->drawn_pairs += first == 1 && second == 1;
}

void match_score_merge(MatchScore *to, const MatchScore *from, int engine) {
    bool same = engine == from->first;
    to->wins += same ? from->wins : from->losses;
    to->losses += same ? from->losses : from->wins;
    to->draws += from->draws;
    for (int i = 0; i < 5; i++)
        to->pairs[i] += from->pairs[same ? i : 4 - i];
    to->drawn_pairs += from->drawn_pairs;
    for (int i = 0; i < 2; i++) {
        to->time_losses[i] += from->time_losses[same ? i : 1 - i];
        to->faults[i] += from->faults[same ? i : 1 - i];
    }
    to->overloaded += from->overloaded;
}

double match_score_llr(const MatchScore *score, const SprtBounds *bounds) {
    double games[3] = {(double)score->losses, (double)score->draws, (double)score->wins};
    for (int i = 0; i < 5; i++)
        if (score->pairs[i] > 0)
            return sprt_llr(bounds->model, bounds->elo0, bounds->elo1, score->pairs, 5);
    return sprt_llr(bounds->model, bounds->elo0, bounds->elo1, games, 3);
}
