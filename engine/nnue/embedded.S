// The default net as a part of the program. The Makefile names the file to embed. It is plain data,
// so this file contains no machine instructions. network_default() reads it.
    .section .rodata
    .globl anvil_net_bytes, anvil_net_size, anvil_net_name
    .balign 64
anvil_net_bytes:
    .incbin NET_FILE
anvil_net_name:
    .asciz NET_NAME
    .balign 4
anvil_net_size:
    .long anvil_net_name - anvil_net_bytes
    .section .note.GNU-stack, "", %progbits
