"""Checks that a page's policy allows its own style and script and nothing else,
and that its data is JSON.

    check_page.py report.html
"""
import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser


class Parts(HTMLParser):
    """What stands in the page's style and script elements."""

    def __init__(self):
        super().__init__()
        self.parts, self.inside = [], None

    def handle_starttag(self, tag, attributes):
        if tag in ("style", "script"):
            self.inside = (tag, dict(attributes).get("type"))
            self.parts.append([self.inside, ""])

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.parts[-1][1] += data


with open(sys.argv[1], encoding="utf-8", newline="") as file:
    page = file.read()
parser = Parts()
parser.feed(page)
assert [kind for kind, _ in parser.parts] == [("style", None), ("script", "application/json"), ("script", None)], parser.parts
(_, style), (_, data), (_, script) = parser.parts
allowed = re.findall(r"'sha256-([^']*)'", re.search('Content-Security-Policy" content="([^"]*)"', page)[1])
assert allowed == [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
assert json.loads(data)["timelines"]
assert not re.search(r"https?://(?!www\.w3\.org/2000/svg\")", page), "an address outside"
