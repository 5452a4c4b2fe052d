package file

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// shown is a tensor on a line.
func shown(t *tensor.Tensor) string {
	s := fmt.Sprint(t.Shape(), " ", t.DType(), " ", t.Format())
	for p := range t.Values().Len() {
		s += fmt.Sprint(" ", t.Values().Scalar(p))
	}
	return s
}

func TestCSV(t *testing.T) {
	people := "who,age,score\nbob,30,1.5\nann,25,\nbob,41,2\n"
	edges := "# a graph\nfrom\tto\tweight\n0\t2\t1.5\n1\t0\t2\n0\t2\t3\n"
	for _, c := range []struct {
		name, text, want string
		opts             []Option
	}{
		{"matrix", "1,2\n3,4.5\n", "[2 2] f64 D 1 2 3 4.5", nil},
		{"integers", "1;2\r\n3;4\r\n", "[2 2] i64 D 1 2 3 4", nil},
		{"byte order mark", "\ufeff1,2\n", "[1 2] i64 D 1 2", nil},
		{"header", "a,b\n1,2\n", "[1 2] i64 D 1 2", nil},
		{"column", people, "[3] i64 D 30 25 41", []Option{Entry("age")}},
		{"missing", people, "[3] f64 D 1.5 nan 2", []Option{Entry("score")}},
		{"text", people, "[3] i32 D 1 0 1", []Option{Entry("who")}},
		{"edges", edges, "[2 3] f64 COO 4.5 2", []Option{Coords("from", "to"), Entry("weight")}},
		{"pattern", edges, "[2 3] f64 COO 2 1", []Option{Coords("from", "to")}},
		{"sizes", edges, "[4 4] f64 CSR 2 1", []Option{Coords("from", "to"), Dims(4, 4), Format(tensor.CSR)}},
		{"labels", people, "[2 42] f64 COO 1 1 1", []Option{Coords("who", "age")}},
		{"nodes", edges, "[3 3] f64 COO 2 1", []Option{Nodes("from", "to")}},
		{"nodes with names", "from,to,w\nbert,carl,3\nanna,bert,2\n", "[3 3] i64 COO 2 3", []Option{Nodes("from", "to"), Entry("w")}},
		{"nodes with sizes", edges, "[4 5] f64 COO 2 1", []Option{Nodes("from", "to"), Dims(4, 5)}},
		{"base", "a,b\n1,1\n2,1\n", "[2 1] f64 COO 1 1", []Option{Coords("a", "b"), IndexBase(1)}},
		{"no header", "5,1\n6,2\n", "[2] i64 D 1 2", []Option{Entry("1")}},
		{"type", people, "[3] f32 D 30 25 41", []Option{Entry("age"), As(tensor.Float32)}},
		{"no lines", "a,b\n", "[0 2] f64 D", []Option{As(tensor.Float64)}},
		{"one column", "1\n2\n", "[2] i64 D 1 2", nil},
		{"rows with names", ",a,b\nx,1,2\ny,3,4\n", "[2 2] i64 D 1 2 3 4", nil},
		{"rows with numbers", ",a,b\n0,1,2\n1,3,4\n", "[2 2] i64 D 1 2 3 4", nil},
		{"names of rows", ",a,b\ny,1,2\nx,3,4\n", "[2] i32 D 1 0", []Option{Entry("0")}},

		{"text in a matrix", people, `error: t.csv: column "who" holds text, such as "bob": name one to read (Entry), or the columns that are coordinates (Coords); there are who, age, score`, nil},
		{"no column", people, `error: t.csv: there is no column "hwo": they are who, age, score`, []Option{Entry("hwo")}},
		{"ragged", "1,2\n3\n", "error: t.csv:2: the line has another number of fields than the first", nil},
		{"quote", "1,\"2\n", `error: t.csv:1: column 6: extraneous or missing " in quoted-field`, nil},
		{"empty", "", "error: t.csv: the table is empty", nil},
		{"negative", "a,b\n-1,1\n", `error: t.csv: column "a": row 0 is -1, which is no coordinate: expected 0 or more`, []Option{Coords("a", "b")}},
		{"too large", edges, `error: t.csv: column "from" has the coordinate 1, but the size of axis 0 is 1`, []Option{Coords("from", "to"), Dims(1, 9)}},
		{"fractions", people, `error: t.csv: column "score" holds f64: coordinates are integers, or labels`, []Option{Coords("score", "age")}},
		{"values of text", people, `error: t.csv: column "who" holds text, such as "bob": values of entries are numbers`, []Option{Coords("age", "age"), Entry("who")}},
		{"sizes of a matrix", "1,2\n", "error: t.csv: sizes and bases are for coordinates: say with Coords which columns they are", []Option{Dims(3, 3)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := ReadFrom("t.csv", strings.NewReader(c.text), c.opts...)
			got := ""
			if err != nil {
				got = "error: " + err.Error()
			} else {
				got = shown(a)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestTableRoundTrip writes and reads tensors as tables.
func TestTableRoundTrip(t *testing.T) {
	values := []float64{1, -0.1, 1e300}
	sparse, err := tensor.FromCoords([]int64{3, 4, 2}, tensor.CSF(3), [][]int64{{0, 1, 2}, {3, 0, 3}, {0, 1, 1}}, tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{".csv", ".tsv", ".csv.gz", ".parquet"} {
		for _, dt := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.Int64, tensor.Int32, tensor.Uint8, tensor.Uint64, tensor.Bool} {
			t.Run(fmt.Sprint(kind, dt), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "t"+kind)
				want, err := tensor.FromDense([]int64{2, 3}, tensor.Dense(2), numbersOf(t, dt, 1, 0, 1, 1, 0, 0))
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range []*tensor.Tensor{want, sparse} {
					if err := Write(path, a); err != nil {
						t.Fatal(err)
					}
					got, err := Read(path, As(a.DType()), FormatNamed(a.Format().String()))
					if err != nil {
						t.Fatal(err)
					}
					if !tensor.Equal(got, a) {
						t.Errorf("got %s, want %s", shown(got), shown(a))
					}
				}
			})
		}
	}
}

// numbersOf is an array of a type.
func numbersOf(t *testing.T, dt tensor.DType, list ...int64) tensor.Array {
	t.Helper()
	a, err := tensor.MakeArray(dt, len(list))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range list {
		a.SetScalar(i, tensor.Int(tensor.Int64, v).Convert(dt))
	}
	return a
}

// person is a row of a table that another program might have written.
type person struct {
	Who    string   `parquet:"who,dict"`
	Age    uint16   `parquet:"age"`
	Score  *float64 `parquet:"score,optional"`
	Parent *int64   `parquet:"parent,optional"`
	Tags   []string `parquet:"tags,list"`
}

func TestParquet(t *testing.T) {
	var b bytes.Buffer
	score := 1.5
	rows := []person{{"bob", 30, &score, nil, nil}, {"ann", 25, nil, nil, []string{"x"}}, {"bob", 41, &score, nil, nil}}
	if err := parquet.Write(&b, rows, parquet.Compression(&parquet.Zstd)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		opts []Option
	}{
		{"[3] i32 D 1 0 1", []Option{Entry("who")}},
		{"[3] u32 D 30 25 41", []Option{Entry("age")}},
		{"[3] f64 D 1.5 nan 1.5", []Option{Entry("score")}},
		{"[2 42] f64 COO 1 1 1", []Option{Coords("who", "age")}},
		{`error: t.parquet: column "parent": row 0: the value is null, which integers and truth values have no number for`, []Option{Entry("parent")}},
		{`error: t.parquet: column "tags": it is nested, which is not read`, []Option{Entry("tags")}},
	} {
		a, err := ReadFrom("t.parquet", bytes.NewReader(b.Bytes()), c.opts...)
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else {
			got = shown(a)
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	items, err := List(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, i := range items {
		names = append(names, i.Entry)
	}
	if !slices.Equal(names, []string{"who", "age", "score", "parent", "tags"}) {
		t.Errorf("lists %v", names)
	}
}

// FuzzParquet reads anything: there must be no crash.
func FuzzParquet(f *testing.F) {
	var b bytes.Buffer
	if err := parquet.Write(&b, []person{{"bob", 30, nil, nil, nil}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		Read := func(opts ...Option) {
			ReadFrom("t.parquet", bytes.NewReader(b), append(opts, OfKind("parquet"), MaxBytes(1<<20))...)
		}
		Read()
		Read(Entry("who"))
		Read(Coords("who", "age"), Entry("score"))
	})
}

// FuzzCSV reads anything: there must be no crash, and what is read is written and read alike.
func FuzzCSV(f *testing.F) {
	f.Add("a,b\n1,2\n")
	f.Add("i0,i1,value\n0,1,2.5\n")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ReadFrom("t.csv", strings.NewReader(text), OfKind("csv"))
		if err != nil || a.Shape()[0] == 0 {
			return
		}
		var b bytes.Buffer
		if err := WriteTo("t.csv", &b, a); err != nil {
			t.Fatal(err)
		}
		again, err := ReadFrom("t.csv", bytes.NewReader(b.Bytes()), As(a.DType()), FormatNamed(a.Format().String()))
		if err != nil {
			t.Fatal(err)
		}
		if a.Format().IsDense() && tensor.Diff(again, a) != "" {
			t.Errorf("wrote %q: %s", b.String(), tensor.Diff(again, a))
		}
	})
}

// TestTableNames writes tensors whose coordinates have names, and reads them and the names again.
func TestTableNames(t *testing.T) {
	rows, cols := []string{"T, of a kind", "10", "B"}, []string{"z", "a"}
	dense, err := tensor.NewDense([]float64{1, 2, 3, 0, 5, 6}, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	vector, err := tensor.NewDense([]float64{7, 8, 9}, 3)
	if err != nil {
		t.Fatal(err)
	}
	sparse, err := dense.Convert(tensor.CSR)
	if err != nil {
		t.Fatal(err)
	}
	both := []Option{AxisNames(0, rows), AxisNames(1, cols)}
	for _, c := range []struct {
		name    string
		tensor  *tensor.Tensor
		names   []Option
		csv     string // what is written
		again   string // what is read
		columns string // how columns are called
	}{
		{"rows", dense, both[:1], "i0,c0,c1\n\"T, of a kind\",1,2\n10,3,0\nB,5,6\n", "[3 2] f64 D 1 2 3 0 5 6", "i0 c0 c1"},
		{"columns", dense, both[1:], "i0,z,a\n0,1,2\n1,3,0\n2,5,6\n", "[3 2] f64 D 1 2 3 0 5 6", "i0 z a"},
		{"both", dense, both, "i0,z,a\n\"T, of a kind\",1,2\n10,3,0\nB,5,6\n", "[3 2] f64 D 1 2 3 0 5 6", "i0 z a"},
		{"vector", vector, both[:1], "i0,value\n\"T, of a kind\",7\n10,8\nB,9\n", "[3] f64 D 7 8 9", "i0 value"},
		// Labels of entries are numbered in ascending order: 10, B, T; a, z.
		{"entries", sparse, both, "i0,i1,value\n\"T, of a kind\",z,1\n\"T, of a kind\",a,2\n10,z,3\nB,z,5\nB,a,6\n", "[3 2] f64 COO 3 6 5 2 1", "i0 i1 value"},
	} {
		for _, kind := range []string{"csv", "parquet"} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "t."+kind)
				if err := Write(path, c.tensor, c.names...); err != nil {
					t.Fatal(err)
				}
				if text, err := os.ReadFile(path); err != nil || kind == "csv" && string(text) != c.csv {
					t.Errorf("wrote %q, want %q (%v)", text, c.csv, err)
				}
				got, err := Read(path, As(tensor.Float64))
				if err != nil {
					t.Fatal(err)
				}
				if shown(got) != c.again {
					t.Errorf("read %s, want %s", shown(got), c.again)
				}
				items, err := List(path)
				if err != nil {
					t.Fatal(err)
				}
				names := ""
				for _, i := range items {
					names += " " + i.Entry
				}
				if names[1:] != c.columns {
					t.Errorf("the columns are called%s, want %s", names, c.columns)
				}
			})
		}
	}
	for _, c := range []struct {
		kind, want string
		names      []Option
	}{
		{"csv", "2 names (AxisNames) for 3 coordinates of axis 0", []Option{AxisNames(0, cols)}},
		{"csv", "coordinates of axis 2 are named, but the tensor has rank 2", []Option{AxisNames(2, cols)}},
		{"parquet", `two columns would be called "a"`, []Option{AxisNames(1, []string{"a", "a"})}},
	} {
		if err := WriteTo("t."+c.kind, new(bytes.Buffer), dense, c.names...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
