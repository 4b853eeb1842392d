// What handlers know of the installation and of the server that serves it. There is one Site; server/start.c fills it
// before the first request. The functions are pointers because what they do stands above http: pages and the loop.
#pragma once

#include <stdatomic.h>

#include "server/common/error.h"
#include "server/http/cache.h"

struct Request;
struct Response;

// What the loop has counted since it started, and what it holds now.
typedef struct LoopFigures {
    unsigned long requests, replies[6]; // replies: by first digit of the status
    unsigned long turns, commits, commit_failures, bytes_in;
    double commit_seconds, apply_seconds, uptime_seconds;
    size_t waiting_claims, readers_queued, body_bytes, streams, connections;
} LoopFigures;

typedef struct Site {
    const char *data; // the installation's folder
    const char *web;  // folder with templates/ and static/
    Cache *cache;     // of documents
    // A request came with X-Forwarded-For from an address that is not among the trusted proxies. Any thread.
    atomic_bool undeclared_proxy;
    // Fills `res` with a page for an error outside /api/. The status is set by the caller.
    void (*error_page)(struct Request *req, struct Response *res, const Error *err);
    // Shows the page of `template` again with what was typed and the error beside its field. False: it cannot, show
    // error_page instead.
    bool (*error_form)(struct Request *req, struct Response *res, const char *template,
                       const Error *err);
    void (*figures)(const void *loop, LoopFigures *out); // loop thread
    const void *loop;
} Site;
