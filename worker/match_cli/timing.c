// See timing.h.
#include "worker/match_cli/timing.h"

#include <math.h>

#include "worker/match/game_record.h"

enum { REST_NOTABLE_US = 10000 };

static int bucket_of(int64_t us) {
    int bucket = us > 0 ? 1 + (int)(8 * log2((double)us + 1)) : 0;
    return bucket < TIMING_BUCKETS ? bucket : TIMING_BUCKETS - 1;
}

static void add_move(Timing *timing, const MoveRecord *move) {
    int64_t latency_us;
    timing->moves++;
    timing->thought_us += move->time_us;
    if (record_latency_us(move, &latency_us)) {
        timing->told++;
        timing->latencies[bucket_of(latency_us)]++;
        if (latency_us > timing->latency_max_us)
            timing->latency_max_us = latency_us;
    }
    if (move->delay_us < 0)
        return;
    timing->measured++;
    timing->delayed_us += move->delay_us;
    if (move->delay_us > timing->delay_max_us)
        timing->delay_max_us = move->delay_us;
}

void timing_add_game(Timing *timing, const GameRecord *game) {
    for (int i = game->opening_plies; i < game->game.plies; i++)
        add_move(timing, &game->moves[i]);
    timing->time_losses += game->kind == GAME_END_TIME;
    timing->overloaded += game->overloaded;
    for (int i = 0; i < 2; i++) {
        timing->rest_us[game->players[i]] += record_rest_us(game, i);
        said_add(&timing->said[game->players[i]], &game->said[i]);
    }
}

double timing_quantile_us(const Timing *timing, double share) {
    long wanted = (long)ceil(share * (double)timing->told), seen = 0;
    for (int i = 0; i < TIMING_BUCKETS; i++)
        if ((seen += timing->latencies[i]) >= wanted && seen > 0)
            return i ? exp2((double)i / 8) - 1 : 0;
    return 0;
}

void timing_report(Str *out, const Timing *timing, const EngineSpec *engines, int engine_count) {
    if (!timing->told && !timing->measured && !timing->time_losses)
        return;
    str_printf(out, "Clock: %ld moves", timing->moves);
    if (timing->told)
        str_printf(out, ", latency median %.1f ms, 99 %% below %.1f, at most %.1f",
                   timing_quantile_us(timing, 0.5) / 1000, timing_quantile_us(timing, 0.99) / 1000,
                   (double)timing->latency_max_us / 1000);
    if (timing->measured)
        str_printf(out, "; waited for a CPU %.1f %% of the time, at most %.1f ms",
                   timing->thought_us > 0
                       ? 100.0 * (double)timing->delayed_us / (double)timing->thought_us
                       : 0.0,
                   (double)timing->delay_max_us / 1000);
    if (timing->time_losses)
        str_printf(out, "; %ld lost on time, %ld of them on a busy machine", timing->time_losses,
                   timing->overloaded);
    for (int i = 0; i < engine_count; i++)
        if (timing->rest_us[i] >= REST_NOTABLE_US)
            str_printf(out, "; %s used %.2f s of CPU time while its opponent was to move",
                       engines[i].name, (double)timing->rest_us[i] / 1e6);
    str_puts(out, "\n");
}

void said_report(Str *out, const Timing *timing, const EngineSpec *engines, int engine_count) {
    for (int i = 0; i < engine_count; i++) {
        const Said *said = &timing->said[i];
        const char *before = ": ";
        if (!said_wrong(said))
            continue;
        str_printf(out, "Output of %s: wrong about %d of %d moves", engines[i].name,
                   said_wrong(said), said->moves);
        for (int kind = 0; kind < SAID_KINDS; kind++)
            if (said->wrong[kind]) {
                str_printf(out, "%s%d with %s", before, said->wrong[kind], said_words[kind]);
                before = ", ";
            }
        str_puts(out, "\n");
    }
}
