package interp
import ("testing";"github.com/lacuna-sparse/lacuna/ir/loop";"github.com/lacuna-sparse/lacuna/ir/loop/lib")
func BenchmarkTmp(b *testing.B){
  s,_:=lib.Lookup("pow_c128")
  c:=&loop.Call{Fn:"pow_c128",Typ:s.Result}
  for _,v:=range s.Args{ c.Args=append(c.Args,loop.Number(s.Vars[v].Type,1)) }
  f:=testFunc(nil); f.Vars=append(f.Vars,loop.Var{Name:"r",Type:s.Result}); f.Body=[]loop.Stmt{&loop.Let{Var:5,Value:c}}
  b.ReportAllocs()
  for b.Loop(){ Compile(f,lib.Lookup) }
}
