// What an engine's `bench` prints: how many nodes it searched, the signature of a patch, and how
// fast. As Stockfish prints it and all who follow it: "Nodes searched  : 2345678".
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"

typedef struct Bench {
    int64_t nodes;
    double speed; // nodes/s as the engine printed it; 0 when it did not
} Bench;

// Of several such lines, the last one counts. False if there is no count of nodes.
bool bench_read(const char *output, size_t size, Bench *out, Error *err);
