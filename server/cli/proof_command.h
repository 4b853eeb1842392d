// `server bundle`, `server verify` and `server replay`: evidence for strangers (server/proof).
#pragma once

int command_bundle(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_replay(int argc, char **argv);
