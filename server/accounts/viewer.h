// Who asks for something, and the roles that they have: a signed-in user, a user's or a worker's
// token, or neither. The viewer is found once for each request; what it may do is asked of the
// database when it matters.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/db/db.h"

// user_id 0: no user is signed in; worker_id 0: not a worker.
typedef struct Viewer {
    int64_t user_id, worker_id;
    char name[40];
    bool admin;
    bool by_cookie; // needs CSRF on writes; the loop has checked it
    char csrf[48];
    char session_hash[65];
    char scope[8];  // of an API token, "" with a cookie
    char barred[8]; // of a worker: "machine", "owner" or "token" where it may not work; else ""
} Viewer;

// An admin has all roles, and a maintainer is a developer too. A token of scope `submit` carries at
// most a developer's rights, even where its user has more. engine_id 0: of any engine.
bool viewer_has_role(Db *db, const Viewer *viewer, int64_t engine_id, const char *role);
// Whether the viewer may submit tests and upload nets: of the engine; 0: of any.
bool viewer_submits(Db *db, const Viewer *viewer, int64_t engine_id);
// `barred` as in Viewer. False: 403 `blocked` or `token_revoked`.
bool machine_may_work(const char *barred, Error *err);
