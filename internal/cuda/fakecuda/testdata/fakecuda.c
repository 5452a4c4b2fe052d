// A driver of no device: the functions that the package calls, over host memory.
// Streams are threads, so that what is asynchronous in CUDA is so here. Every
// call is checked as the driver would: the context must be current on the thread,
// handles and addresses must exist. Functions named fake_* let tests make calls
// fail and count what is alive.
//
// Compile with -DVERSION=11080 for an old driver, -DNO_POOLS for a device
// without memory pools, -DINCOMPLETE for a library that lacks a function, -DNO_LINKER
// for one whose linker always fails.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION 12080
#endif
#define CAPACITY ((size_t)8 << 30) // of the device
#define LINK_SIZE ((size_t)8 << 20) // of what is linked, 64 bytes before it and the level of optimisation behind it
#define API __attribute__((visibility("default"))) int

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101,
       INVALID_IMAGE = 200, INVALID_CONTEXT = 201, INVALID_PTX = 218, INVALID_HANDLE = 400,
       NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, CONTEXT_IS_DESTROYED = 709 };

// Kinds of things that are alive, for fake_live.
enum { CONTEXTS, MODULES, STREAMS, EVENTS, MEMORY, HOST, POOLS, LINKS, GRAPHS, KINDS };

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER; // guards everything
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long live[KINDS];
static long devices = 2, delay, discard;
static size_t discarded, furthest;

typedef struct { int ordinal, retained, sticky; } context;
static context primary[2] = {{0}, {1}};
static context extra = {1, 1}; // a context that is not a primary one
static __thread context *current;

// ---- failures on demand

static struct { char name[64]; int code, after; } plan;

static int planned(const char *name) {
	int code = 0;
	pthread_mutex_lock(&big);
	if (plan.code && !strcmp(plan.name, name) && plan.after-- <= 0) code = plan.code;
	pthread_mutex_unlock(&big);
	return code;
}
static int in_context(const char *name) {
	int code = planned(name);
	if (code) return code;
	if (!current) return INVALID_CONTEXT;
	if (!current->retained) return CONTEXT_IS_DESTROYED;
	return current->sticky;
}
#define MAYBE_FAIL do { int c = planned(__func__); if (c) return c; } while (0)
#define NEED_CONTEXT do { int c = in_context(__func__); if (c) return c; } while (0)

API fake_fail(const char *name, int code, int after) {
	pthread_mutex_lock(&big);
	snprintf(plan.name, sizeof plan.name, "%s", name);
	plan.code = code, plan.after = after;
	pthread_mutex_unlock(&big);
	return 0;
}
API fake_live(int kind) { pthread_mutex_lock(&big); int n = live[kind]; pthread_mutex_unlock(&big); return n; }
API fake_devices(int n) { devices = n; return 0; }
API fake_delay(int us) { delay = us; return 0; } // before each thing that a stream does
API fake_discard(int on) { discard = on; discarded = furthest = 0; return 0; } // copies only count
API fake_discarded(size_t *bytes, size_t *end) { *bytes = discarded, *end = furthest; return 0; }
API fake_foreign(void **ctx) { *ctx = &extra; return 0; }
API fake_set_current(void *ctx) { current = ctx; return 0; }
API fake_get_current(void **ctx) { *ctx = current; return 0; }
API fake_sticky(int ordinal, int code) { primary[ordinal].sticky = code; return 0; }

static void count(int kind, long by) { pthread_mutex_lock(&big); live[kind] += by; pthread_mutex_unlock(&big); }

// ---- device memory

typedef struct block { char *at; size_t bytes; struct pool *pool; int used; struct block *next; } block;
typedef struct pool { int dummy; } pool;
static block *blocks;
static size_t taken;

static int inside(const void *p, size_t n) {
	int ok = 0;
	pthread_mutex_lock(&big);
	for (block *b = blocks; b; b = b->next)
		if (b->used && (char *)p >= b->at && (char *)p + n <= b->at + b->bytes) ok = 1;
	pthread_mutex_unlock(&big);
	return ok;
}

// Blocks of a pool are used again for allocations of their very size, which is
// enough fragmentation to need trimming.
static int take(uintptr_t *out, size_t bytes, pool *from) {
	pthread_mutex_lock(&big);
	block *b = NULL;
	if (from)
		for (b = blocks; b && (b->used || b->pool != from || b->bytes != bytes); b = b->next) {}
	if (!b) {
		if (bytes > CAPACITY - taken) { pthread_mutex_unlock(&big); return OUT_OF_MEMORY; }
		b = calloc(1, sizeof *b);
		b->at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (b->at == MAP_FAILED) abort();
		b->bytes = bytes, b->pool = from, b->next = blocks;
		blocks = b, taken += bytes;
	}
	b->used = 1, live[MEMORY]++;
	*out = (uintptr_t)b->at;
	pthread_mutex_unlock(&big);
	return 0;
}

