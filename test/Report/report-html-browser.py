# REQUIRES: chromium
# RUN: %python %s %t %braid_src_root/test/Benchmark/transformer_steps.py %S/report-comparison-device.mlir
"""What a user sees of HTML reports, in a real browser: the figures, the timelines,
what the mouse and the keyboard do, tables that sort; labels stay text; the browser
has nothing to complain about and fetches nothing but the page itself."""
import os
import subprocess
import sys

from browser import Browser

PROGRAM = """comm.group @world all
func.func @step(%x: tensor<4xf32>, %y: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = comm.all_reduce sum %x on @world {comm.cost_ns = 3000 : i64, comm.label = "</script><b>first"} : tensor<4xf32>
  %ra = comm.wait %a : !comm.token<tensor<4xf32>>
  %b = comm.all_reduce sum %x on @world {comm.cost_ns = 1000 : i64, comm.label = "second \\C3\\A9\\01\\22"} : tensor<4xf32>
  %rb = comm.wait %b : !comm.token<tensor<4xf32>>
  %k = comm.compute "matmul"(%x) {comm.cost_ns = 2000 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %ra, %rb, %k : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r = scf.for %i = %zero to %three step %one iter_args(%v = %x) -> tensor<4xf32> {
    %k = comm.compute "trip"(%v) {comm.cost_ns = 100 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %k : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
"""


def write_report(folder, name, text, options):
    path = os.path.join(folder, name)
    with open(f"{path}.mlir", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["braid-opt", f"{path}.mlir", "-o", os.devnull,
                    f"--comm-report=format=html output={path}.html {options}"], check=True)
    return f"{path}.html"


def texts(browser, selector):
    return browser.evaluate(f"[...document.querySelectorAll({selector!r})].map((e) => e.textContent)")


def rows(browser, selector):
    return browser.evaluate(f"[...document.querySelectorAll({selector!r} + ' tr')].map("
                            "(row) => [...row.children].map((cell) => cell.textContent))")


def find(browser, selector, index=0):
    """The middle of an element, in the window."""
    return browser.evaluate(f"(() => {{ const e = document.querySelectorAll({selector!r})[{index}];"
                            "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
                            "return [r.x + r.width / 2, r.y + r.height / 2]; })()")


def check_clean(browser, page):
    assert not browser.complaints, browser.complaints
    assert [url for url in browser.requests if not url.startswith("about:")] == ["file://" + os.path.abspath(page)], browser.requests
    assert not browser.evaluate("document.querySelectorAll('b, img, link, iframe').length")


def check_summary(browser):
    assert browser.evaluate("document.title") == "comm-report: @step"
    assert texts(browser, "#settings") == ["machine ideal \u00b7 collective model link \u00b7 8 ranks \u00b7 passes comm-sink-waits "
        "\u00b7 same bits as the program as written"]
    summary = {row[0]: row[1:] for row in rows(browser, "#summary")}
    assert summary[""] == ["before", "after", "change"]
    assert summary["Makespan"] == ["6.000 us", "4.000 us", "\u22122.000 us"], summary
    assert summary["Exposed communication"] == ["4.000 us", "2.000 us", "\u22122.000 us"], summary
    assert summary["Hidden fraction of communication"] == ["0.0 %", "50.0 %", "+50.0 %"], summary
    assert summary["Lower bound of the makespan (lane)"] == ["4.000 us", "4.000 us", ""], summary
    assert summary["Gap to the lower bound"] == ["50.0 %", "0.0 %", "\u221250.0 %"], summary
    assert "Peak memory (limit 80.00 GiB)" in summary


def check_timelines(browser):
    """Two timelines at one scale; of each op that takes time one rectangle."""
    assert texts(browser, ".panel h3") == ["before 6.000 us, 4.000 us exposed", "after 4.000 us, 2.000 us exposed"]
    assert texts(browser, ".panel:first-child svg > text")[:3] == ["compute", "lane world", "memory"]
    for kind, count in {"compute": 2, "comm": 4, "wait": 4, "exposed": 4}.items():
        assert browser.evaluate(f"document.querySelectorAll('.panel rect.{kind}').length") == count, kind
    widths = browser.evaluate("[...document.querySelectorAll('.panel rect.compute')].map((e) => Math.round(e.getAttribute('width')))")
    assert len(set(widths)) == 1, widths
    assert browser.evaluate("document.querySelectorAll('path.memory').length") == 2


