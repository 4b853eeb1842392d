// The root of a search. A capture or a pawn move clears the keys: no earlier position can be
// repeated.
#include "search/root.h"

void root_init(Root *root, const Position *pos) {
    root->pos = *pos;
    root->key_count = 0;
}

void root_play(Root *root, Move move) {
    Undo undo;
    Key before = root->pos.key;
    position_make(&root->pos, move, &undo);
    if (root->pos.rule50 == 0)
        root->key_count = 0;
    else if (root->key_count < ROOT_KEYS_MAX)
        root->keys[root->key_count++] = before;
}