static void unmap(block **where) {
	block *b = *where;
	*where = b->next, taken -= b->bytes;
	munmap(b->at, b->bytes);
	free(b);
}

static int give(uintptr_t p) {
	int code = INVALID_VALUE;
	pthread_mutex_lock(&big);
	for (block **b = &blocks; *b; b = &(*b)->next)
		if ((uintptr_t)(*b)->at == p && (*b)->used) {
			code = 0, (*b)->used = 0, live[MEMORY]--;
			if (!(*b)->pool) unmap(b);
			break;
		}
	pthread_mutex_unlock(&big);
	return code;
}

// ---- streams

typedef struct event { long asked, reached; struct timespec when; } event;
typedef struct module { char *text; struct { char name[64]; struct module *of; } functions[64]; int n; } module;

typedef struct op {
	enum { COPY, FILL8, FREE, RECORD, WAIT, KERNEL, HOST_CALL } what;
	void *dst; const void *src;
	size_t n; uint32_t value;
	event *e; long seq;
	char name[64], *params; size_t size;
	void (*call)(void *);
	struct op *next;
} op;

typedef struct graph { op *ops, **last; } graph;
typedef struct stream { pthread_t thread; context *ctx; op *first, **last; long queued, run; int quit; graph *recording; } stream;
static stream *legacy;

static void kernel(stream *s, op *o) {
	if (!strcmp(o->name, "scale")) { // scale(double *x, int64 n, double by)
		struct { double *x; int64_t n; double by; } p;
		memcpy(&p, o->params, sizeof p);
		if (!inside(p.x, p.n * 8)) { s->ctx->sticky = ILLEGAL_ADDRESS; return; }
		for (int64_t i = 0; i < p.n; i++) p.x[i] *= p.by;
	} else if (!strcmp(o->name, "wild")) {
		s->ctx->sticky = ILLEGAL_ADDRESS;
	} else if (!strcmp(o->name, "nap")) { // nap(int64 microseconds)
		int64_t us;
		memcpy(&us, o->params, sizeof us);
		usleep(us);
	}
}

static void run(stream *s, op *o) {
	if (delay) usleep(delay);
	if (s->ctx->sticky && o->what != RECORD) return;
	switch (o->what) {
	case COPY: memcpy(o->dst, o->src, o->n); break;
	case FILL8: memset(o->dst, o->value, o->n); break;
	case FREE: if (give((uintptr_t)o->dst)) abort(); break;
	case KERNEL: kernel(s, o); break;
	case HOST_CALL: o->call(o->dst); break;
	case RECORD:
		pthread_mutex_lock(&big);
		clock_gettime(CLOCK_MONOTONIC, &o->e->when);
		o->e->reached = o->seq;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&big);
		break;
	case WAIT:
		pthread_mutex_lock(&big);
		while (o->e->reached < o->seq) pthread_cond_wait(&changed, &big);
		pthread_mutex_unlock(&big);
		break;
	}
}

static void *serve(void *arg) {
	stream *s = arg;
	pthread_mutex_lock(&big);
	for (;;) {
		while (!s->first && !s->quit) pthread_cond_wait(&changed, &big);
		op *o = s->first;
		if (!o) break;
		pthread_mutex_unlock(&big);
		run(s, o);
		pthread_mutex_lock(&big);
		if (!(s->first = o->next)) s->last = &s->first;
		s->run++;
		free(o->params), free(o);
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&big);
	free(s);
	return NULL;
}

static stream *new_stream(context *ctx) {
	stream *s = calloc(1, sizeof *s);
	s->ctx = ctx, s->last = &s->first;
	pthread_create(&s->thread, NULL, serve, s);
	pthread_detach(s->thread);
	return s;
}

static stream *of(void *handle) {
	if (handle) return handle;
	pthread_mutex_lock(&big);
	if (!legacy) legacy = new_stream(&primary[0]);
	pthread_mutex_unlock(&big);
	return legacy;
}

