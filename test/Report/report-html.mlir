// RUN: braid-opt %s --comm-report="format=html machine=ideal output=%t.html passes=comm-sink-waits" -o /dev/null
// RUN: FileCheck %s < %t.html
// RUN: %python %S/Inputs/check_page.py %t.html

// The page names all that it may run or fetch: its own style and script.
// CHECK:      <!DOCTYPE html>
// CHECK:      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-{{[A-Za-z0-9+/]*=}}'; style-src 'sha256-{{[A-Za-z0-9+/]*=}}'; base-uri 'none'; form-action 'none'">
// CHECK-NOT:  src=
// CHECK-NOT:  href=

// Text of programs and options is escaped.
// CHECK:      <script type="application/json" id="report">{"machine":"ideal","collectiveModel":"link","ranks":8,"passes":"comm-sink-waits","numerics":"same bits as the program as written","memoryLimit":85899345920,"functions":[
// CHECK-SAME: {"name":"step","before":{"makespan":400,"compute":100,"communication":300,"exposed":300,"lowerBound":300,"lowerBoundKind":"critical path","peak":48,"gap":0.333333,"hidden":0.000000,"isComplete":true,"tracks":["compute","lane world"],
// CHECK-SAME: "nodes":{{\[\[}}"\u003c/script\u003e\u003cscript\u003ealert(1)\u003c/script\u003e","comm.wait","tensor\u003c4xf32\u003e",0,"wait",16,"",0,0,"",0],
// CHECK-SAME: ["k\u0001\"\u0026\\ é �","comm.compute","tensor\u003c4xf32\u003e",100,"attribute",16,"",0,0,"",0],
// CHECK-SAME: ["\u003c/script\u003e\u003cscript\u003ealert(1)\u003c/script\u003e","comm.all_reduce","tensor\u003c4xf32\u003e",300,"attribute",16,"world",8,300,"\"k\u0001\"\u0026\\ é �\" could run beside it, which gains 100 ns",0]],
// CHECK-SAME: "slices":{{\[\[}}3,0,0,0,300,0,1],[0,1,0,300,400,0,1],[2,2,1,0,300,0,1]],
// CHECK-SAME: "exposedParts":{{\[\[}}1,0,300,2]],
// CHECK-SAME: "memory":{{\[\[}}0,16],[0,32],[300,48]],
// CHECK-SAME: "collectives":{{\[\[}}"\u003c/script\u003e\u003cscript\u003ealert(1)\u003c/script\u003e","all_reduce","world",8,16,1,300,"attribute",300,null,"{{.*}} which gains 100 ns",2]]},
// CHECK-SAME: "after":{"makespan":300,
// CHECK-SAME: "exposedParts":{{\[\[}}1,100,300,2]],
func.func @step(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 300 : i64, comm.label = "</script><script>alert(1)</script>"} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %k = comm.compute "k"(%x) {comm.cost_ns = 100 : i64, comm.label = "k\01\22&\\ \C3\A9 \FF"} : (tensor<4xf32>) -> tensor<4xf32>
  return %r, %k : tensor<4xf32>, tensor<4xf32>
}
comm.group @world all
