/* Controls of the cameras that are not there; part of preload.c. The word controls=V in FAKE_V4L2_N gives camera N some:
 *   1  what a good webcam has; each value starts a little higher with each camera
 *   2  gain of another range without automatic, a flicker filter without auto
 *   3  like 1, but the driver refuses to change the exposure, and its focus moves in steps of 10 that it does not tell
 *   4  like 1, but its exposure ends at 20 ms
 *   5  like 1, with one control more, of a kind that came with Linux 6.16: a rectangle
 *   6  like 1, but no name is UTF-8 or ends, the menu of exposures goes on to 2^31, steps are 0, the gain ends before it begins,
 *      and the list of controls has no end
 * A value whose automatic is on is refused (EACCES), as newer kernels do. What is set is kept in FAKE_V4L2/N.controls, a
 * line `ID VALUE` (hexadecimal, decimal) for each control, for every process and for the test to read. */

struct control {
    unsigned id, type;
    const char *name;
    int min, max, step, normal, start, per_camera;
    unsigned master;                   /* its automatic, 0: none */
    int manual;                        /* the master's value that ends it */
};

#define RECTANGLE (V4L2_CID_USER_BASE + 0x11e1)
static const struct control controls[] = {
    {V4L2_CID_AUTO_WHITE_BALANCE, V4L2_CTRL_TYPE_BOOLEAN, "White Balance, Automatic", 0, 1, 1, 1, 1, 0, 0, 0},
    {V4L2_CID_AUTOGAIN, V4L2_CTRL_TYPE_BOOLEAN, "Gain, Automatic", 0, 1, 1, 1, 1, 0, 0, 0},
    {V4L2_CID_GAIN, V4L2_CTRL_TYPE_INTEGER, "Gain", 0, 255, 1, 64, 40, 7, V4L2_CID_AUTOGAIN, 0},
    {V4L2_CID_POWER_LINE_FREQUENCY, V4L2_CTRL_TYPE_MENU, "Power Line Frequency", 0, 3, 1, 1, 3, 0, 0, 0},
    {V4L2_CID_WHITE_BALANCE_TEMPERATURE, V4L2_CTRL_TYPE_INTEGER, "White Balance Temperature", 2800, 6500, 100, 4600, 4000, 300,
     V4L2_CID_AUTO_WHITE_BALANCE, 0},
    {RECTANGLE, 0x0107, "Region of Interest", 0, 0, 1, 0, 0, 0, 0, 0},
    {V4L2_CID_EXPOSURE_AUTO, V4L2_CTRL_TYPE_MENU, "Auto Exposure", 0, 3, 1, 3, 3, 0, 0, 0},
    {V4L2_CID_EXPOSURE_ABSOLUTE, V4L2_CTRL_TYPE_INTEGER, "Exposure Time, Absolute", 3, 2047, 1, 250, 333, 100,
     V4L2_CID_EXPOSURE_AUTO, V4L2_EXPOSURE_MANUAL},
    {V4L2_CID_EXPOSURE_AUTO_PRIORITY, V4L2_CTRL_TYPE_BOOLEAN, "Exposure, Dynamic Framerate", 0, 1, 1, 0, 1, 0, 0, 0},
    {V4L2_CID_FOCUS_ABSOLUTE, V4L2_CTRL_TYPE_INTEGER, "Focus, Absolute", 0, 250, 5, 0, 35, 5, V4L2_CID_FOCUS_AUTO, 0},
    {V4L2_CID_FOCUS_AUTO, V4L2_CTRL_TYPE_BOOLEAN, "Focus, Automatic Continuous", 0, 1, 1, 1, 1, 0, 0, 0},
};
#define CONTROLS ((int)(sizeof controls / sizeof controls[0]))

/* The camera's own range of the n-th control; 0 if it has none such. */
static int has_control(int node, int n, struct control *out) {
    long variant = word(node, "controls");
    *out = controls[n];
    if (variant < 1 || (out->id == RECTANGLE && variant != 5)) return 0;
    if (variant == 2) {
        if (out->id == V4L2_CID_GAIN) return out->min = 1, out->max = 128, out->master = 0, 1;
        if (out->id == V4L2_CID_POWER_LINE_FREQUENCY) return out->max = 2, out->start = 1, 1;
        return 0;
    }
    if (variant == 3 && out->id == V4L2_CID_FOCUS_ABSOLUTE) out->step = 1;
    if (variant == 6) {
        out->step = 0;
        if (out->id == V4L2_CID_EXPOSURE_AUTO) out->max = INT_MAX;
        if (out->id == V4L2_CID_GAIN) out->min = 9, out->max = 3;
    }
    if (variant == 4 && out->id == V4L2_CID_EXPOSURE_ABSOLUTE) out->max = 200, out->start = 100, out->per_camera = 0;
    return 1;
}

