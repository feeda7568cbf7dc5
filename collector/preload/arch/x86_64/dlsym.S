// dlsym, exported to the program.
//
// glibc finds out who calls dlsym by its return address, and RTLD_NEXT and RTLD_DEFAULT mean something else for another
// caller. So whatever is not ours is passed on by a jump: the next dlsym sees the program's return address, as if we were
// not there. Ours are the names of hooked functions, of the driver above all; they go to a C++ function that gets the return
// address as an argument.
    .text
    .globl  dlsym
    .type   dlsym, @function
    .p2align 4
dlsym:
    .cfi_startproc
    endbr64
    testq   %rsi, %rsi
    je      .Lpass
    cmpb    $0x49, (%rsi)               // 'I': what NVTX asks its tools for
    je      .Lperhaps_ours
    cmpb    $0x50, (%rsi)               // 'P'
    je      .Lperhaps_python
    cmpb    $0x63, (%rsi)               // 'c'
    jne     .Lpass
    cmpb    $0x75, 1(%rsi)              // 'u'
    je      .Lperhaps_ours
.Lpass:
    movq    lastref_next_dlsym(%rip), %r11
    testq   %r11, %r11
    je      .Lresolve
    jmp     *%r11
.Lresolve:                              // before our constructor: another library's constructor calls dlsym
    pushq   %rdi
    .cfi_adjust_cfa_offset 8
    pushq   %rsi
    .cfi_adjust_cfa_offset 8
    subq    $8, %rsp
    .cfi_adjust_cfa_offset 8
    call    lastref_find_next_dlsym
    addq    $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq    %rsi
    .cfi_adjust_cfa_offset -8
    popq    %rdi
    .cfi_adjust_cfa_offset -8
    movq    lastref_next_dlsym(%rip), %r11
    testq   %r11, %r11
    je      .Lnone
    jmp     *%r11
.Lnone:                                 // a program without libdl, before glibc 2.34
    xorl    %eax, %eax
    ret
.Lperhaps_python:
    cmpb    $0x79, 1(%rsi)              // 'y'
    jne     .Lpass
.Lperhaps_ours:
    movq    (%rsp), %rdx                // the caller
    pushq   %rdi
    .cfi_adjust_cfa_offset 8
    pushq   %rsi
    .cfi_adjust_cfa_offset 8
    subq    $8, %rsp
    .cfi_adjust_cfa_offset 8
    call    lastref_dlsym_is_ours       // (handle, name, caller)
    addq    $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq    %rsi
    .cfi_adjust_cfa_offset -8
    popq    %rdi
    .cfi_adjust_cfa_offset -8
    testb   %al, %al
    je      .Lpass
    movq    (%rsp), %rdx
    jmp     lastref_dlsym_of_driver     // (handle, name, caller)
    .cfi_endproc
    .size   dlsym, .-dlsym
    .section .note.GNU-stack, "", @progbits
