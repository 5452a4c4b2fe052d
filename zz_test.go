package lacuna
import ("testing";"context";"fmt";"github.com/lacuna-sparse/lacuna/tensor";"github.com/lacuna-sparse/lacuna/runtime")
func TestZZ(t *testing.T){
 s:=NewSession(WithEngine(runtime.Interp()),WithThreads(1))
 f,_:=tensor.ParseFormat("C-S-D",3)
 A,_:=tensor.FromCoords([]int64{1,1,1},f,[][]int64{{0},{0},{0}},tensor.ArrayOf([]float64{0}))
 y,_:=tensor.FromCoords([]int64{1},tensor.CSF(1),[][]int64{{0}},tensor.ArrayOf([]float64{0}))
 src:="R(i,j) = (sum_{k in in0,l} ((a2(l) * (in0(k,i,l) * mod(a0(i), a1(i))))))"
 k,err:=s.Compile(src,Operand("in0",A),Operand("a0",y),Operand("a1",y),Operand("a2",y),Shape("R",1,3),Result("R",tensor.CSR),StrictIEEE())
 if err!=nil{t.Fatal(err)}
 x,_:=k.Explain("plan"); fmt.Println(x)
 x,_=k.Explain("lattice"); fmt.Println(x)
 r,err:=k.Run(context.Background(),Args{"in0":A,"a0":y,"a1":y,"a2":y})
 fmt.Println(r,err,r.At(0,0))
}