def check_selection(browser):
    """The mouse asks for an op; a click selects, and keys go on from there."""
    browser.mouse("mouseMoved", *find(browser, ".panel rect.comm", 0))
    assert not browser.evaluate("document.getElementById('tooltip').hidden")
    tip = texts(browser, "#tooltip dt, #tooltip dd")
    assert tip == ["</script><b>first", "comm.all_reduce", "type", "tensor<4xf32>", "bytes", "16 B (16)", "group",
                   "@world, 8 ranks", "cost", "3.000 us (attribute)", "from, to", "0 ns to 3.000 us",
                   "exposed for", "3.000 us", "why exposed", '"matmul" could run beside it, which gains 2000 ns'], tip
    browser.mouse("mouseMoved", 2, 2)
    assert browser.evaluate("document.getElementById('tooltip').hidden")

    browser.click(*find(browser, ".panel rect.compute", 0))
    assert texts(browser, "#details dt.title") == ["matmul"]
    assert browser.evaluate("document.querySelectorAll('rect.selected').length") == 1
    browser.evaluate("document.querySelector('.panel svg').focus()")
    browser.press("n")
    assert texts(browser, "#details dt.title") == ["</script><b>first"]
    browser.press("p")
    assert texts(browser, "#details dt.title") == ["matmul"]


def check_zoom(browser):
    """Zooming, by keys and by the wheel, and panning."""
    def width():
        return browser.evaluate("Number(document.querySelector('.panel rect.lane + rect').getAttribute('width'))")
    whole = width()
    browser.press("+")
    assert abs(width() / whole - 1.5) < 0.01
    browser.press("0")
    assert width() == whole
    x, y = find(browser, ".panel rect.comm", 0)
    browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
    browser.settle()
    assert width() > 1.3 * whole
    place = "document.querySelector('.panel rect.comm').getAttribute('x')"
    before = browser.evaluate(place)
    browser.press("ArrowRight")
    assert float(browser.evaluate(place)) < float(before)
    browser.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    # Far below the timeline: a drag goes on where it leaves it.
    for by in (10, 500):
        browser.mouse("mouseMoved", x + by, 890, button="left", buttons=1)
    browser.mouse("mouseReleased", x + 500, 890, button="left", clickCount=1)
    assert float(browser.evaluate(place)) > float(before), "dragging goes back to the beginning"
    browser.click(*find(browser, "#reset"))
    assert width() == whole


def check_tables(browser):
    """Why exposed: the worst first; a heading sorts."""
    assert rows(browser, "#reasons tbody") == [
        ["</script><b>first", "all_reduce", "world", "1.000 us", "25.0 %", "no independent compute is left"],
        ["second \u00e9\x01\"", "all_reduce", "world", "1.000 us", "25.0 %", 'its lane was busy with "</script><b>first"']]
    assert rows(browser, "#collectives thead") == [["collective", "kind", "group", "ranks", "bytes", "runs", "cost", "cost source",
                                                    "exposed before", "exposed after"]]
    table = rows(browser, "#collectives tbody")
    assert table == [["</script><b>first", "all_reduce", "world", "8", "16 B", "1", "3.000 us", "attribute", "3.000 us", "1.000 us"],
                     ["second \u00e9\x01\"", "all_reduce", "world", "8", "16 B", "1", "1.000 us", "attribute", "1.000 us", "1.000 us"]], table
    browser.click(*find(browser, "#collectives th button", 6))
    costs = [row[6] for row in rows(browser, "#collectives tbody")]
    assert costs == ["3.000 us", "1.000 us"], costs
    browser.click(*find(browser, "#collectives th button", 6))
    assert [row[6] for row in rows(browser, "#collectives tbody")] == costs[::-1]
    browser.click(*find(browser, "#collectives tbody tr", 0))
    assert texts(browser, "#details dt.title") == ["second \u00e9\x01\""]


def check_other_function(browser):
    """The other function: a loop with its trips."""
    browser.evaluate("(() => { const e = document.getElementById('function'); e.value = '1';"
                     "e.dispatchEvent(new Event('change')); })()")
    browser.settle()
    assert browser.evaluate("document.querySelectorAll('.panel:first-child rect.compute').length") == 3
    assert browser.evaluate("document.querySelectorAll('.panel:first-child rect.body').length") == 1
    assert texts(browser, "#reasons") == ["There is no communication."]