static int find_control(int node, unsigned id, struct control *out) {
    for (int i = 0; i < CONTROLS; i++)
        if (controls[i].id == id) return has_control(node, i, out);
    return 0;
}

static FILE *control_file(int node, const char *how) {
    char path[512];
    snprintf(path, sizeof path, "%s/%d.controls", getenv("FAKE_V4L2"), node);
    return fopen(path, how);
}

static int control_value(int node, const struct control *control) {
    int value = control->start + node * control->per_camera, set;
    unsigned id;
    FILE *file = control_file(node, "r");
    if (!file) return value;
    while (fscanf(file, "%x %d", &id, &set) == 2)
        if (id == control->id) value = set;
    fclose(file);
    return value;
}

static int automatic_is_on(int node, const struct control *control) {
    struct control master;
    return control->master && find_control(node, control->master, &master) && control_value(node, &master) != control->manual;
}

/* The last line of a control counts. */
static long set_control(int node, const struct control *control, int value) {
    long variant = word(node, "controls");
    if (variant == 3 && control->id == V4L2_CID_EXPOSURE_ABSOLUTE) return fail(EIO);
    if (automatic_is_on(node, control)) return fail(EACCES);
    if (control->id == V4L2_CID_EXPOSURE_AUTO && value != V4L2_EXPOSURE_MANUAL && value != V4L2_EXPOSURE_APERTURE_PRIORITY)
        return fail(EINVAL);
    value = value < control->min ? control->min : value > control->max ? control->max : value;
    if (variant == 3 && control->id == V4L2_CID_FOCUS_ABSOLUTE) value = value / 10 * 10;
    FILE *file = control_file(node, "a");
    if (!file) return fail(EIO);
    fprintf(file, "%08x %d\n", control->id, value);
    fclose(file);
    return 0;
}

static long answer_control(int node, unsigned request, void *data) {
    struct control control;
    if (word(node, "controls") < 1) return fail(ENOTTY);
    switch (request) {
    case VIDIOC_QUERY_EXT_CTRL: {
        struct v4l2_query_ext_ctrl *a = data;
        unsigned id = a->id & ~(V4L2_CTRL_FLAG_NEXT_CTRL | V4L2_CTRL_FLAG_NEXT_COMPOUND);
        int next = id != a->id, i = 0;
        while (i < CONTROLS && !(has_control(node, i, &control) && (next ? control.id > id : control.id == id))) i++;
        if (i == CONTROLS && next && word(node, "controls") == 6) has_control(node, i = 0, &control);
        if (i == CONTROLS) return fail(EINVAL);
        memset(a, 0, sizeof *a);
        a->id = control.id, a->type = control.type, a->elem_size = 4, a->elems = 1;
        snprintf(a->name, sizeof a->name, "%s", control.name);
        if (word(node, "controls") == 6) memset(a->name, 0xff, sizeof a->name);
        a->minimum = control.min, a->maximum = control.max, a->step = control.step, a->default_value = control.normal;
        a->flags = automatic_is_on(node, &control) ? V4L2_CTRL_FLAG_INACTIVE : 0;
        return 0;
    }
    case VIDIOC_QUERYMENU: {
        struct v4l2_querymenu *a = data;
        if (!find_control(node, a->id, &control) || (int)a->index > control.max) return fail(EINVAL);
        if (a->id == V4L2_CID_EXPOSURE_AUTO && a->index != V4L2_EXPOSURE_MANUAL && a->index != V4L2_EXPOSURE_APERTURE_PRIORITY)
            return fail(EINVAL);
        snprintf((char *)a->name, sizeof a->name, "Choice %u", a->index);
        return 0;
    }
    case VIDIOC_G_EXT_CTRLS:
    case VIDIOC_S_EXT_CTRLS: {
        struct v4l2_ext_controls *a = data;
        for (unsigned i = 0; i < a->count; i++) {
            if (!find_control(node, a->controls[i].id, &control)) return fail(EINVAL);
            if (request == VIDIOC_G_EXT_CTRLS) a->controls[i].value = control_value(node, &control);
            else if (set_control(node, &control, a->controls[i].value)) return -1;
        }
        return 0;
    }
    default: return fail(ENOTTY);
    }
}
