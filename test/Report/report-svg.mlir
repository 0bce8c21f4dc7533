// RUN: braid-opt %s --comm-report="format=svg machine=ideal output=%t.svg passes=comm-sink-waits" -o /dev/null
// RUN: FileCheck %s < %t.svg
// RUN: %python -c "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])" %t.svg

comm.group @world all

// CHECK:      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 {{[0-9.]+}}" role="img"
// CHECK:      machine ideal, collective model link, 8 ranks, passes comm-sink-waits</text>
// CHECK:      >exposed</text>

// 1036 units are 400 ns, the length of the slower program; rows begin at 150.
// CHECK:      <text class="heading" {{.*}}>@step</text>
// CHECK-NEXT: <tspan class="strong">before</tspan> 400 ns, 300 ns exposed, 0.0 % of communication hidden, lower bound 300 ns (+33.3 %)</text>
// CHECK-NEXT: <text class="row" x="8" {{.*}}>compute</text>
// CHECK-NEXT: <rect class="lane"
// CHECK-NEXT: <rect class="wait" x="150" {{.*}} width="776.4" {{.*}}><title>ar &lt;&amp;&quot;&gt;: comm.wait
// CHECK-NEXT: tensor&lt;4xf32&gt;
// CHECK-NEXT: holds the stream for 300 ns
// CHECK-NEXT: 0 ns to 300 ns</title></rect>
// CHECK-NEXT: <rect class="compute" x="927" {{.*}} width="258.4" {{.*}}><title>k: comm.compute
// CHECK-NEXT: tensor&lt;4xf32&gt;
// CHECK-NEXT: 100 ns (attribute)
// CHECK-NEXT: 300 ns to 400 ns</title></rect>
// CHECK-NEXT: <text class="in wait-text" {{.*}}>waits</text>
// CHECK-NEXT: <text class="in compute-text" {{.*}}>k</text>
// CHECK-NEXT: <text class="row" {{.*}}>lane world</text>
// CHECK-NEXT: <rect class="lane"
// CHECK-NEXT: <rect class="comm" x="150" {{.*}} width="776.4" {{.*}}><title>ar &lt;&amp;&quot;&gt;: comm.all_reduce
// CHECK-NEXT: tensor&lt;4xf32&gt;
// CHECK-NEXT: 16 B on @world (8 ranks)
// CHECK-NEXT: 300 ns (attribute)
// CHECK-NEXT: 0 ns to 300 ns
// CHECK-NEXT: exposed for 300 ns: &quot;k&quot; could run beside it, which gains 100 ns</title></rect>
// CHECK-NEXT: <rect class="exposed" x="150" {{.*}} width="777" {{.*}}><title>ar &lt;&amp;&quot;&gt; exposed for 300 ns: &quot;k&quot; could run beside it, which gains 100 ns</title></rect>
// CHECK-NEXT: <text class="in comm-text" {{.*}}>ar &lt;&amp;&quot;&gt;</text>
// CHECK-NEXT: >memory</text>
// CHECK-NEXT: >peak 48 B</text>
// CHECK-NEXT: >limit 80.00 GiB</text>
// CHECK-NEXT: <path class="memory" d="M150,
// CHECK-NOT: class="limit"
// CHECK:      <text class="tick" x="150" {{.*}}>0</text>
// CHECK:      <text class="tick" x="279.5" {{.*}}>50 ns</text>

// CHECK:      <tspan class="strong">after</tspan> 300 ns, 200 ns exposed, 33.3 % of communication hidden, lower bound 300 ns (+0.0 %)</text>
// CHECK:      <rect class="compute" x="150" {{.*}} width="258.4"
// CHECK:      <rect class="exposed" x="409" {{.*}} width="518"
func.func @step(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 300 : i64, comm.label = "ar <&\22>"} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %k = comm.compute "k"(%x) {comm.cost_ns = 100 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %r, %k : tensor<4xf32>, tensor<4xf32>
}

// A limit near the peak is drawn. Control characters, which XML cannot hold, and
// bytes that are no UTF-8 become U+FFFD.
// CHECK:      >@near_the_limit</text>
// CHECK:      <title>a�b�: comm.compute
// CHECK:      <line class="limit" {{.*}}><title>limit 80.00 GiB</title></line>
// CHECK:      <tspan class="strong">after</tspan> 100 ns
// CHECK:      <line class="limit" {{.*}}><title>limit 80.00 GiB</title></line>
func.func @near_the_limit(%x: tensor<15000000000xf32>) -> tensor<15000000000xf32> {
  %k = comm.compute "k"(%x) {comm.cost_ns = 100 : i64, comm.label = "a\01b\FF"} : (tensor<15000000000xf32>) -> tensor<15000000000xf32>
  return %k : tensor<15000000000xf32>
}
