// The positions of `bench`.
#pragma once

static const char *const BENCH_POSITIONS[] = {
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "8/8/4k3/3p4/3P4/4K3/8/8 w - - 0 1",
    "8/5pk1/4p1p1/7p/P6P/1r4P1/5PK1/R7 w - - 0 40",
};
