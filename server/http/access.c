// See access.h.
#include "server/http/access.h"

#include <string.h>

bool access_is_worker(Access access) {
    return access == ACCESS_WORKER || access == ACCESS_WORKER_ENDS;
}

static bool signed_in_check(const Viewer *viewer, Error *err) {
    return (viewer->user_id && strcmp(viewer->scope, "worker") != 0) ||
           error_set(err, 401, "unauthorized", "sign in first");
}

bool access_check(const Viewer *viewer, Access access, Error *err) {
    switch (access) {
    case ACCESS_ANYONE:
        return true;
    case ACCESS_WORKER:
    case ACCESS_WORKER_ENDS:
        if (!viewer->worker_id)
            return error_set(err, 401, "bad_token", "this call needs the token of a worker");
        return access == ACCESS_WORKER_ENDS || machine_may_work(viewer->barred, err);
    case ACCESS_USER:
        return signed_in_check(viewer, err);
    case ACCESS_PERSON:
        return signed_in_check(viewer, err) &&
               (strcmp(viewer->scope, "submit") != 0 ||
                error_set(err, 403, "forbidden", "a token of scope submit may not do this"));
    case ACCESS_ADMIN:
        return signed_in_check(viewer, err) &&
               (viewer->admin || error_set(err, 403, "forbidden", "only an admin may do this"));
    }
    return false;
}
