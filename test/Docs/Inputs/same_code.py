"""same_code.py PAGE FILE...: every line of the page's cmake and c++ blocks stands in one of the files."""
import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
lines = {line.strip() for path in sys.argv[2:] for line in open(path, encoding="utf-8")}
blocks = re.findall(r"^```(?:cmake|c\+\+)\n(.*?)^```$", page, re.M | re.S)
missing = [line for block in blocks for line in block.splitlines() if line.strip() not in lines]
if missing or len(blocks) != 2:
    sys.exit("\n".join([f"{len(blocks)} blocks, expected 2; lines in no file:"] + missing))
