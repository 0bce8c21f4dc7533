// RUN: braid-opt %s --comm-report="format=html machine=ideal output=%t.html passes=comm-sink-waits" -o /dev/null
// RUN: FileCheck %s < %t.html
// RUN: %python %S/Inputs/check_page.py %t.html

// The page names all that it may run or fetch: its own style and script.
// CHECK:      <!DOCTYPE html>
// CHECK:      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-{{[A-Za-z0-9+/]*=}}'; style-src 'sha256-{{[A-Za-z0-9+/]*=}}'; base-uri 'none'; form-action 'none'">
// CHECK-NOT:  src=
// CHECK-NOT:  href=

// Text of programs and options is escaped.
// CHECK:      <script type="application/json" id="report">{"report":{"machine":"ideal","collective_model":"link",
// CHECK-SAME: "label":"\u003c/script\u003e\u003cscript\u003ealert(1)\u003c/script\u003e","kind":"all_reduce",
// CHECK-SAME: "type":"tensor\u003c4xf32\u003e","bytes":16,
// CHECK-SAME: "label":"k\u0001\"\u0026\\ é �"
// The slices name the nodes of the report by their numbers.
// CHECK-SAME: "timelines":[{"before":{"function":0,"isComplete":true,"tracks":["compute","lane world"],
// CHECK-SAME: "slices":{{\[\[}}3,1,0,0,300,0,1],[0,2,0,300,400,0,1],[2,0,1,0,300,0,1]],
// CHECK-SAME: "exposedParts":{{\[\[}}1,0,300,2]]},
// CHECK-SAME: "after":{"function":0,
// CHECK-SAME: "exposedParts":{{\[\[}}1,100,300,2]]}}]}
func.func @step(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 300 : i64, comm.label = "</script><script>alert(1)</script>"} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %k = comm.compute "k"(%x) {comm.cost_ns = 100 : i64, comm.label = "k\01\22&\\ \C3\A9 \FF"} : (tensor<4xf32>) -> tensor<4xf32>
  return %r, %k : tensor<4xf32>, tensor<4xf32>
}
comm.group @world all
