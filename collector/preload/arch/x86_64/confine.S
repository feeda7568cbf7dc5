// prctl and syscall, exported to the program: the two ways to ask for a seccomp filter.
//
// Nothing is changed. What asks for a filter is noted ahead of time, so that the collector opens and maps no file from
// then on; then, as everything else, it is passed on by a jump, with its arguments as they are.

    .macro passed_on name, next, compare
    .globl  \name
    .type   \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
    \compare
    je      1f
0:  movq    \next(%rip), %r11
    testq   %r11, %r11
    je      2f
    jmp     *%r11
1:  save_arguments
    call    lastref_confining
    restore_arguments
    jmp     0b
2:  save_arguments                      // before our constructor: another library's constructor calls
    call    lastref_find_next_confining
    restore_arguments
    movq    \next(%rip), %r11
    jmp     *%r11
    .cfi_endproc
    .size   \name, .-\name
    .endm

    .macro save_arguments
    .irp register, rdi, rsi, rdx, rcx, r8, r9, rax
    pushq   %\register
    .cfi_adjust_cfa_offset 8
    .endr
    .endm

    .macro restore_arguments
    .irp register, rax, r9, r8, rcx, rdx, rsi, rdi
    popq    %\register
    .cfi_adjust_cfa_offset -8
    .endr
    .endm

    .text
    passed_on prctl, lastref_next_prctl, "cmpl $22, %edi"        // PR_SET_SECCOMP
    passed_on syscall, lastref_next_syscall, "cmpq $317, %rdi"   // SYS_seccomp
    .section .note.GNU-stack, "", @progbits