static int put(void *handle, op o) {
	stream *s = of(handle);
	op *copy = malloc(sizeof o);
	*copy = o, copy->next = NULL;
	pthread_mutex_lock(&big);
	graph *g = s->recording;
	if (g) {
		*g->last = copy, g->last = &copy->next;
		pthread_mutex_unlock(&big);
		return 0;
	}
	*s->last = copy, s->last = &copy->next;
	s->queued++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&big);
	return 0;
}

static void drain(stream *s) {
	pthread_mutex_lock(&big);
	for (long target = s->queued; s->run < target;) pthread_cond_wait(&changed, &big);
	pthread_mutex_unlock(&big);
}

static stream *all[256]; // for cuCtxSynchronize

// ---- the driver: initialisation and devices

API cuInit(unsigned flags) { MAYBE_FAIL; return devices ? 0 : NO_DEVICE; }
API cuDriverGetVersion(int *v) { MAYBE_FAIL; *v = VERSION; return 0; }
API cuGetErrorName(int code, const char **s) {
	switch (code) {
	case OUT_OF_MEMORY: *s = "CUDA_ERROR_OUT_OF_MEMORY"; return 0;
	case NO_DEVICE: *s = "CUDA_ERROR_NO_DEVICE"; return 0;
	case INVALID_PTX: *s = "CUDA_ERROR_INVALID_PTX"; return 0;
	case ILLEGAL_ADDRESS: *s = "CUDA_ERROR_ILLEGAL_ADDRESS"; return 0;
	}
	if (code > 900) { *s = NULL; return INVALID_VALUE; }
	*s = "CUDA_ERROR_FAKE";
	return 0;
}
API cuGetErrorString(int code, const char **s) {
	if (code > 900) { *s = NULL; return INVALID_VALUE; }
	*s = code == ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "a fake error";
	return 0;
}
API cuDeviceGetCount(int *n) { MAYBE_FAIL; *n = devices; return 0; }
API cuDeviceGet(int *d, int n) { MAYBE_FAIL; *d = n; return n < devices ? 0 : INVALID_DEVICE; }
API cuDeviceGetName(char *s, int n, int d) { MAYBE_FAIL; snprintf(s, n, "Fake %d", d); return 0; }
API cuDeviceGetUuid_v2(unsigned char *u, int d) { MAYBE_FAIL; for (int i = 0; i < 16; i++) u[i] = i + d; return 0; }
API cuDeviceTotalMem_v2(size_t *n, int d) { MAYBE_FAIL; *n = CAPACITY; return 0; }
API cuDeviceGetAttribute(int *v, int a, int d) {
	MAYBE_FAIL;
	static const int values[][2] = {{1, 1024}, {8, 49152}, {10, 32}, {13, 1980000}, {16, 132}, {32, 1}, {36, 3201000},
		{37, 6144}, {38, 62914560}, {39, 2048}, {75, 9}, {76, 0}, {81, 233472}, {97, 232448}};
#ifndef NO_POOLS
	if (a == 115) { *v = 1; return 0; }
#endif
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if (values[i][0] == a) { *v = values[i][1]; return 0; }
	return INVALID_VALUE;
}

// ---- contexts

API cuDevicePrimaryCtxRetain(void **ctx, int d) {
	MAYBE_FAIL;
	pthread_mutex_lock(&big);
	if (!primary[d].retained++) live[CONTEXTS]++, primary[d].sticky = 0;
	pthread_mutex_unlock(&big);
	*ctx = &primary[d];
	return 0;
}
API cuDevicePrimaryCtxRelease_v2(int d) {
	MAYBE_FAIL;
	pthread_mutex_lock(&big);
	int code = primary[d].retained ? 0 : INVALID_CONTEXT;
	if (!code && !--primary[d].retained) live[CONTEXTS]--;
	pthread_mutex_unlock(&big);
	return code;
}
API cuCtxGetCurrent(void **ctx) { MAYBE_FAIL; *ctx = current; return 0; }
API cuCtxSetCurrent(void *ctx) { MAYBE_FAIL; current = ctx; return 0; }
API cuCtxGetDevice(int *d) { NEED_CONTEXT; *d = current->ordinal; return 0; }
API cuCtxSynchronize(void) {
	NEED_CONTEXT;
	for (int i = 0; i < 256; i++) {
		pthread_mutex_lock(&big);
		stream *s = all[i];
		pthread_mutex_unlock(&big);
		if (s) drain(s);
	}
	return current->sticky;
}

// ---- modules

