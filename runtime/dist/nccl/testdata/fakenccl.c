// A NCCL of no GPU: the functions that the package calls, over the driver of no device (internal/cuda/fakecuda), whose device
// memory is the host's. What is sent and received runs in the order of the stream and waits for the other side there, as in
// NCCL. Calls are checked: a context is current, communicators do not block, sends and receives stand in groups. Functions named fake_*
// let tests make calls fail and count what is alive.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION 22703
#endif
#define API __attribute__((visibility("default")))
#define RANKS 16

enum { SUCCESS, CUDA_ERROR, SYSTEM, INTERNAL, INVALID_ARGUMENT, INVALID_USAGE, REMOTE, IN_PROGRESS };

typedef struct { char bytes[128]; } id;
typedef struct { size_t size; unsigned magic, version; int blocking, cluster; } config;

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long ids, live;
static int (*launch)(void *stream, void (*call)(void *), void *arg);
static int (*get_current)(void **ctx);
static struct { char name[64]; int code; } plan;

API int fake_driver(void *launch_host_func, void *ctx_get_current) { launch = launch_host_func, get_current = ctx_get_current; return 0; }
API int fake_live(void) { pthread_mutex_lock(&big); int n = live; pthread_mutex_unlock(&big); return n; }
API int fake_fail(const char *name, int code) { snprintf(plan.name, sizeof plan.name, "%s", name), plan.code = code; return 0; }
#define MAYBE_FAIL do { if (plan.code && !strcmp(plan.name, __func__)) return plan.code; } while (0)

// message is what lies between two ranks of a clique; the receiver takes the oldest.
typedef struct message { const void *at; size_t n; int taken; struct message *next; } message;
typedef struct clique { id id; int size, joined; void *contexts[RANKS]; message *between[RANKS][RANKS]; struct clique *next; } clique;
typedef struct comm { clique *of; int rank, aborted, state, finalized, users; char error[128]; } comm;
static clique *cliques;

typedef struct { int sends; void *at; size_t n; int peer; comm *c; void *stream; } op;
static __thread struct { int depth, n, code; op ops[2 * RANKS]; } group;

API int ncclGetVersion(int *v) { MAYBE_FAIL; *v = VERSION; return SUCCESS; }
API int ncclGetUniqueId(id *out) { MAYBE_FAIL; memset(out, 0xcd, sizeof *out); pthread_mutex_lock(&big); snprintf(out->bytes, 64, "fake %ld", ++ids); pthread_mutex_unlock(&big); return SUCCESS; }
API const char *ncclGetErrorString(int code) { return code == INVALID_USAGE ? "invalid usage" : "a fake error"; }
API const char *ncclGetLastError(comm *c) { return c ? c->error : ""; }

static void fault(comm *c, int code, const char *text) { c->state = code; snprintf(c->error, sizeof c->error, "%s", text); }

API int ncclCommInitRankConfig(comm **out, int n, id name, int rank, config *cfg) {
	MAYBE_FAIL;
	void *ctx = NULL;
	if (!cfg || cfg->size != 24 || cfg->magic != 0xcafebeef || cfg->version != 21400 || cfg->blocking != 0) return INVALID_ARGUMENT;
	if (n < 1 || n > RANKS || rank < 0 || rank >= n) return INVALID_ARGUMENT;
	if (!get_current || get_current(&ctx) || !ctx) return CUDA_ERROR;
	comm *c = calloc(1, sizeof *c);
	c->rank = rank, c->users = 1;
	pthread_mutex_lock(&big);
	clique *q = cliques;
	while (q && memcmp(&q->id, &name, sizeof name)) q = q->next;
	if (!q) {
		q = calloc(1, sizeof *q);
		q->id = name, q->size = n, q->next = cliques, cliques = q;
	}
	c->of = q, live++;
	for (int i = 0; i < n; i++)
		if (q->contexts[i] == ctx) fault(c, INVALID_USAGE, "Duplicate GPU detected");
	if (q->size != n || q->contexts[rank]) fault(c, INVALID_ARGUMENT, "ranks do not agree");
	q->contexts[rank] = ctx, q->joined++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&big);
	*out = c;
	return IN_PROGRESS;
}
API int ncclCommGetAsyncError(comm *c, int *state) {
	MAYBE_FAIL;
	pthread_mutex_lock(&big);
	*state = c->state ? c->state : c->of->joined < c->of->size ? IN_PROGRESS : SUCCESS;
	pthread_mutex_unlock(&big);
	return SUCCESS;
}

