#include "book/key_set.h"

#include <stdlib.h>

bool key_set_init(KeySet *set, size_t most) {
    size_t size = 16;
    while (size < 2 * most)
        size *= 2;
    *set = (KeySet){.keys = calloc(size, sizeof *set->keys), .mask = size - 1};
    return set->keys;
}

void key_set_release(KeySet *set) {
    free(set->keys);
    *set = (KeySet){0};
}

bool key_set_add(KeySet *set, Key key) {
    key += key == 0;
    size_t at = key & set->mask;
    while (set->keys[at] && set->keys[at] != key)
        at = (at + 1) & set->mask;
    bool is_new = set->keys[at] == 0;
    set->keys[at] = key;
    return is_new;
}
