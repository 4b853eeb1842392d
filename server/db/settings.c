// See settings.h.
#include "server/db/settings.h"

#include <string.h>

#include "server/common/str.h"

char *setting_text(Db *db, const char *name) {
    return db_text(db, SQL_SETTING_GET, "s", name);
}

bool setting_is(Db *db, const char *name, const char *value) {
    char *text scope(free_ptr) = setting_text(db, name);
    return text && strcmp(text, value) == 0;
}

int64_t setting_whole(Db *db, const char *name, int64_t low, int64_t high, int64_t fallback) {
    long value;
    char *text scope(free_ptr) = setting_text(db, name);
    return text && parse_long(text, low, high, &value) ? value : fallback;
}

double setting_real(Db *db, const char *name, double low, double high, double fallback) {
    double value;
    char *text scope(free_ptr) = setting_text(db, name);
    return text && parse_double(text, low, high, &value) ? value : fallback;
}