static int load(void **out, const char *text) {
	module *m = calloc(1, sizeof *m);
	m->text = strdup(text);
	count(MODULES, 1);
	*out = m;
	return 0;
}
API cuModuleLoadDataEx(void **out, const char *image, unsigned n, int *options, void **values) {
	NEED_CONTEXT;
	if (!memcmp(image, "\177ELF", 4)) return load(out, image + 64);
	if (strstr(image, "SYNTAX ERROR")) {
		for (unsigned i = 0; i < n; i++)
			if (options[i] == 5) strcpy(values[i], "ptxas application ptx input, line 3; fatal: what is this?\n");
		return INVALID_PTX;
	}
	return load(out, image);
}
API cuModuleUnload(module *m) { NEED_CONTEXT; count(MODULES, -1); free(m->text); free(m); return 0; }
API cuModuleGetFunction(void **out, module *m, const char *name) {
	NEED_CONTEXT;
	char entry[128];
	snprintf(entry, sizeof entry, ".entry %s(", name);
	if (!strstr(m->text, entry) || m->n == 64) return NOT_FOUND;
	snprintf(m->functions[m->n].name, 64, "%s", name);
	m->functions[m->n].of = m;
	*out = &m->functions[m->n++];
	return 0;
}
#ifndef INCOMPLETE
API cuLinkCreate_v2(unsigned n, int *options, void **values, void **out) {
	NEED_CONTEXT;
	char *link = calloc(1, LINK_SIZE);
	for (unsigned i = 0; i < n; i++)
		if (options[i] == 7) link[LINK_SIZE - 1] = (char)(size_t)values[i];
	*out = link;
	count(LINKS, 1);
	return 0;
}
#endif
API cuLinkAddData_v2(char *link, int type, void *data, size_t size, const char *name, unsigned n, int *o, void **v) {
	NEED_CONTEXT;
	if (type != 1 || strlen(data) + 1 != size || size > LINK_SIZE - 65) return INVALID_VALUE;
	static const unsigned char header[64] = {127, 'E', 'L', 'F', 2, 1, 1, [16] = 2, [18] = 190, [20] = 0x76, [52] = 64, [54] = 56, [58] = 64};
	memcpy(link, header, 64), strcpy(link + 64, data);
	link[48] = link[LINK_SIZE - 1]; // in the flags of the file
	return 0;
}
API cuLinkComplete(char *link, void **cubin, size_t *size) {
	NEED_CONTEXT;
#ifdef NO_LINKER
	return INVALID_IMAGE;
#endif
	*cubin = link, *size = 64 + strlen(link + 64) + 1;
	return 0;
}
API cuLinkDestroy(void *link) { MAYBE_FAIL; free(link); count(LINKS, -1); return 0; }
API cuFuncGetAttribute(int *v, int a, void *f) {
	NEED_CONTEXT;
	static const int values[] = {1024, 48, 0, 8, 40, 0, 0, 0, 49152};
	*v = values[a];
	return 0;
}
API cuLaunchKernel(char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *s, void **params, void **extra) {
	NEED_CONTEXT;
	if (!gx || !gy || !gz || !bx || bx * by * bz > 1024 || params) return INVALID_VALUE;
	if (extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4]) return INVALID_VALUE;
	op o = {KERNEL, .size = *(size_t *)extra[3]};
	o.params = malloc(o.size + 1);
	memcpy(o.params, extra[1], o.size);
	snprintf(o.name, sizeof o.name, "%s", f);
	return put(s, o);
}

typedef struct { unsigned grid[3], threads[3], shared; void *stream; const struct { unsigned id, pad, value, rest[15]; } *attributes; unsigned count; } launch_config;
API cuLaunchKernelEx(const launch_config *c, char *f, void **params, void **extra) {
	MAYBE_FAIL;
	if (sizeof *c != 56 || sizeof *c->attributes != 72 || c->count != 1) return INVALID_VALUE;
	// Blocks may start early, and not in the legacy default stream.
	if (c->attributes->id != 6 || c->attributes->value != 1 || !c->stream) return INVALID_VALUE;
	return cuLaunchKernel(f, c->grid[0], c->grid[1], c->grid[2], c->threads[0], c->threads[1], c->threads[2], c->shared, c->stream, params, extra);
}

// ---- memory

