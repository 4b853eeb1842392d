// Extensions, one idea a function.
#include "extend.h"

// A check forces the reply, so it is searched a ply deeper, but no line more than twice the depth
// of the iteration.
static int check_extension(const Searcher *s, const Candidate *move) {
    return move->gives_check && s->ply < 2 * s->root_depth;
}

int move_extension(const Searcher *s, const Candidate *move) {
    return check_extension(s, move);
}
