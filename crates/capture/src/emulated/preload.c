/* Cameras that are not there: loaded before libc (LD_PRELOAD), this answers in the kernel's place for /dev/video*, so that
 * the real V4L2 code above runs unchanged. In: the folder FAKE_V4L2 with a file videoN per node, which may hold the number of
 * the camera whose pictures it shows (else N); the frames as N.WIDTHxHEIGHT.yuyv, .jpg, .nv12, .grey and .y16; dev/v4l and
 * sys/class/video4linux; and FAKE_V4L2_N, words that say how the camera at node N behaves:
 *   busy  denied  metadata  refuse (any mode)  controls=V (see controls.h)
 *   nv12  grey  y16  fraction (30000/1001)  wide  stepwise: offers this instead of YUYV and MJPEG
 *   stands: stands in a mode that is not in its list  grants=RATE, whatever is asked for  room=MB: no more a second, but MJPEG
 *   late=MS  slow=FACTOR  free (counts its frames from when it is started, late by that)
 *   unplug=FRAMES (or when videoN is removed)  hang=FRAMES (until goN is there)  stuck=FRAMES (the same, and
 *   no call comes back)  broken=FRAMES (once)
 *   its lens is covered while coverN is there (not of MJPEG)
 *   stamp-none  stamp-equal  stamp-back  stamp-far  stamp-ahead (by 30 ms)  stamp-wild (past all calendars)
 *   and what faults.h says
 * A buffer is a piece of a memfd, which is also the descriptor that open() gives: so mmap needs no help. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_OPEN 16
#define MOST_BUFFERS 8

struct camera {
    int fd, node;                      /* fd 0: free */
    unsigned char *memory;             /* all buffers */
    unsigned buffers, queue[MOST_BUFFERS], queued;
    unsigned char *content;
    size_t content_size;
    unsigned frames;                   /* given so far */
    long long last;                    /* number of the last frame on the clock */
    long long origin;                  /* when frame 0 was due, ns */
    long long first_stamp;
    int ready;                         /* a frame waits to be taken */
    int gone;
};

static struct camera cameras[MOST_OPEN];
static pthread_mutex_t claiming = PTHREAD_MUTEX_INITIALIZER; /* two cameras are opened at the same time */

struct mode { unsigned format, width, height, num, den; };
static struct mode present[MOST_OPEN];  /* of each node, whoever set it */
static int broken[MOST_OPEN];
#define Y V4L2_PIX_FMT_YUYV
#define M V4L2_PIX_FMT_MJPEG
static const struct mode usual[] = {
    {Y, 640, 480, 1, 30}, {Y, 640, 480, 1, 15}, {Y, 320, 240, 1, 30}, {M, 640, 480, 1, 30}, {M, 320, 240, 1, 30}, {0}};
static const struct mode nv12[] = {{V4L2_PIX_FMT_NV12, 640, 480, 1, 30}, {V4L2_PIX_FMT_NV12, 320, 240, 1, 30}, {0}};
static const struct mode grey[] = {{V4L2_PIX_FMT_GREY, 640, 480, 1, 30}, {V4L2_PIX_FMT_GREY, 320, 240, 1, 60}, {0}};
static const struct mode y16[] = {{V4L2_PIX_FMT_Y16, 320, 240, 1, 30}, {0}};
static const struct mode fraction[] = {{Y, 640, 480, 1001, 30000}, {Y, 320, 240, 1, 30}, {0}};
static const struct mode wide[] = {{M, 2560, 720, 1, 30}, {M, 640, 480, 1, 30}, {Y, 320, 240, 1, 30}, {0}};
static const struct mode stepwise[] = {{Y, 640, 480, 1, 30}, {Y, 320, 240, 1, 30}, {0}};