API cuMemGetInfo_v2(size_t *avail, size_t *total) { NEED_CONTEXT; *avail = CAPACITY - taken, *total = CAPACITY; return 0; }
API cuMemAlloc_v2(uintptr_t *p, size_t n) { NEED_CONTEXT; return take(p, n, NULL); }
API cuMemFree_v2(uintptr_t p) { NEED_CONTEXT; return give(p); }
API cuMemPoolCreate(void **p, const int *props) {
	NEED_CONTEXT;
	if (props[0] != 1 || props[2] != 1 || props[3] != current->ordinal) return INVALID_VALUE;
	*p = calloc(1, sizeof(pool));
	count(POOLS, 1);
	return 0;
}
API cuMemPoolTrimTo(void *p, size_t keep) {
	NEED_CONTEXT;
	pthread_mutex_lock(&big);
	for (block **b = &blocks; *b;)
		if ((*b)->pool == p && !(*b)->used) unmap(b);
		else b = &(*b)->next;
	pthread_mutex_unlock(&big);
	return 0;
}
API cuDeviceCanAccessPeer(int *can, int from, int to) { MAYBE_FAIL; *can = from != to; return from >= 0 && from < devices && to >= 0 && to < devices ? 0 : INVALID_DEVICE; }
API cuMemPoolSetAccess(void *p, const int *access, size_t n) { NEED_CONTEXT; return n == 1 && access[0] == 1 && access[1] != current->ordinal && access[2] == 3 ? 0 : INVALID_VALUE; }
API cuMemPoolDestroy(void *p) { NEED_CONTEXT; cuMemPoolTrimTo(p, 0); count(POOLS, -1); free(p); return 0; }
API cuMemPoolSetAttribute(void *p, int a, uint64_t *v) { NEED_CONTEXT; return a == 4 && *v == UINT64_MAX ? 0 : INVALID_VALUE; }
API cuMemPoolGetAttribute(void *p, int a, uint64_t *v) {
	NEED_CONTEXT;
	*v = 0;
	pthread_mutex_lock(&big);
	for (block *b = blocks; b; b = b->next)
		if (b->pool == p && (a == 5 || b->used)) *v += b->bytes;
	pthread_mutex_unlock(&big);
	return 0;
}
API cuMemAllocFromPoolAsync(uintptr_t *p, size_t n, void *from, void *s) { NEED_CONTEXT; return take(p, n, from); }
API cuMemFreeAsync(uintptr_t p, void *s) {
	NEED_CONTEXT;
	if (!inside((void *)p, 1)) return INVALID_VALUE;
	return put(s, (op){FREE, .dst = (void *)p});
}
API cuMemHostAlloc(void **p, size_t n, unsigned flags) { NEED_CONTEXT; *p = malloc(n); memset(*p, 0xaa, n); count(HOST, 1); return 0; }
API cuMemFreeHost(void *p) { NEED_CONTEXT; free(p); count(HOST, -1); return 0; }
API cuMemsetD8Async(void *p, unsigned char v, size_t n, void *s) { NEED_CONTEXT; return inside(p, n) ? put(s, (op){FILL8, .dst = p, .value = v, .n = n}) : INVALID_VALUE; }
static int copy(void *dst, const void *src, size_t n, void *s, void *device) {
	if (!inside(device, n)) return INVALID_VALUE;
	if (discard) {
		pthread_mutex_lock(&big);
		discarded += n;
		for (block *b = blocks; b; b = b->next)
			if ((char *)device >= b->at && (char *)device < b->at + b->bytes && (size_t)((char *)device + n - b->at) > furthest)
				furthest = (char *)device + n - b->at;
		pthread_mutex_unlock(&big);
		return 0;
	}
	return put(s, (op){COPY, .dst = dst, .src = src, .n = n});
}
API cuMemcpyHtoDAsync_v2(void *d, const void *h, size_t n, void *s) { NEED_CONTEXT; return copy(d, h, n, s, d); }
API cuMemcpyDtoHAsync_v2(void *h, void *d, size_t n, void *s) { NEED_CONTEXT; return copy(h, d, n, s, d); }
API cuMemcpyDtoDAsync_v2(void *d, void *from, size_t n, void *s) { NEED_CONTEXT; return inside(from, n) ? copy(d, from, n, s, d) : INVALID_VALUE; }
API cuMemcpyPeerAsync(void *d, context *to, void *from, context *of, size_t n, void *s) {
	NEED_CONTEXT;
	return to == current && of->retained && inside(from, n) ? copy(d, from, n, s, d) : INVALID_VALUE;
}

// ---- streams and events

