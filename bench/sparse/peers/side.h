// What the sides written in C and C++ share: reading matrices, describing
// results, and answering requests. A side is a process that says
// "ready VERSION" and then answers each line
//
//	check OPERATION THREADS SECONDS
//	time  OPERATION THREADS SECONDS
//
// on the input that it was started for. time repeats the operation for about
// that long and answers "OPERATION INPUT MEDIAN_MS LEAST_MS REPETITIONS CPU_MS",
// the last being the median of the processor time; check does it once, answers
// the same, and then in another line what the result is (struct summary below)
// and the peak memory before anything looked at it.
// Making the operands and freeing the result are not timed; allocating the
// result is.

#ifndef SIDE_H
#define SIDE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// summary describes a result without regard to the order of its entries.
// Entries of value 0, and infinite ones of (min,+), count in nnz only.
struct summary {
	int64_t nnz;
	int sorted; // every row (column, if stored by columns) ascends
	uint64_t pattern;
	double sum, weighted, absolute;
};

// operation is something that a side can do. describe is called once, between
// run and drop.
struct operation {
	const char *name;
	void (*prepare)(void);
	void (*run)(void);
	void (*describe)(struct summary *);
	void (*drop)(void);
};

static const char *folder, *input;

static void fail(const char *what, const char *which) {
	printf("error %s %s\n", what, which);
	exit(1);
}

static void *allocate(size_t bytes) {
	void *p = malloc(bytes ? bytes : 1);
	if (!p)
		fail("no memory", "");
	return p;
}

// file_size is the number of bytes of an array of the input, and read_file
// reads them to where they shall be.
static FILE *open_file(const char *name) {
	char path[4096];
	snprintf(path, sizeof path, "%s/%s.%s", folder, input, name);
	FILE *f = fopen(path, "rb");
	if (!f)
		fail("cannot open", path);
	return f;
}

static int64_t file_size(const char *name) {
	FILE *f = open_file(name);
	fseek(f, 0, SEEK_END);
	int64_t size = ftell(f);
	fclose(f);
	return size;
}

static void read_file(const char *name, void *to, int64_t size) {
	FILE *f = open_file(name);
	if ((int64_t)fread(to, 1, size, f) != size)
		fail("cannot read", name);
	fclose(f);
}

static void *load(const char *name, int64_t *size) {
	*size = file_size(name);
	void *p = allocate(*size);
	read_file(name, p, *size);
	return p;
}

// mix is the finaliser of SplitMix64, and unit a number in [0,1) made with it:
// dense operands are made by each side, not read.
static uint64_t mix(uint64_t x) {
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static double unit(uint64_t x) { return (double)(mix(x) >> 11) * 0x1p-53; }

static double *units(uint64_t first, int64_t n) {
	double *v = (double *)allocate(n * sizeof *v);
	for (int64_t i = 0; i < n; i++)
		v[i] = unit(first + i);
	return v;
}

static void add_entry(struct summary *s, uint64_t i, uint64_t j, double v) {
	if (v == 0 || v == INFINITY)
		return;
	uint64_t at = i << 32 | j;
	s->pattern += mix(at);
	s->sum += v;
	s->weighted += v * unit(at);
	s->absolute += fabs(v);
}

static double read_clock(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

// peak_kb is the largest resident size of this process so far.
static long peak_kb(void) {
	char line[256];
	long kb = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		sscanf(line, "VmHWM: %ld", &kb);
	if (f)
		fclose(f);
	return kb;
}

static int compare_doubles(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

// cost is the time of one repetition in milliseconds, by the clock and of the
// processor.
struct cost {
	double wall, cpu;
};

static struct cost once(const struct operation *o) {
	double cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID), wall = read_clock(CLOCK_MONOTONIC);
	o->run();
	wall = read_clock(CLOCK_MONOTONIC) - wall;
	cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	return (struct cost){wall, cpu};
}

static void answer_check(const struct operation *o) {
	struct cost c = once(o);
	long peak = peak_kb();
	printf("%s %s %.6f %.6f 1 %.6f\n", o->name, input, c.wall, c.wall, c.cpu);
	fflush(stdout);
	struct summary s = {0, 1, 0, 0, 0, 0};
	o->describe(&s);
	o->drop();
	printf("%lld %d %016llx %.17g %.17g %.17g %ld\n", (long long)s.nnz, s.sorted, (unsigned long long)s.pattern, s.sum,
	       s.weighted, s.absolute, peak);
}

// A burst is at least two repetitions, unless they take far too long.
static void answer_time(const struct operation *o, double budget_ms) {
	enum { MOST = 1 << 16 };
	static double wall[MOST], cpu[MOST];
	int n = 0;
	double start = read_clock(CLOCK_MONOTONIC);
	while (n < MOST) {
		double spent = read_clock(CLOCK_MONOTONIC) - start;
		if (n > 0 && spent >= budget_ms && (n >= 2 || spent >= 4 * budget_ms))
			break;
		struct cost c = once(o);
		wall[n] = c.wall;
		cpu[n++] = c.cpu;
		o->drop();
	}
	qsort(wall, n, sizeof *wall, compare_doubles);
	qsort(cpu, n, sizeof *cpu, compare_doubles);
	printf("%s %s %.6f %.6f %d %.6f\n", o->name, input, wall[n / 2], wall[0], n, cpu[n / 2]);
}

static int serve(const struct operation *ops, int argc, char **argv, const char *version) {
	static char verb[16], name[64], prepared[64];
	int threads;
	double seconds;
	if (argc != 3)
		return 2;
	folder = argv[1];
	input = argv[2];
	printf("ready %s\n", version);
	fflush(stdout);
	while (scanf("%15s %63s %d %lf", verb, name, &threads, &seconds) == 4) {
		const struct operation *o = ops;
		while (o->name && strcmp(o->name, name))
			o++;
		if (!o->name || threads != 1)
			fail("cannot do", name);
		if (strcmp(prepared, name)) {
			o->prepare();
			strcpy(prepared, name);
		}
		if (!strcmp(verb, "check"))
			answer_check(o);
		else
			answer_time(o, seconds * 1e3);
		fflush(stdout);
	}
	return 0;
}

#endif