static int (*real_ioctl)(int, unsigned long, ...);
static int (*real_ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
static int (*real_open)(const char *, int, ...);
static int (*real_poll)(struct pollfd *, nfds_t, int);
static int (*real_close)(int);
static DIR *(*real_opendir)(const char *);
static ssize_t (*real_readlink)(const char *, char *, size_t);
static char *(*real_realpath)(const char *, char *);
static long (*real_syscall)(long, ...);

__attribute__((constructor)) static void find_real(void) {
    real_ioctl = dlsym(RTLD_NEXT, "ioctl");
    real_ppoll = dlsym(RTLD_NEXT, "ppoll");
    real_open = dlsym(RTLD_NEXT, "open");
    real_poll = dlsym(RTLD_NEXT, "poll");
    real_close = dlsym(RTLD_NEXT, "close");
    real_opendir = dlsym(RTLD_NEXT, "opendir");
    real_readlink = dlsym(RTLD_NEXT, "readlink");
    real_realpath = dlsym(RTLD_NEXT, "realpath");
    real_syscall = dlsym(RTLD_NEXT, "syscall");
}

/* The number of a word such as hang=10 in FAKE_V4L2_N, 1 for a word without one, -1 if it is not there. */
static long word(int node, const char *name) {
    char key[32];
    snprintf(key, sizeof key, "FAKE_V4L2_%d", node);
    const char *words = getenv(key), *at = words ? strstr(words, name) : NULL;
    if (!at) return -1;
    at += strlen(name);
    return *at == '=' ? atol(at + 1) : 1;
}

static long fail(int error) {
    errno = error;
    return -1;
}

static struct camera *camera_of(int fd) {
    for (int i = 0; fd > 0 && i < MOST_OPEN; i++)
        if (cameras[i].fd == fd) return &cameras[i];
    return NULL;
}

static struct mode *now_of(const struct camera *c) { return &present[c->node]; }

static const struct mode *modes_of(int node) {
    static const struct { const char *name; const struct mode *modes; } lists[] = {
        {"nv12", nv12}, {"grey", grey}, {"y16", y16}, {"fraction", fraction}, {"wide", wide}, {"stepwise", stepwise}};
    for (unsigned i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (word(node, lists[i].name) > 0) return lists[i].modes;
    return usual;
}

static long fail(int error);
static long word(int node, const char *name);
#include "faults.h"

static unsigned bytes_per_pixel(unsigned format) { return format == Y || format == V4L2_PIX_FMT_Y16 ? 2 : 1; }

static size_t buffer_size(const struct camera *c) {
    size_t row = (size_t)now_of(c)->width * 2 + padding(c->node);
    return (row * now_of(c)->height + 4095) & ~(size_t)4095;
}

static void path_of(int node, const char *name, char *out, size_t size) {
    snprintf(out, size, "%s/%s%d", getenv("FAKE_V4L2"), name, node);
}

static int is_there(int node, const char *name) {
    char path[512];
    path_of(node, name, path, sizeof path);
    return !access(path, F_OK);
}

/* Which camera is plugged in as this node. */
static int camera_at(int node) {
    char path[512], text[16] = "";
    path_of(node, "video", path, sizeof path);
    int fd = real_open(path, O_RDONLY);
    if (fd < 0) return node;
    ssize_t n = read(fd, text, sizeof text - 1);
    real_close(fd);
    return n > 0 ? atoi(text) : node;
}

static void load_content(struct camera *c) {
    char path[512];
    unsigned format = now_of(c)->format;
    const char *kind = format == Y ? "yuyv" : format == V4L2_PIX_FMT_NV12 ? "nv12" : format == V4L2_PIX_FMT_GREY ? "grey"
                     : format == V4L2_PIX_FMT_Y16 ? "y16" : "jpg";
    snprintf(path, sizeof path, "%s/%d.%ux%u.%s", getenv("FAKE_V4L2"), camera_at(c->node), now_of(c)->width,
             now_of(c)->height, kind);
    free(c->content);
    c->content = calloc(1, buffer_size(c));
    c->content_size = 0;
    int fd = real_open(path, O_RDONLY);
    if (fd < 0) return;
    ssize_t n = read(fd, c->content, buffer_size(c));
    if (n > 0) c->content_size = n;
    real_close(fd);
}

static int open_camera(int node) {
    if (!is_there(node, "video") || node >= MOST_OPEN) return fail(ENOENT);
    if (word(node, "denied") > 0) return fail(EACCES);
    int fd = memfd_create("camera", 0), free_place = -1;
    pthread_mutex_lock(&claiming);
    for (int i = MOST_OPEN - 1; i >= 0; i--)
        if (!cameras[i].fd) free_place = i;
    if (fd > 0 && free_place >= 0) {
        cameras[free_place] = (struct camera){.fd = fd, .node = node};
        if (!present[node].format) {
            present[node] = modes_of(node)[0];
            if (word(node, "stands") > 0) present[node] = (struct mode){V4L2_PIX_FMT_H264, 640, 480, 1001, 30000};
        }
    }
    pthread_mutex_unlock(&claiming);
    return free_place >= 0 ? fd : fail(EMFILE);
}

/* A path below /sys/class/video4linux or /dev/v4l, moved into the folder. */
static const char *moved(const char *path, char *out, size_t size) {
    if (!getenv("FAKE_V4L2") || (strncmp(path, "/sys/class/video4linux/", 23) && strncmp(path, "/dev/v4l/", 9))) return path;
    snprintf(out, size, "%s%s", getenv("FAKE_V4L2"), path);
    return out;
}

static int opened(const char *path, int flags, int mode) {
    char buffer[512], rest;
    int node;
    if (getenv("FAKE_V4L2") && sscanf(path, "/dev/video%d%c", &node, &rest) == 1) return open_camera(node);
    return real_open(moved(path, buffer, sizeof buffer), flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = va_arg(list, int);
    va_end(list);
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = va_arg(list, int);
    va_end(list);
    return opened(path, flags | O_LARGEFILE, mode);
}

ssize_t readlink(const char *path, char *out, size_t size) {
    char buffer[512];
    return real_readlink(moved(path, buffer, sizeof buffer), out, size);
}

char *realpath(const char *path, char *out) {
    char buffer[512];
    return real_realpath(moved(path, buffer, sizeof buffer), out);
}

DIR *opendir(const char *path) {
    char buffer[512];
    int dev = getenv("FAKE_V4L2") && !strcmp(path, "/dev");
    return real_opendir(dev ? getenv("FAKE_V4L2") : moved(path, buffer, sizeof buffer));
}

int close(int fd) {
    struct camera *c = camera_of(fd);
    if (c) {
        if (c->memory) munmap(c->memory, buffer_size(c) * c->buffers);
        free(c->content);
        pthread_mutex_lock(&claiming);
        *c = (struct camera){0};
        pthread_mutex_unlock(&claiming);
    }
    return real_close(fd);
}

static long long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Time between two frames, ns. */
static long long interval_ns(const struct camera *c) {
    long slow = word(c->node, "slow");
    return 1000000000LL * now_of(c)->num / now_of(c)->den * (slow > 0 ? slow : 1);
}

/* Frame k of a camera is due so many intervals and its lateness after its origin: the clock's, so that two cameras keep
 * their distance, or its start. */
static long long due_ns(const struct camera *c, long long k) {
    long late = word(c->node, "late");
    return c->origin + k * interval_ns(c) + (late > 0 ? late : 0) * 1000000LL;
}

static void sleep_until(long long ns) {
    struct timespec due = {ns / 1000000000LL, ns % 1000000000LL};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) {}
}

static void pull_out(int node) {
    char path[512];
    path_of(node, "video", path, sizeof path);
    unlink(path);
}

int poll(struct pollfd *fds, nfds_t n, int timeout) {
    struct camera *c = n == 1 ? camera_of(fds[0].fd) : NULL;
    if (!c) return real_poll(fds, n, timeout);
    long hang = word(c->node, "hang"), unplug = word(c->node, "unplug");
    long long end = timeout < 0 ? LLONG_MAX : now_ns() + timeout * 1000000LL;
    fds[0].revents = POLLIN;
    if (unplug >= 0 && c->frames >= (unsigned long)unplug) pull_out(c->node);
    while (is_there(c->node, "video") && hang >= 0 && c->frames >= (unsigned long)hang && !is_there(c->node, "go")) {
        if (now_ns() >= end) return fds[0].revents = 0;
        sleep_until(now_ns() + 5000000);
    }
    if (!is_there(c->node, "video")) {
        c->gone = 1;
        fds[0].revents = POLLERR;
        return 1;
    }
    if (c->ready) return 1;
    long long k = c->last + 1, now = now_ns();
    if (due_ns(c, k) < now) k += (now - due_ns(c, k)) / interval_ns(c) + 1;
    if (due_ns(c, k) > end) {
        sleep_until(end);
        return fds[0].revents = 0;
    }
    sleep_until(due_ns(c, k));
    c->last = k;
    return c->ready = 1;
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask) {
    if (n != 1 || !camera_of(fds[0].fd)) return real_ppoll(fds, n, timeout, mask);
    return poll(fds, n, timeout ? timeout->tv_sec * 1000 + timeout->tv_nsec / 1000000 : -1);
}

static void fill(struct camera *c, struct v4l2_buffer *b) {
    unsigned char *memory = c->memory + buffer_size(c) * b->index;
    size_t row = now_of(c)->format == M ? 0 : bytes_per_pixel(now_of(c)->format) * now_of(c)->width;
    memset(memory, 0, buffer_size(c));
    b->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    b->length = buffer_size(c);
    b->sequence = c->frames;
    b->bytesused = lay_out(c->node, memory, c->content, c->content_size, row);
    if (is_there(c->node, "cover")) memset(memory, 16, b->bytesused);
    damage(c->node, b, memory);
    long long stamp = due_ns(c, c->last);
    if (!c->first_stamp) c->first_stamp = stamp;
    if (word(c->node, "stamp-none") > 0) stamp = 0;
    if (word(c->node, "stamp-equal") > 0) stamp = c->first_stamp;
    if (word(c->node, "stamp-far") > 0) stamp -= 90000000000LL;
    if (word(c->node, "stamp-wild") > 0) stamp = LLONG_MAX;
    if (word(c->node, "stamp-ahead") > 0) stamp += 30000000LL;
    if (word(c->node, "stamp-back") > 0 && c->frames % 2) stamp -= 1000000000LL; /* behind the one before, however slow */
    c->ready = 0;
    c->frames++;
    b->timestamp.tv_sec = stamp / 1000000000LL;
    b->timestamp.tv_usec = stamp % 1000000000LL / 1000;
    if (stamp == LLONG_MAX) b->timestamp.tv_sec = LONG_MAX;
}

/* The n-th mode that differs from those before it in what is enumerated. */
static const struct mode *nth_mode(int node, unsigned n, unsigned format, unsigned width, unsigned height) {
    const struct mode *modes = modes_of(node);
    for (const struct mode *m = modes; m->format; m++) {
        int wanted = (!format || m->format == format) && (!width || (m->width == width && m->height == height));
        for (const struct mode *o = modes; o < m && wanted; o++)
            if (o->format == m->format && (!format || (o->width == m->width && !width))) wanted = 0;
        if (wanted && n-- == 0) return m;
    }
    return NULL;
}

/* Somebody has buffers of this node: its mode stands. */
static int in_use(int node) {
    for (int i = 0; i < MOST_OPEN; i++)
        if (cameras[i].fd && cameras[i].node == node && cameras[i].buffers) return 1;
    return 0;
}

#include "controls.h"

static long answer(struct camera *c, unsigned request, void *data) {
    if (c->gone || !is_there(c->node, "video")) return fail(ENODEV);
    int busy = word(c->node, "busy") > 0, meta = word(c->node, "metadata") > 0;
    struct mode *now = now_of(c);
    const struct mode *mode;
    switch (request) {
    case VIDIOC_QUERYCAP: {
        struct v4l2_capability *a = data;
        memset(a, 0, sizeof *a);
        strcpy((char *)a->driver, "fake");
        name_of_card(c->node, a->card);
        a->device_caps = (meta ? V4L2_CAP_META_CAPTURE : V4L2_CAP_VIDEO_CAPTURE) | V4L2_CAP_STREAMING;
        a->capabilities = a->device_caps | V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_DEVICE_CAPS;
        return 0;
    }
    case VIDIOC_ENUM_FMT: {
        struct v4l2_fmtdesc *a = data;
        if (meta || !(mode = nth_mode(c->node, kept_in(c->node, a->index), 0, 0, 0))) return fail(EINVAL);
        a->pixelformat = mode->format;
        name_of_card(c->node, a->description);
        return 0;
    }
    case VIDIOC_ENUM_FRAMESIZES: {
        struct v4l2_frmsizeenum *a = data;
        unsigned index = a->index;
        if (!(mode = nth_mode(c->node, kept_in(c->node, index), a->pixel_format, 0, 0))) return fail(EINVAL);
        if (word(c->node, "stepwise") > 0) {
            if (a->index) return fail(EINVAL);
            a->type = V4L2_FRMSIZE_TYPE_STEPWISE;
            a->stepwise = (struct v4l2_frmsize_stepwise){320, 640, 16, 240, 480, 8};
            return 0;
        }
        a->type = V4L2_FRMSIZE_TYPE_DISCRETE;
        a->discrete = (struct v4l2_frmsize_discrete){mode->width, mode->height};
        strange_size(c->node, &a->discrete, index);
        return 0;
    }
    case VIDIOC_ENUM_FRAMEINTERVALS: {
        struct v4l2_frmivalenum *a = data;
        if (!(mode = nth_mode(c->node, kept_in(c->node, a->index), a->pixel_format, a->width, a->height))) return fail(EINVAL);
        a->type = V4L2_FRMIVAL_TYPE_DISCRETE;
        a->discrete = (struct v4l2_fract){mode->num, mode->den};
        return 0;
    }
    case VIDIOC_G_FMT:
    case VIDIOC_S_FMT: {
        struct v4l2_pix_format *a = &((struct v4l2_format *)data)->fmt.pix;
        if (request == VIDIOC_S_FMT) {
            if (busy || in_use(c->node)) return fail(EBUSY);
            if (word(c->node, "refuse") > 0) return fail(EINVAL);
            mode = nth_mode(c->node, 0, a->pixelformat, a->width, a->height);
            if (mode) *now = *mode;
            if (word(c->node, "other-size") > 0) now->width = 320, now->height = 240;
        }
        a->width = now->width, a->height = now->height, a->pixelformat = now->format;
        a->bytesperline = now->format == M ? 0 : bytes_per_pixel(now->format) * now->width + padding(c->node);
        a->sizeimage = buffer_size(c), a->field = V4L2_FIELD_NONE;
        if (word(c->node, "newer") > 0) a->field = a->colorspace = a->quantization = a->xfer_func = 0x77;
        return 0;
    }
    case VIDIOC_G_PARM:
    case VIDIOC_S_PARM: {
        struct v4l2_captureparm *a = &((struct v4l2_streamparm *)data)->parm.capture;
        long grants = word(c->node, "grants");
        if (request == VIDIOC_S_PARM && a->timeperframe.numerator)
            now->num = a->timeperframe.numerator, now->den = a->timeperframe.denominator;
        if (request == VIDIOC_S_PARM && grants > 0) now->num = 1, now->den = grants;
        a->timeperframe = (struct v4l2_fract){now->num, now->den};
        return 0;
    }
    case VIDIOC_REQBUFS: {
        struct v4l2_requestbuffers *a = data;
        if (busy || (a->count && in_use(c->node))) return fail(EBUSY);
        if (c->memory) munmap(c->memory, buffer_size(c) * c->buffers);
        c->memory = NULL;
        if (a->count > MOST_BUFFERS) a->count = MOST_BUFFERS;
        c->buffers = a->count;
        c->queued = 0;
        if (!a->count) return 0;
        size_t size = buffer_size(c) * a->count;
        if (ftruncate(c->fd, size)) return -1;
        load_content(c);
        c->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
        return c->memory == MAP_FAILED ? fail(ENOMEM) : 0;
    }
    case VIDIOC_QUERYBUF:
    case VIDIOC_QBUF: {
        struct v4l2_buffer *a = data;
        if (a->index >= c->buffers) return fail(EINVAL);
        a->length = buffer_size(c);
        a->m.offset = buffer_size(c) * a->index;
        if (request == VIDIOC_QBUF && c->queued < MOST_BUFFERS) c->queue[c->queued++] = a->index;
        return 0;
    }
    case VIDIOC_DQBUF: {
        struct v4l2_buffer *a = data;
        long frames = word(c->node, "broken");
        long stuck = word(c->node, "stuck");
        if (!c->queued) return fail(EINVAL);
        while (stuck >= 0 && c->frames >= (unsigned long)stuck && !is_there(c->node, "go")) sleep_until(now_ns() + 5000000);
        if (word(c->node, "faulty") > 0) return fail(EIO);
        if (frames >= 0 && c->frames >= (unsigned long)frames && !broken[c->node]) return broken[c->node] = 1, fail(EPROTO);
        a->index = c->queue[0];
        memmove(c->queue, c->queue + 1, --c->queued * sizeof c->queue[0]);
        fill(c, a);
        if (word(c->node, "astray") > 0) a->index = 1000;
        return 0;
    }
    case VIDIOC_STREAMON: {
        long room = word(c->node, "room");
        long need = (long)now->width * now->height * bytes_per_pixel(now->format) / 1000 * now->den / now->num;
        if (room >= 0 && now->format != M && need > room * 1000) return fail(ENOSPC);
        c->origin = word(c->node, "free") > 0 ? now_ns() : 0;
        c->last = 0;
        return 0;
    }
    case VIDIOC_STREAMOFF: c->queued = 0, c->ready = 0; return 0;
    default: return answer_control(c->node, request, data);
    }
}

int ioctl(int fd, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *data = va_arg(list, void *);
    va_end(list);
    struct camera *c = camera_of(fd);
    return c ? answer(c, request, data) : real_ioctl(fd, request, data);
}

/* nokhwa's bindings call ioctl by its number. */
long syscall(long number, ...) {
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_ioctl) return ioctl((int)a[0], (unsigned long)a[1], (void *)a[2]);
    if (!real_syscall) find_real();
    return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
