// See report.h. The order, the words and the decimals are exactly those of fastchess and
// cutechess-cli.
#include "worker/match_cli/report.h"

#include <math.h>
#include <stdlib.h>

static const char rule[] = "--------------------------------------------------\n";

static double pair_total(const MatchScore *score) {
    double total = 0;
    for (int i = 0; i < 5; i++)
        total += score->pairs[i];
    return total;
}

static long game_total(const MatchScore *score) {
    return score->wins + score->losses + score->draws;
}

// Points divided by games; 0 if no game was played.
static double share(long wins, long losses, long draws) {
    double games = (double)(wins + losses + draws);
    return games > 0 ? ((double)wins + (double)draws / 2) / games : 0;
}

static EloEstimate estimate(const MatchScore *score, bool by_pairs) {
    double games[3] = {(double)score->losses, (double)score->draws, (double)score->wins};
    return by_pairs ? elo_estimate(score->pairs, 5) : elo_estimate(games, 3);
}

static double llr_percent(double llr, const SprtBounds *bounds) {
    return 100 * llr / (llr < 0 ? sprt_lower(bounds) : sprt_upper(bounds));
}

// ---- fastchess ----------------------------------------------------------------------------------

static void add_elo(Str *out, const MatchScore *score, bool by_pairs) {
    EloEstimate e = estimate(score, by_pairs);
    str_printf(out, "Elo: %.2f +/- %.2f, nElo: %.2f +/- %.2f\n", e.elo, e.error, e.nelo,
               e.nelo_error);
    str_printf(out, "LOS: %.2f %%, DrawRatio: %.2f %%", 100 * e.los, 100 * e.draw_ratio);
    if (by_pairs)
        str_printf(out, ", PairsRatio: %.2f", fabs(e.pair_ratio)); // no "-nan"
    str_putc(out, '\n');
}

static void add_games(Str *out, const MatchScore *score) {
    double points = (double)score->wins + (double)score->draws / 2;
    str_printf(out, "Games: %ld, Wins: %ld, Losses: %ld, Draws: %ld, Points: %.1f (%.2f %%)\n",
               game_total(score), score->wins, score->losses, score->draws, points,
               100 * share(score->wins, score->losses, score->draws));
}

static void add_counts(Str *out, const double pairs[5]) {
    str_printf(out, "[%.0f, %.0f, %.0f, %.0f, %.0f]", pairs[0], pairs[1], pairs[2], pairs[3],
               pairs[4]);
}

static void add_pairs(Str *out, const MatchScore *score) {
    str_puts(out, "Ptnml(0-2): ");
    add_counts(out, score->pairs);
    str_printf(out, ", WL/DD Ratio: %.2f\n",
               fabs((score->pairs[2] - score->drawn_pairs) / score->drawn_pairs));
}

static void add_llr(Str *out, const MatchScore *score, const SprtBounds *bounds) {
    double llr = match_score_llr(score, bounds);
    llr = isnan(llr) ? 0 : llr; // too few games yet
    str_printf(out, "LLR: %.2f (%.1f%%) (%.2f, %.2f) [%.2f, %.2f]\n", llr, llr_percent(llr, bounds),
               sprt_lower(bounds), sprt_upper(bounds), bounds->elo0, bounds->elo1);
}

static void add_faults(Str *out, const MatchTitle *title, const MatchScore *score) {
    for (int i = 0; i < 2; i++)
        if (score->time_losses[i] || score->faults[i])
            str_printf(out, "Faults of %s: %ld on time, %ld others\n",
                       title->engines[i ? score->second : score->first].name, score->time_losses[i],
                       score->faults[i]);
}

static void report_two(Str *out, const MatchTitle *title, const MatchScore *score) {
    bool by_pairs = pair_total(score) > 0 && !title->games_only;
    str_puts(out, rule);
    str_printf(out, "Results of %s vs %s (%s):\n", title->engines[score->first].name,
               title->engines[score->second].name, title->detail);
    if (game_total(score)) {
        add_elo(out, score, by_pairs);
        add_games(out, score);
        if (by_pairs)
            add_pairs(out, score);
        if (title->bounds)
            add_llr(out, score, title->bounds);
    }
    str_printf(out, "Total: %ld W: %ld L: %ld D: %ld\n", game_total(score), score->wins,
               score->losses, score->draws);
    add_faults(out, title, score);
    str_puts(out, rule);
}

// ---- more than two engines ----------------------------------------------------------------------

typedef struct Rank {
    MatchScore score;
    EloEstimate elo;
    const char *name;
} Rank;

static int by_elo(const void *a, const void *b) {
    double first = ((const Rank *)a)->elo.elo, second = ((const Rank *)b)->elo.elo;
    return (second > first) - (second < first);
}

static Rank *rank(const MatchTitle *title, const MatchScore *scores, int count) {
    Rank *ranks = xcalloc((size_t)title->engine_count, sizeof *ranks);
    for (int e = 0; e < title->engine_count; e++) {
        Rank *own = &ranks[e];
        own->name = title->engines[e].name;
        for (int i = 0; i < count; i++)
            if (scores[i].first == e || scores[i].second == e)
                match_score_merge(&own->score, &scores[i], e);
        own->elo = estimate(&own->score, pair_total(&own->score) > 0 && !title->games_only);
    }
    qsort(ranks, (size_t)title->engine_count, sizeof *ranks, by_elo);
    return ranks;
}

