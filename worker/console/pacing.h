// How long the worker waits for others. Everything that waits for a server goes through here, so
// that a test of bad weather need not last as long as bad weather does.
#pragma once

// `seconds`, times what PATCHMATE_PACING says (0.001 to 1; for tests). Waiting times, limits of
// requests and the time between heartbeats shrink alike.
double pacing(double seconds);
