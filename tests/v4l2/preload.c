/* Cameras that are not there: loaded before libc (LD_PRELOAD), this answers in the kernel's place for /dev/video*, so that
 * the real V4L2 code above runs unchanged. In: the folder FAKE_V4L2 with an empty file videoN per node, the frames as
 * N.WIDTHxHEIGHT.yuyv and .jpg, and sys/class/video4linux; and FAKE_V4L2_N, words that say how camera N behaves:
 *   busy  denied  metadata  late=MS  unplug=FRAMES  hang=FRAMES  cut=FRAMES (each so manieth frame has half its bytes)
 *   controls=V (see controls.h)
 * A buffer is a piece of a memfd, which is also the descriptor that open() gives: so mmap needs no help. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
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
    unsigned width, height, format, rate;
    unsigned char *memory;             /* all buffers */
    unsigned buffers, queue[MOST_BUFFERS], queued;
    unsigned char *content;
    size_t content_size;
    unsigned frames;                   /* given so far */
    long long last;                    /* number of the last frame on the clock */
    int gone;
};

static struct camera cameras[MOST_OPEN];
static const struct { unsigned format, width, height, rate; } modes[] = {
    {V4L2_PIX_FMT_YUYV, 640, 480, 30}, {V4L2_PIX_FMT_YUYV, 640, 480, 15}, {V4L2_PIX_FMT_YUYV, 320, 240, 30},
    {V4L2_PIX_FMT_MJPEG, 640, 480, 30}, {V4L2_PIX_FMT_MJPEG, 320, 240, 30},
};
#define MODES (sizeof modes / sizeof modes[0])

static long (*real_syscall)(long, ...);
static int (*real_open)(const char *, int, ...);
static int (*real_poll)(struct pollfd *, nfds_t, int);
static int (*real_close)(int);
static DIR *(*real_opendir)(const char *);
static ssize_t (*real_readlink)(const char *, char *, size_t);

