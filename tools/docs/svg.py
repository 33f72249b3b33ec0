# SPDX-License-Identifier: Apache-2.0
"""Shared by the scripts that draw explanations as SVG: text, styles of light and dark pages, the document. Python 3 without packages."""

WIDTH = 390  # of a phone: one unit is one pixel there
STYLE = """
text { font-family: sans-serif; font-size: 13px; fill: #222 }
.small { font-size: 12px } .title { font-size: 14px; font-weight: bold }
""".strip()


def text(x, y, what, kind="", anchor="start"):
    of_kind = f' class="{kind}"' if kind else ""
    return f'<text x="{round(x, 1):g}" y="{round(y, 1):g}" text-anchor="{anchor}"{of_kind}>{what}</text>'


def document(height, told, style, parts):
    """`told` is what a screen reader says."""
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">', f"<title>{told}</title>",
                      f"<style>{STYLE}\n{style.strip()}</style>", f'<rect width="{WIDTH}" height="{height}" class="paper"/>', *parts, "</svg>"]) + "\n"
