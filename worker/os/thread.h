// Threads and signals: a thread that must not be interrupted.
#pragma once

// SIGPIPE and all asynchronous signals stay away from the calling thread and from the threads that
// it starts.
void os_thread_block_signals(void);
