// Counts what a program executes in qemu-user: a plugin of QEMU that writes each instruction's count and text when the program ends.
//
//   cc -shared -fPIC -O2 -DAPI=1 tools/instructions.c -o instructions.so
//   qemu-aarch64 -plugin ./instructions.so,out=counts.txt PROGRAM
//
// API is 2 from QEMU 9 on. The declarations are those of qemu-plugin.h, which Debian 12 does not have.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*)(uint64_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int registers, void *);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*)(uint64_t, void *), void *);

int qemu_plugin_version = API;

// A run of instructions that is entered at its first one and left after its last one.
struct block {
    struct block *next;
    uint64_t count;
    size_t length;
    char *texts[];
};
static struct block *blocks; // translation has a lock
static const char *out;

static void executed(unsigned cpu, void *block) {
    (void)cpu;
    __atomic_fetch_add(&((struct block *)block)->count, 1, __ATOMIC_RELAXED);
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    size_t length = qemu_plugin_tb_n_insns(tb);
    struct block *block = calloc(1, sizeof *block + length * sizeof *block->texts);
    if (!block)
        abort();
    block->length = length;
    for (size_t i = 0; i < length; i++)
        block->texts[i] = qemu_plugin_insn_disas(qemu_plugin_tb_get_insn(tb, i));
    block->next = blocks;
    blocks = block;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, 0, block);
}

static void ended(uint64_t id, void *nothing) {
    (void)id, (void)nothing;
    FILE *file = fopen(out, "w");
    if (!file)
        abort();
    for (struct block *block = blocks; block; block = block->next)
        for (size_t i = 0; block->count && i < block->length; i++)
            fprintf(file, "%" PRIu64 " %s\n", block->count, block->texts[i]);
    if (fclose(file))
        abort();
}

int qemu_plugin_install(uint64_t id, const void *about, int count, char **arguments) {
    (void)about;
    if (count != 1 || strncmp(arguments[0], "out=", 4))
        return 1;
    out = strdup(arguments[0] + 4);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
