// What this worker is to servers.
#pragma once

#define WORKER_VERSION "1.0"
enum { PROTOCOL = 1 };
