// The progress of a long run: a bar that is redrawn on a terminal, or one line per minute without a
// terminal.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Meter {
    FILE *out; // borrowed
    bool is_terminal;
    int64_t start_us, shown_us;
    uint64_t before, total; // games at the start, and games in the end
} Meter;

void meter_init(Meter *meter, FILE *out, uint64_t before, uint64_t total);
// Shows the progress, if it is time to. `games` and `positions` were added since the start.
void meter_show(Meter *meter, uint64_t games, uint64_t positions);
// Shows the final state and ends the line.
void meter_end(Meter *meter, uint64_t games, uint64_t positions);

enum { METER_TEXT_MAX = 32 };
// "1,234,567"; returns `out`.
char *meter_count(uint64_t count, char out[METER_TEXT_MAX]);
// "2 d 5 h", "3 h 20 min", "45 min" or "12 s"; returns `out`.
char *meter_duration(uint64_t seconds, char out[METER_TEXT_MAX]);
