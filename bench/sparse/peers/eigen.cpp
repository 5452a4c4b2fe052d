// The Eigen side. Results of Eigen's operations are sorted.

#include <Eigen/SparseCore>
#include <vector>

#include "side.h"

using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor, int32_t>;
using Columns = Eigen::SparseMatrix<double, Eigen::ColMajor, int32_t>;
using Triplet = Eigen::Triplet<double, int32_t>;

static std::vector<Rows> operands; // A0, A1, ...
static std::vector<Triplet> triplets;
static Rows *rows;
static Columns *columns;

static Rows load_matrix(const std::string &name) {
	int64_t n = file_size((name + ".pos").c_str()) / 4 - 1, nnz = file_size((name + ".crd").c_str()) / 4;
	Rows m(n, n);
	m.resizeNonZeros(nnz);
	read_file((name + ".pos").c_str(), m.outerIndexPtr(), (n + 1) * 4);
	read_file((name + ".crd").c_str(), m.innerIndexPtr(), nnz * 4);
	read_file((name + ".val").c_str(), m.valuePtr(), nnz * 8);
	return m;
}

template <size_t count> static void load_operands() {
	while (operands.size() < count)
		operands.push_back(load_matrix("A" + std::to_string(operands.size())));
}

static void load_triplets(const std::string &name) {
	int64_t size;
	int32_t *row = (int32_t *)load((name + ".row").c_str(), &size);
	int32_t *col = (int32_t *)load((name + ".col").c_str(), &size);
	double *val = (double *)load((name + ".val").c_str(), &size);
	triplets.clear();
	for (int64_t p = 0; p < size / 8; p++)
		triplets.emplace_back(row[p], col[p], val[p]);
	free(row);
	free(col);
	free(val);
}

template <class Matrix> static void describe(const Matrix &m, struct summary *s) {
	s->nnz = m.nonZeros();
	for (int64_t o = 0; o < m.outerSize(); o++) {
		int64_t last = -1;
		for (typename Matrix::InnerIterator it(m, o); it; ++it) {
			s->sorted &= last < it.index();
			last = it.index();
			add_entry(s, it.row(), it.col(), it.value());
		}
	}
}

static void describe_rows(struct summary *s) { describe(*rows, s); }
static void describe_columns(struct summary *s) { describe(*columns, s); }
static void drop_rows() { delete rows; }
static void drop_columns() { delete columns; }

static void run_add() { rows = new Rows(operands[0] + operands[1]); }

// Pairs, then pairs of pairs.
template <size_t count> static void run_adds() {
	std::vector<Rows> sums(count / 2);
	for (size_t k = 0; k < sums.size(); k++)
		sums[k] = operands[2 * k] + operands[2 * k + 1];
	for (; sums.size() > 2; sums.resize(sums.size() / 2))
		for (size_t k = 0; k < sums.size() / 2; k++)
			sums[k] = Rows(sums[2 * k] + sums[2 * k + 1]);
	rows = new Rows(sums[0] + sums[1]);
}

template <size_t count> static void run_running() {
	Rows sum = operands[0] + operands[1];
	for (size_t k = 2; k < count - 1; k++)
		sum = Rows(sum + operands[k]);
	rows = new Rows(sum + operands[count - 1]);
}

static void run_spgemm() { rows = new Rows(operands[0] * operands[0]); }
static void run_csc() { columns = new Columns(operands[0]); }

static void run_coo() {
	rows = new Rows(operands[0].rows(), operands[0].cols());
	rows->setFromTriplets(triplets.begin(), triplets.end());
}

static void prepare_shuffled() {
	load_operands<1>();
	load_triplets("shuffled");
}

static void prepare_sorted() {
	load_operands<1>();
	load_triplets("sorted");
}

static const struct operation operations[] = {
    {"spgemm", load_operands<1>, run_spgemm, describe_rows, drop_rows},
    {"add", load_operands<2>, run_add, describe_rows, drop_rows},
    {"add8", load_operands<8>, run_adds<8>, describe_rows, drop_rows},
    {"add8-running", load_operands<8>, run_running<8>, describe_rows, drop_rows},
    {"add16", load_operands<16>, run_adds<16>, describe_rows, drop_rows},
    {"add16-running", load_operands<16>, run_running<16>, describe_rows, drop_rows},
    {"csc", load_operands<1>, run_csc, describe_columns, drop_columns},
    {"coo-shuffled", prepare_shuffled, run_coo, describe_rows, drop_rows},
    {"coo-sorted", prepare_sorted, run_coo, describe_rows, drop_rows},
    {NULL, NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv) {
	std::string version = "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
	                      std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION);
	return serve(operations, argc, argv, version.c_str());
}