API cuStreamCreate(void **out, unsigned flags) {
	NEED_CONTEXT;
	if (flags != 1) return INVALID_VALUE;
	stream *s = new_stream(current);
	pthread_mutex_lock(&big);
	for (int i = 0; i < 256; i++) if (!all[i]) { all[i] = s; break; }
	live[STREAMS]++;
	pthread_mutex_unlock(&big);
	*out = s;
	return 0;
}
API cuStreamDestroy_v2(stream *s) {
	NEED_CONTEXT;
	pthread_mutex_lock(&big);
	for (int i = 0; i < 256; i++) if (all[i] == s) all[i] = NULL;
	live[STREAMS]--;
	s->quit = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&big);
	return 0;
}
API cuStreamQuery(void *h) {
	NEED_CONTEXT;
	stream *s = of(h);
	pthread_mutex_lock(&big);
	int ready = s->run == s->queued;
	pthread_mutex_unlock(&big);
	return current->sticky ? current->sticky : ready ? 0 : NOT_READY;
}
API cuStreamSynchronize(void *h) { NEED_CONTEXT; drain(of(h)); return current->sticky; }

// A graph is the list of what was put into a stream; an executable one is a copy.
static graph *copy_of(graph *g) {
	graph *c = calloc(1, sizeof *c);
	c->last = &c->ops;
	for (op *o = g ? g->ops : NULL; o; o = o->next) {
		op *copy = malloc(sizeof *o);
		*copy = *o, copy->next = NULL;
		if (o->params) copy->params = malloc(o->size + 1), memcpy(copy->params, o->params, o->size);
		*c->last = copy, c->last = &copy->next;
	}
	count(GRAPHS, 1);
	return c;
}
static int destroy(graph *g) {
	for (op *o = g->ops, *next; o; o = next) next = o->next, free(o->params), free(o);
	free(g);
	count(GRAPHS, -1);
	return 0;
}
API cuStreamBeginCapture_v2(stream *s, int mode) {
	NEED_CONTEXT;
	if (mode != 2 || s->recording) return INVALID_VALUE;
	s->recording = copy_of(NULL);
	return 0;
}
API cuStreamEndCapture(stream *s, graph **out) {
	graph *g = s->recording;
	if (!g) return INVALID_VALUE;
	s->recording = NULL;
	int code = in_context(__func__);
	if (code) return destroy(g), code;
	*out = g;
	return 0;
}
API cuGraphInstantiateWithFlags(graph **out, graph *g, unsigned long long flags) { NEED_CONTEXT; *out = copy_of(g); return flags ? INVALID_VALUE : 0; }
API cuGraphLaunch(graph *g, stream *s) {
	NEED_CONTEXT;
	graph *c = copy_of(g);
	for (op *o = c->ops, *next; o; o = next) next = o->next, put(s, *o), free(o);
	c->ops = NULL;
	return destroy(c);
}
API cuGraphDestroy(graph *g) { MAYBE_FAIL; return destroy(g); }
API cuGraphExecDestroy(graph *g) { MAYBE_FAIL; return destroy(g); }
API cuStreamWaitEvent(void *s, event *e, unsigned flags) { NEED_CONTEXT; return put(s, (op){WAIT, .e = e, .seq = e->asked}); }
API cuEventCreate(void **out, unsigned flags) { NEED_CONTEXT; *out = calloc(1, sizeof(event)); count(EVENTS, 1); return 0; }
API cuEventDestroy_v2(event *e) { NEED_CONTEXT; count(EVENTS, -1); return 0; } // a stream may have it yet
API cuEventRecord(event *e, void *s) {
	NEED_CONTEXT;
	pthread_mutex_lock(&big);
	long seq = ++e->asked;
	pthread_mutex_unlock(&big);
	return put(s, (op){RECORD, .e = e, .seq = seq});
}
API cuLaunchHostFunc(void *s, void (*call)(void *), void *arg) { NEED_CONTEXT; return put(s, (op){HOST_CALL, .call = call, .dst = arg}); }
API cuEventSynchronize(event *e) {
	NEED_CONTEXT;
	pthread_mutex_lock(&big);
	for (long target = e->asked; e->reached < target;) pthread_cond_wait(&changed, &big);
	pthread_mutex_unlock(&big);
	return current->sticky;
}
API cuEventQuery(event *e) {
	NEED_CONTEXT;
	pthread_mutex_lock(&big);
	int ready = e->reached >= e->asked;
	pthread_mutex_unlock(&big);
	return current->sticky ? current->sticky : ready ? 0 : NOT_READY;
}
API cuEventElapsedTime(float *ms, event *from, event *to) {
	NEED_CONTEXT;
	*ms = (to->when.tv_sec - from->when.tv_sec) * 1e3 + (to->when.tv_nsec - from->when.tv_nsec) / 1e6;
	return 0;
}
