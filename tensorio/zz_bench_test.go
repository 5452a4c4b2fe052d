package tensorio
import ("testing";"fmt";"os";"math/rand/v2";"bufio";"time";"runtime";"github.com/lacuna-sparse/lacuna/tensor";"strconv")
func gen(path string, sorted bool, short bool, bytes int) {
 if _,err:=os.Stat(path); err==nil {return}
 f,_:=os.Create(path); w:=bufio.NewWriterSize(f,1<<20)
 rng := rand.New(rand.NewPCG(1,2))
 per := 38; if short {per=20}
 n := bytes/per
 fmt.Fprintf(w,"%%%%MatrixMarket matrix coordinate real general\n1000000 1000000 %d\n", n)
 var b []byte
 for i:=0;i<n;i++{
  r,c := rng.IntN(1000000)+1, rng.IntN(1000000)+1
  if sorted { r = i*1000000/n+1 }
  b=strconv.AppendInt(b[:0],int64(r),10); b=append(b,' '); b=strconv.AppendInt(b,int64(c),10); b=append(b,' ')
  if short { b=strconv.AppendFloat(b,float64(rng.IntN(10000))/100,'g',-1,64)} else {b=strconv.AppendFloat(b,rng.NormFloat64(),'g',17,64)}
  b=append(b,'\n'); w.Write(b)
 }
 w.Flush(); f.Close()
}
func TestZZBench(t *testing.T){
 for _, short := range []bool{false,true} {
 path := fmt.Sprintf("/tmp/bench_%v.mtx", short)
 gen(path, false, short, 200<<20)
 st,_ := os.Stat(path)
 for _, th := range []int{1,2} {
  runtime.GOMAXPROCS(th)
  best, bestAll := 1e9, 1e9
  for range 3 {
  f,_ := os.Open(path)
  cfg,_ := newConfig([]Option{Threads(th)})
  in, err := open(path,f,cfg); if err!=nil {t.Fatal(err)}
  t0:=time.Now()
  h,err := readMTXHeader(in); if err!=nil {t.Fatal(err)}
  v,_ := h.values(in)
  spec := &entrySpec{value: v, rank: 2, base: 1, comment: '%'}
  for _, d := range h.shape { spec.dims = append(spec.dims, uint64(d)) }
  list, err := readEntries(in, in.r, spec, h.lines, h.entries)
  if err!=nil {t.Fatal(err)}
  d1 := time.Since(t0).Seconds()
  if th == 2 {
  _, err = buildCoords(in, h.shape, spec, list); if err!=nil{t.Fatal(err)}
  }
  d2 := time.Since(t0).Seconds()
  best=min(best,d1); bestAll=min(bestAll,d2)
  _ = tensor.CSR
  f.Close()
  }
  mb := float64(st.Size())/1e6
  fmt.Printf("short=%v threads=%d: %.0f MB parse %.3fs = %.0f MB/s; with build %.3fs = %.0f MB/s\n", short, th, mb, best, mb/best, bestAll, mb/bestAll)
 }}
}