def check_small(browser, page):
    browser.open(page)
    check_summary(browser)
    check_timelines(browser)
    check_selection(browser)
    check_zoom(browser)
    check_tables(browser)
    check_other_function(browser)
    check_clean(browser, page)


def check_comparison(browser, page):
    """The predicted times beside those of a run, the largest deviation first."""
    browser.complaints.clear()
    browser.requests.clear()
    browser.open(page)
    assert texts(browser, "#comparison > p") == ["@step, rank 0: predicted 550 ns, measured 1.200 us, +118.2 %"]
    assert rows(browser, "#comparison tbody")[:2] == [["matmul 8x8x8 bf16", "compute", "+600 ns", "300 ns", "900 ns"],
                                                      ["first", "compute", "+100 ns", "100 ns", "200 ns"]]
    assert texts(browser, "#comparison svg > text") == [f"{lane}, {row}" for lane in ("compute", "world")
                                                        for row in ("predicted", "measured")]
    assert texts(browser, "#comparison rect.comm title") == ["gather: predicted 250 ns, measured 300 ns"] * 2
    check_clean(browser, page)


def check_large(browser, page):
    """20,000 nodes: drawn with a bounded number of rectangles, and all reachable."""
    browser.complaints.clear()
    browser.requests.clear()
    browser.open(page)
    count = browser.evaluate("document.querySelectorAll('.panel rect').length")
    assert 100 < count < 12000, count
    joined = browser.evaluate("document.querySelectorAll('.panel rect[data-count]').length")
    assert joined > 0
    browser.evaluate("document.querySelector('.panel svg').focus()")
    for _ in range(25):
        browser.press("+")
    assert browser.evaluate("document.querySelectorAll('.panel rect[data-count]').length") == 0
    assert browser.evaluate("document.querySelectorAll('.panel rect.compute, .panel rect.comm').length") > 0
    check_clean(browser, page)


def check_limit(browser, page):
    """More memory than max-memory: said above, told in figures, and marked."""
    browser.complaints.clear()
    browser.requests.clear()
    browser.open(page)
    summary = {row[0]: row[1:] for row in rows(browser, "#summary")}
    peak, = summary["Peak memory (limit 50 B)"]
    assert peak == "96 B, 46 B above the limit", summary
    assert texts(browser, "#summary td.over") == [peak]
    assert texts(browser, ".panel h3 .over") == [" memory limit exceeded by 46 B"]
    assert texts(browser, ".panel svg text.over") == ["limit 50 B"]
    assert browser.evaluate("document.querySelectorAll('line.limit').length") == 1
    # What is marked ends at the line.
    line, clip = (browser.evaluate(f"Number(document.querySelector('{selector}').getAttribute('{attribute}'))")
                  for selector, attribute in [("line.limit", "y1"), ("clipPath[id^=above] rect", "height")])
    assert line == clip > 0, (line, clip)
    assert browser.evaluate("getComputedStyle(document.querySelector('path.excess')).clipPath").startswith("url(")
    check_clean(browser, page)


def main(folder, steps, compared):
    os.makedirs(folder, exist_ok=True)
    small = write_report(folder, "small", PROGRAM, "machine=ideal passes=comm-sink-waits")
    step = subprocess.run([sys.executable, steps, "fsdp", "--layers=256", "--micro-batches=2"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    large = write_report(folder, "large", step, "machine=h200x8 passes=comm-sink-waits,comm-raise-collectives")
    with Browser(1280, 900) as browser:
        check_small(browser, small)
        browser.screenshot(os.path.join(folder, "small.png"))
        check_limit(browser, write_report(folder, "limit", PROGRAM, "machine=ideal max-memory=50"))
        browser.screenshot(os.path.join(folder, "limit.png"))
        check_large(browser, large)
        with open(compared, encoding="utf-8") as file:
            trace = os.path.join(os.path.dirname(compared), "Inputs", "device-run.json")
            check_comparison(browser, write_report(folder, "run", file.read(), f"machine=ideal trace={trace}"))


if __name__ == "__main__":
    main(*sys.argv[1:])
