// See match_report.h.
#include "match_report.h"

#include <math.h>

static const char rule[] = "--------------------------------------------------\n";

// Points of engine 0, doubled.
static int points(const GameRecord *game) {
    if (game->result == RESULT_DRAW)
        return 1;
    return (game->result == RESULT_WHITE_WINS) == (game->white == 0) ? 2 : 0;
}

void match_score_add_game(MatchScore *score, const GameRecord *game) {
    if (game->result == RESULT_NONE)
        return;
    int won = points(game);
    score->wins += won == 2;
    score->draws += won == 1;
    score->losses += won == 0;
    if (game->culprit >= 0)
        (game->kind == GAME_END_TIME ? score->time_losses : score->faults)[game->culprit]++;
}

void match_score_add_pair(MatchScore *score, const GameRecord games[2]) {
    score->pairs[points(&games[0]) + points(&games[1])]++;
}

static double pair_total(const MatchScore *score) {
    double total = 0;
    for (int i = 0; i < 5; i++)
        total += score->pairs[i];
    return total;
}

static void game_counts(const MatchScore *score, double counts[3]) {
    counts[0] = (double)score->losses;
    counts[1] = (double)score->draws;
    counts[2] = (double)score->wins;
}

double match_score_llr(const MatchScore *score, const SprtBounds *bounds) {
    double games[3];
    if (pair_total(score) > 0)
        return sprt_llr(bounds->model, bounds->elo0, bounds->elo1, score->pairs, 5);
    game_counts(score, games);
    return sprt_llr(bounds->model, bounds->elo0, bounds->elo1, games, 3);
}

static void add_elo(Str *out, const MatchScore *score, double pairs) {
    double games[3];
    game_counts(score, games);
    EloEstimate e = pairs > 0 ? elo_estimate(score->pairs, 5) : elo_estimate(games, 3);
    str_printf(out, "Elo: %.2f +/- %.2f, nElo: %.2f +/- %.2f\n", e.elo, e.error, e.nelo,
               e.nelo_error);
    str_printf(out, "LOS: %.2f %%, DrawRatio: %.2f %%", 100 * e.los, 100 * e.draw_ratio);
    if (pairs > 0)
        str_printf(out, ", PairsRatio: %.2f", fabs(e.pair_ratio)); // no "-nan"
    str_putc(out, '\n');
}

static void add_llr(Str *out, const MatchScore *score, const SprtBounds *bounds) {
    double llr = match_score_llr(score, bounds);
    double lower = sprt_lower(bounds), upper = sprt_upper(bounds);
    llr = isnan(llr) ? 0 : llr; // nothing to say yet
    str_printf(out, "LLR: %.2f (%.1f%%) (%.2f, %.2f) [%.2f, %.2f]\n", llr,
               100 * llr / (llr < 0 ? -lower : upper), lower, upper, bounds->elo0, bounds->elo1);
}

static void add_faults(Str *out, const MatchTitle *title, const MatchScore *score) {
    for (int i = 0; i < 2; i++)
        if (score->time_losses[i] || score->faults[i])
            str_printf(out, "Faults of %s: %ld on time, %ld others\n", title->names[i],
                       score->time_losses[i], score->faults[i]);
}

void match_report(Str *out, const MatchTitle *title, const MatchScore *score) {
    long games = score->wins + score->losses + score->draws;
    double won = (double)score->wins + (double)score->draws / 2, pairs = pair_total(score);
    str_puts(out, rule);
    str_printf(out, "Results of %s vs %s (%s):\n", title->names[0], title->names[1], title->detail);
    if (games) {
        add_elo(out, score, pairs);
        str_printf(out, "Games: %ld, Wins: %ld, Losses: %ld, Draws: %ld, Points: %.1f (%.2f %%)\n",
                   games, score->wins, score->losses, score->draws, won, 100 * won / (double)games);
        if (pairs > 0)
            str_printf(out, "Ptnml(0-2): [%.0f, %.0f, %.0f, %.0f, %.0f]\n", score->pairs[0],
                       score->pairs[1], score->pairs[2], score->pairs[3], score->pairs[4]);
        if (title->bounds)
            add_llr(out, score, title->bounds);
    }
    str_printf(out, "Total: %ld W: %ld L: %ld D: %ld\n", games, score->wins, score->losses,
               score->draws);
    add_faults(out, title, score);
    str_puts(out, rule);
}
