// See batch_load.h.
#include "worker/results/batch_load.h"

#include <stdio.h>

#include "server/common/log.h"

static const double busy_flag = 0.1, slow_flag = 0.25, swap_mark_mib = 64;

void load_begin(LoadMeter *meter) {
    *meter = (LoadMeter){0};
    os_host_load(&meter->machine);
}

static void add_move(LoadMeter *meter, const MoveRecord *move, bool base) {
    if (move->delay_us >= 0 && move->time_us > 0) {
        meter->thinking_us += move->time_us;
        meter->delay_us += move->delay_us;
    }
    if (base && move->nodes > 0 && move->time_us > 0) {
        meter->nodes += move->nodes;
        meter->searching_us += move->time_us;
    }
}

void load_add(LoadMeter *meter, const GameRecord *game) {
    bool white_first = (game->game.start.side == WHITE) == (game->opening_plies % 2 == 0);
    int first = white_first ? game->white : 1 - game->white;
    int plies = game->kind == GAME_END_PONDER ? 0 : game->game.plies;
    for (int i = game->opening_plies; i < plies; i++)
        add_move(meter, &game->moves[i], ((i - game->opening_plies) % 2 == 0) == (first == 1));
    for (int i = 0; i < 2; i++)
        meter->rest_us[i] += record_rest_us(game, i);
}

static double share(double part, double whole) {
    double of = whole > 0 ? part / whole : 0;
    return of < 0 ? 0 : of > 1 ? 1 : of;
}

BatchLoad load_end(const LoadMeter *meter, double speed_before) {
    HostLoad now;
    os_host_load(&now);
    double seconds = (double)meter->searching_us / 1e6;
    double swapped = now.swapped_in_mib - meter->machine.swapped_in_mib;
    BatchLoad load = {
        .delay = share((double)meter->delay_us, (double)meter->thinking_us),
        .steal = share(now.stolen_s - meter->machine.stolen_s, now.wall_s - meter->machine.wall_s),
        .swap_mib = swapped > 0 ? swapped : 0,
        .rest = {(double)meter->rest_us[0] / 1e6, (double)meter->rest_us[1] / 1e6},
        .speed = seconds > 0 ? (double)meter->nodes / seconds : 0,
    };
    load.speed_before = speed_before > 0 ? speed_before : load.speed;
    return load;
}

const char *load_flag(const BatchLoad *load, double busy, char out[LOAD_TEXT_MAX]) {
    if (busy > busy_flag)
        snprintf(out, LOAD_TEXT_MAX, "is busy with other work (%.0f %% of its CPU time)",
                 100 * busy);
    else if (load->steal > busy_flag)
        snprintf(out, LOAD_TEXT_MAX, "is a guest whose host took %.0f %% of its CPU time",
                 100 * load->steal);
    else if (load->delay > busy_flag)
        snprintf(out, LOAD_TEXT_MAX, "made its engines wait for a CPU %.0f %% of the time",
                 100 * load->delay);
    else if (load->speed > 0 && load->speed < (1 - slow_flag) * load->speed_before)
        snprintf(out, LOAD_TEXT_MAX, "has slowed down to %.0f %% of the speed it began with",
                 100 * load->speed / load->speed_before);
    else if (load->swap_mib > swap_mark_mib)
        snprintf(out, LOAD_TEXT_MAX, "is short of memory (%.0f MiB came back from swap)",
                 load->swap_mib);
    else
        return NULL;
    return out;
}

static json_t *speed_to_json(double speed) {
    return speed > 0 ? json_real(speed) : json_null();
}

json_t *load_to_json(const BatchLoad *load) {
    json_t *root = json_pack("{s:f, s:f, s:f, s:f, s:f, s:o, s:o}", "delay", load->delay, "steal",
                             load->steal, "swap_mib", load->swap_mib, "rest_new", load->rest[0],
                             "rest_base", load->rest[1], "speed", speed_to_json(load->speed),
                             "speed_before", speed_to_json(load->speed_before));
    if (!root)
        fatal("out of memory");
    return root;
}