__attribute__((constructor)) static void find_real(void) {
    real_syscall = dlsym(RTLD_NEXT, "syscall");
    real_open = dlsym(RTLD_NEXT, "open");
    real_poll = dlsym(RTLD_NEXT, "poll");
    real_close = dlsym(RTLD_NEXT, "close");
    real_opendir = dlsym(RTLD_NEXT, "opendir");
    real_readlink = dlsym(RTLD_NEXT, "readlink");
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

static size_t buffer_size(const struct camera *c) { return ((size_t)c->width * c->height * 2 + 4095) & ~(size_t)4095; }

static void load_content(struct camera *c) {
    char path[512];
    const char *kind = c->format == V4L2_PIX_FMT_YUYV ? "yuyv" : "jpg";
    snprintf(path, sizeof path, "%s/%d.%ux%u.%s", getenv("FAKE_V4L2"), c->node, c->width, c->height, kind);
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
    char path[512];
    snprintf(path, sizeof path, "%s/video%d", getenv("FAKE_V4L2"), node);
    if (access(path, F_OK)) return -1;
    if (word(node, "denied") > 0) return fail(EACCES);
    int fd = memfd_create("camera", 0);
    for (int i = 0; fd > 0 && i < MOST_OPEN; i++) {
        if (cameras[i].fd) continue;
        cameras[i] = (struct camera){.fd = fd, .node = node, .format = modes[0].format, .width = 640, .height = 480, .rate = 30};
        load_content(&cameras[i]);
        return fd;
    }
    return fail(EMFILE);
}

/* A path below /sys/class/video4linux, moved into the folder. */
static const char *moved(const char *path, char *out, size_t size) {
    if (!getenv("FAKE_V4L2") || strncmp(path, "/sys/class/video4linux/", 23)) return path;
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

DIR *opendir(const char *path) {
    int dev = getenv("FAKE_V4L2") && !strcmp(path, "/dev");
    return real_opendir(dev ? getenv("FAKE_V4L2") : path);
}

int close(int fd) {
    struct camera *c = camera_of(fd);
    if (c) {
        if (c->memory) munmap(c->memory, buffer_size(c) * c->buffers);
        free(c->content);
        *c = (struct camera){0};
    }
    return real_close(fd);
}

static long long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Frame k of a camera is due at k / rate + late, so that two cameras keep their distance. */
static long long due_ns(const struct camera *c, long long k) {
    long late = word(c->node, "late");
    return k * 1000000000LL / c->rate + (late > 0 ? late : 0) * 1000000LL;
}

int poll(struct pollfd *fds, nfds_t n, int timeout) {
    struct camera *c = n == 1 ? camera_of(fds[0].fd) : NULL;
    if (!c) return real_poll(fds, n, timeout);
    long hang = word(c->node, "hang"), unplug = word(c->node, "unplug");
    while (hang >= 0 && c->frames >= (unsigned long)hang) pause();
    fds[0].revents = POLLIN;
    if (unplug >= 0 && c->frames >= (unsigned long)unplug) {
        char path[512];
        snprintf(path, sizeof path, "%s/video%d", getenv("FAKE_V4L2"), c->node);
        unlink(path);
        c->gone = 1;
        fds[0].revents = POLLERR;
        return 1;
    }
    long long k = c->last + 1, now = now_ns();
    while (due_ns(c, k) < now) k++;
    struct timespec due = {due_ns(c, k) / 1000000000LL, due_ns(c, k) % 1000000000LL};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) {}
    c->last = k;
    return 1;
}

static void fill(struct camera *c, struct v4l2_buffer *b) {
    long cut = word(c->node, "cut"), long_ = (long)c->content_size;
    if (cut > 0 && c->frames % cut == (unsigned long)cut - 1) long_ /= 2;
    unsigned char *memory = c->memory + buffer_size(c) * b->index;
    memset(memory, 0, buffer_size(c));
    memcpy(memory, c->content, long_);
    b->bytesused = long_;
    b->sequence = c->frames++;
    b->timestamp.tv_sec = due_ns(c, c->last) / 1000000000LL;
    b->timestamp.tv_usec = due_ns(c, c->last) % 1000000000LL / 1000;
    b->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
}

/* The n-th mode that differs from those before it in what is enumerated. */
static int nth_mode(unsigned n, unsigned format, unsigned width, unsigned height) {
    for (unsigned i = 0; i < MODES; i++) {
        int wanted = (!format || modes[i].format == format) && (!width || (modes[i].width == width && modes[i].height == height));
        for (unsigned j = 0; j < i && wanted; j++)
            if (modes[j].format == modes[i].format && (!format || (modes[j].width == modes[i].width && !width))) wanted = 0;
        if (wanted && n-- == 0) return i;
    }
    return -1;
}

#include "controls.h"

static long answer(struct camera *c, unsigned request, void *data) {
    if (c->gone) return fail(ENODEV);
    int busy = word(c->node, "busy") > 0, mode;
    switch (request) {
    case VIDIOC_QUERYCAP: {
        struct v4l2_capability *a = data;
        memset(a, 0, sizeof *a);
        strcpy((char *)a->driver, "fake");
        strcpy((char *)a->card, "Fake Camera");
        a->capabilities = a->device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
        return 0;
    }
    case VIDIOC_ENUM_FMT: {
        struct v4l2_fmtdesc *a = data;
        if (word(c->node, "metadata") > 0 || (mode = nth_mode(a->index, 0, 0, 0)) < 0) return fail(EINVAL);
        a->pixelformat = modes[mode].format;
        return 0;
    }
    case VIDIOC_ENUM_FRAMESIZES: {
        struct v4l2_frmsizeenum *a = data;
        if ((mode = nth_mode(a->index, a->pixel_format, 0, 0)) < 0) return fail(EINVAL);
        a->type = V4L2_FRMSIZE_TYPE_DISCRETE;
        a->discrete = (struct v4l2_frmsize_discrete){modes[mode].width, modes[mode].height};
        return 0;
    }
    case VIDIOC_ENUM_FRAMEINTERVALS: {
        struct v4l2_frmivalenum *a = data;
        if ((mode = nth_mode(a->index, a->pixel_format, a->width, a->height)) < 0) return fail(EINVAL);
        a->type = V4L2_FRMIVAL_TYPE_DISCRETE;
        a->discrete = (struct v4l2_fract){1, modes[mode].rate};
        return 0;
    }
    case VIDIOC_G_FMT:
    case VIDIOC_S_FMT: {
        struct v4l2_pix_format *a = &((struct v4l2_format *)data)->fmt.pix;
        if (request == VIDIOC_S_FMT) {
            if (busy || c->buffers) return fail(EBUSY);
            if (nth_mode(0, a->pixelformat, a->width, a->height) >= 0) {
                c->format = a->pixelformat, c->width = a->width, c->height = a->height;
                load_content(c);
            }
        }
        a->width = c->width, a->height = c->height, a->pixelformat = c->format;
        a->bytesperline = 2 * c->width, a->sizeimage = buffer_size(c), a->field = V4L2_FIELD_NONE;
        return 0;
    }
    case VIDIOC_G_PARM:
    case VIDIOC_S_PARM: {
        struct v4l2_captureparm *a = &((struct v4l2_streamparm *)data)->parm.capture;
        if (request == VIDIOC_S_PARM && a->timeperframe.numerator) c->rate = a->timeperframe.denominator / a->timeperframe.numerator;
        a->timeperframe = (struct v4l2_fract){1, c->rate};
        return 0;
    }
    case VIDIOC_REQBUFS: {
        struct v4l2_requestbuffers *a = data;
        if (busy || (a->count && c->buffers)) return fail(EBUSY);
        if (c->memory) munmap(c->memory, buffer_size(c) * c->buffers);
        c->memory = NULL;
        if (a->count > MOST_BUFFERS) a->count = MOST_BUFFERS;
        c->buffers = a->count;
        c->queued = 0;
        if (!a->count) return 0;
        size_t size = buffer_size(c) * a->count;
        if (ftruncate(c->fd, size)) return -1;
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
        if (!c->queued) return fail(EINVAL);
        a->index = c->queue[0];
        memmove(c->queue, c->queue + 1, --c->queued * sizeof c->queue[0]);
        fill(c, a);
        return 0;
    }
    case VIDIOC_STREAMON: return 0;
    case VIDIOC_STREAMOFF: c->queued = 0; return 0;
    default: return answer_control(c->node, request, data);
    }
}

/* The V4L2 code above calls ioctl through syscall(). */
long syscall(long number, ...) {
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    struct camera *c = number == SYS_ioctl ? camera_of(a[0]) : NULL;
    return c ? answer(c, a[1], (void *)a[2]) : real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
