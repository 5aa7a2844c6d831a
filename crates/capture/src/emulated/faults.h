/* What drivers and cables do wrong; part of preload.c. Words of FAKE_V4L2_N:
 *   cut=FRAMES  flagged=FRAMES  empty=FRAMES  overlong=FRAMES  skip=FRAMES: each so manieth frame has half its bytes and zeros
 *               behind them; is whole and called damaged by the driver; tells of no bytes; tells of more bytes than the
 *               buffer has; comes after two that the driver counted and gave nobody
 *   whole=FRAMES: so many frames come whole before any of these, however often the camera is opened
 *   padded (rows lie 96 bytes further apart)  other-size (sets 320x240 whatever is asked for)
 *   badnames (no text is UTF-8)  newer (numbers of a kernel to come in formats)  endless (no list ends; some sizes are 0)
 *   faulty (no buffer can be taken: EIO)  astray (gives buffers that there are not) */

static long given[16]; /* frames of each node */

/* Whether the word names this frame. */
static int strikes(int node, const char *name, unsigned frame) {
    long every = word(node, name);
    if (given[node] < word(node, "whole")) return 0;
    return every > 0 && frame % every == (unsigned long)every - 1;
}

static size_t padding(int node) { return word(node, "padded") > 0 ? 96 : 0; }

/* Puts the content into a buffer, row by row where there are rows; the bytes that are used. */
static size_t lay_out(int node, unsigned char *memory, const unsigned char *content, size_t size, size_t row) {
    size_t pad = row ? padding(node) : 0, at = 0;
    if (!pad) return memcpy(memory, content, size), size;
    for (; (at + 1) * row <= size; at++) {
        memcpy(memory + at * (row + pad), content + at * row, row);
        memset(memory + at * (row + pad) + row, 0xee, pad);
    }
    return at * (row + pad);
}

static void damage(int node, struct v4l2_buffer *b, unsigned char *memory) {
    unsigned frame = b->sequence;
    long skip = word(node, "skip");
    if (strikes(node, "cut", frame)) memset(memory + b->bytesused / 2, 0, b->bytesused - b->bytesused / 2), b->bytesused /= 2;
    if (strikes(node, "flagged", frame)) b->flags |= V4L2_BUF_FLAG_ERROR;
    if (strikes(node, "empty", frame)) b->bytesused = 0;
    if (strikes(node, "overlong", frame)) b->bytesused = b->length + 4096;
    if (skip > 0) b->sequence += 2 * ((frame + 1) / skip);
    given[node]++;
}

static void name_of_card(int node, unsigned char *name) {
    strcpy((char *)name, word(node, "badnames") > 0 ? "\xff\xfe\x1b[2J" : "Fake Camera");
}

/* The entry that is told under an index. */
static unsigned kept_in(int node, unsigned index) { return word(node, "endless") > 0 && index > 1 ? 0 : index; }

static void strange_size(int node, struct v4l2_frmsize_discrete *size, unsigned index) {
    if (word(node, "endless") > 0 && index % 3 == 2) size->width = index % 2 ? 0 : 3000000000u;
}