static void rank_line(Str *out, const Rank *rank, int place, bool pairs_shown) {
    const MatchScore *score = &rank->score;
    str_printf(out, "%4d %-25s %10.2f %10.2f %10.2f %10.2f %10ld %9.1f%% %9.1f%%", place,
               rank->name, rank->elo.elo, rank->elo.error, rank->elo.nelo, rank->elo.nelo_error,
               game_total(score), 100 * share(score->wins, score->losses, score->draws),
               100 * rank->elo.draw_ratio);
    if (pairs_shown) {
        scope(str_release) Str counts;
        str_init(&counts, 256);
        add_counts(&counts, score->pairs);
        str_printf(out, " %20s", counts.data);
    }
    str_putc(out, '\n');
}

static void report_ranks(Str *out, const MatchTitle *title, const Rank *ranks) {
    str_puts(out, rule);
    str_printf(out, "Rank %-25s %10s %10s %10s %10s %10s %10s %10s", "Name", "Elo", "+/-", "nElo",
               "+/-", "Games", "Score", "Draw");
    str_printf(out, title->games_only ? "\n" : " %20s\n", "Ptnml(0-2)");
    for (int i = 0; i < title->engine_count; i++)
        rank_line(out, &ranks[i], i + 1, !title->games_only);
    for (int i = 0; i < title->engine_count; i++)
        if (ranks[i].score.time_losses[0] || ranks[i].score.faults[0])
            str_printf(out, "Faults of %s: %ld on time, %ld others\n", ranks[i].name,
                       ranks[i].score.time_losses[0], ranks[i].score.faults[0]);
    str_puts(out, rule);
}

// ---- cutechess ----------------------------------------------------------------------------------

static void score_line(Str *out, const char *who, const char *vs, long wins, long losses,
                       long draws) {
    str_printf(out, "%s%s: %ld - %ld - %ld  [%.3f] %ld\n", who, vs, wins, losses, draws,
               share(wins, losses, draws), wins + losses + draws);
}

void match_report_score(Str *out, const MatchTitle *title, const MatchScore *score) {
    const char *name = title->engines[score->first].name;
    const long *white = score->white;
    long black[3] = {score->losses - white[0], score->draws - white[1], score->wins - white[2]};
    str_printf(out, "Score of %s vs ", name);
    score_line(out, title->engines[score->second].name, "", score->wins, score->losses,
               score->draws);
    str_printf(out, "...      %s playing ", name);
    score_line(out, "White", "", white[2], white[0], white[1]);
    str_printf(out, "...      %s playing ", name);
    score_line(out, "Black", "", black[2], black[0], black[1]);
    score_line(out, "...      White vs", " Black", white[2] + black[0], white[0] + black[2],
               white[1] + black[1]);
}

static void cutechess_two(Str *out, const MatchTitle *title, const MatchScore *score) {
    EloEstimate e = estimate(score, false);
    if (game_total(score))
        str_printf(out, "Elo difference: %.1f +/- %.1f, LOS: %.1f %%, DrawRatio: %.1f %%\n", e.elo,
                   e.error, 100 * e.los, 100 * e.draw_ratio);
    if (!title->bounds)
        return;
    double llr = match_score_llr(score, title->bounds);
    double lower = sprt_lower(title->bounds), upper = sprt_upper(title->bounds);
    llr = isnan(llr) ? 0 : llr;
    str_printf(out, "SPRT: llr %.3g (%.1f%%), lbound %.2f, ubound %.2f%s\n", llr,
               llr_percent(llr, title->bounds), lower, upper,
               llr >= upper   ? " - H1 was accepted"
               : llr <= lower ? " - H0 was accepted"
                              : "");
}

static void cutechess_ranks(Str *out, const MatchTitle *title, const Rank *ranks) {
    str_printf(out, "Rank %-25s%8s%8s%8s%8s%8s \n", "Name", "Elo", "+/-", "Games", "Score", "Draw");
    for (int i = 0; i < title->engine_count; i++) {
        const MatchScore *score = &ranks[i].score;
        EloEstimate e = estimate(score, false);
        str_printf(out, "%4d %-25s%8.0f%8.0f%8ld%7.1f%%%7.1f%% \n", i + 1, ranks[i].name, e.elo,
                   e.error, game_total(score),
                   100 * share(score->wins, score->losses, score->draws), 100 * e.draw_ratio);
    }
}

// ---- all ----------------------------------------------------------------------------------------

void match_report(Str *out, const MatchTitle *title, const MatchScore *scores, int count) {
    if (count == 1) {
        (title->cutechess ? cutechess_two : report_two)(out, title, &scores[0]);
        return;
    }
    scope(free_ptr) Rank *ranks = rank(title, scores, count);
    (title->cutechess ? cutechess_ranks : report_ranks)(out, title, ranks);
}