static void drop(comm *c) { if (!--c->users) free(c); }

// work is a group in a stream.
typedef struct { int n; op ops[2 * RANKS]; message sent[2 * RANKS]; } work;

static void run(void *arg) {
	work *w = arg;
	pthread_mutex_lock(&big);
	for (int i = 0; i < w->n; i++) {
		op *o = &w->ops[i];
		if (!o->sends || o->c->aborted) continue;
		w->sent[i] = (message){o->at, o->n};
		message **last = &o->c->of->between[o->c->rank][o->peer];
		while (*last) last = &(*last)->next;
		*last = &w->sent[i];
	}
	pthread_cond_broadcast(&changed);
	for (int i = 0; i < w->n; i++) {
		op *o = &w->ops[i];
		message **first = &o->c->of->between[o->peer][o->c->rank];
		if (o->sends) continue;
		while (!*first && !o->c->aborted) pthread_cond_wait(&changed, &big);
		if (o->c->aborted) continue;
		message *m = *first;
		if (m->n == o->n) memcpy(o->at, m->at, m->n);
		else memset(o->at, 0xee, o->n); // NCCL does not notice either
		*first = m->next, m->taken = 1;
		pthread_cond_broadcast(&changed);
	}
	for (int i = 0; i < w->n; i++) {
		op *o = &w->ops[i];
		message **at = &o->c->of->between[o->c->rank][o->peer];
		while (o->sends && !w->sent[i].taken && !o->c->aborted) pthread_cond_wait(&changed, &big);
		while (o->sends && *at && *at != &w->sent[i]) at = &(*at)->next;
		if (o->sends && *at) *at = w->sent[i].next; // aborted: nobody finds it any more
		drop(o->c);
	}
	pthread_mutex_unlock(&big);
	free(w);
}

API int ncclGroupStart(void) { MAYBE_FAIL; if (!group.depth++) group.n = group.code = 0; return SUCCESS; }
API int ncclGroupEnd(void) {
	if (!group.depth || --group.depth) return group.depth < 0 ? INVALID_USAGE : SUCCESS;
	MAYBE_FAIL;
	if (group.code) return group.code;
	if (!group.n) return SUCCESS;
	work *w = calloc(1, sizeof *w);
	w->n = group.n;
	memcpy(w->ops, group.ops, sizeof *w->ops * group.n);
	pthread_mutex_lock(&big);
	for (int i = 0; i < w->n; i++) w->ops[i].c->users++;
	pthread_mutex_unlock(&big);
	return launch(w->ops[0].stream, run, w) ? CUDA_ERROR : IN_PROGRESS;
}
static int add(op o, int type) {
	if (!group.depth || type || o.peer < 0 || o.peer >= o.c->of->size || group.n == 2 * RANKS) return group.code = INVALID_USAGE;
	group.ops[group.n++] = o;
	return SUCCESS;
}
API int ncclSend(void *at, size_t n, int type, int peer, comm *c, void *stream) { MAYBE_FAIL; return add((op){1, at, n, peer, c, stream}, type); }
API int ncclRecv(void *at, size_t n, int type, int peer, comm *c, void *stream) { MAYBE_FAIL; return add((op){0, at, n, peer, c, stream}, type); }

static int end(comm *c) {
	pthread_mutex_lock(&big);
	c->aborted = 1, live--;
	pthread_cond_broadcast(&changed);
	drop(c);
	pthread_mutex_unlock(&big);
	return SUCCESS;
}
API int ncclCommFinalize(comm *c) { MAYBE_FAIL; c->finalized = 1; return IN_PROGRESS; }
API int ncclCommDestroy(comm *c) { MAYBE_FAIL; return c->finalized ? end(c) : INVALID_USAGE; }
API int ncclCommAbort(comm *c) { return end(c); }
