"""The screenshot of the report in the documentation: `python -m scripts.screenshots` takes it.

It releases the demo, opens its report in Chromium, and writes docs/guides/images/report.png.
It needs the browser of the system, as the tests of the web application do.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURE = Path(__file__).parent.parent / "docs" / "guides" / "images" / "report.png"


def main() -> None:
    """Take the upper part of the report, as wide as a page of the documentation."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        demo = [sys.executable, "-m", "shoal", "demo", name, "--records", "2000"]
        subprocess.run(demo, check=True, capture_output=True)  # noqa: S603 our own program
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 600})
        page.goto(Path(name, "report.html").as_uri())
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
