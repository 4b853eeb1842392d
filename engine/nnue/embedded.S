// The default net as a part of the program: what the build was told to embed (see the Makefile).
// Plain data, so that it needs no word about the machine. network_default() reads it.
    .section .rodata
    .globl anvil_net_bytes, anvil_net_end, anvil_net_name
    .balign 64
anvil_net_bytes:
    .incbin NET_FILE
anvil_net_end:
    .byte 0
anvil_net_name:
    .asciz NET_NAME
    .section .note.GNU-stack, "", %progbits
