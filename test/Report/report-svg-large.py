# RUN: %python %s %t %braid_src_root/test/Benchmark/transformer_steps.py
"""A picture of thousands of ops holds no more than can be seen: its size depends on
its width alone; every op is still covered by a rectangle."""
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def draw(folder, steps, layers):
    path = os.path.join(folder, f"step{layers}")
    with open(f"{path}.mlir", "w", encoding="utf-8") as file:
        subprocess.run([sys.executable, steps, "fsdp", f"--layers={layers}", "--vary=1"], check=True, stdout=file)
    subprocess.run(["braid-opt", f"{path}.mlir", "-o", os.devnull,
                    f"--comm-report=format=svg machine=h200x8 output={path}.svg passes=comm-sink-waits"], check=True)
    rects = list(ElementTree.parse(f"{path}.svg").iter(f"{SVG}rect"))
    return os.path.getsize(f"{path}.svg"), rects


def covered(rects, kind):
    """How much of the width rectangles of a class cover."""
    return sum(float(rect.get("width")) for rect in rects if rect.get("class") == kind)


def main(folder, steps):
    os.makedirs(folder, exist_ok=True)
    small_size, small = draw(folder, steps, 4)
    middle_size, _ = draw(folder, steps, 128)
    large_size, large = draw(folder, steps, 512)
    assert middle_size < 2_000_000 and large_size < 2_000_000, (middle_size, large_size)
    # Four times the ops, less than twice the picture.
    assert large_size < 2 * middle_size, (middle_size, large_size)
    for rect in small + large:
        if rect.get("x"):
            assert float(rect.get("width")) > 0 and float(rect.get("x")) + float(rect.get("width")) < 1201, rect.attrib
    # What compute takes of the time is the same for any number of layers.
    ratio = covered(large, "compute") / covered(small, "compute")
    assert 0.6 < ratio < 1.6, ratio
    joined = [rect for rect in large if " ops, " in (rect.findtext(f"{SVG}title") or "")]
    assert joined and not any(" ops, " in (rect.findtext(f"{SVG}title") or "") for rect in small)


if __name__ == "__main__":
    main(*sys.argv[1:])
