// Search.
#include "search.h"

static int reduction(int depth, int moves) {
    if (depth < 4)
        return 0;
    return 1 + moves / 8;
}

static int margin(int depth) {
    return 100 * depth;
}

int search(int depth) {
    int best = 0;
    for (int i = 0; i < 30; i++)
        best += reduction(depth, i) + margin(depth);

    return best + 1;
}
