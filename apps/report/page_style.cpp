// SPDX-License-Identifier: Apache-2.0
// Colours of the curves: the palette of M. Okabe and K. Ito, "Color Universal Design" (2002, revised 2008), which stays
// distinct with every common colour vision; its yellow is left out on light and its black is the ink of each theme.
#include "apps/report/sections.hpp"

namespace nudge::report {

namespace {

constexpr const char* colors = R"(
:root { color-scheme: light dark;
  --page: #f7f6f3; --card: #ffffff; --ink: #1c2230; --soft: #59626f; --rule: #dedbd4; --grid: #ebe8e2;
  --c0: #0072B2; --c1: #D55E00; --c2: #009E73; --c3: #CC79A7; --c4: #E69F00; --c5: #56B4E9; --c6: #1c2230; --c7: #7d8591; }
@media screen and (prefers-color-scheme: dark) { :root {
  --page: #13161b; --card: #1b1f26; --ink: #e7e9ee; --soft: #a3acb9; --rule: #323945; --grid: #2a303a;
  --c0: #56B4E9; --c1: #E69F00; --c2: #009E73; --c3: #CC79A7; --c4: #F0E442; --c5: #D55E00; --c6: #e7e9ee; --c7: #8a93a1; } }
)";

constexpr const char* layout = R"(
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 20px 16px 48px; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 8px 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 34px 0 10px; }
h3 { font-size: 1rem; margin: 22px 0 8px; }
p { max-width: 72ch; margin: 8px 0; }
.files { list-style: none; margin: 0; padding: 0; color: var(--soft); font-size: 0.9rem; }
.files strong { color: var(--ink); overflow-wrap: anywhere; }
.verdict { font-size: 1.08rem; margin: 6px 0 10px; max-width: 78ch; }
.key { margin: 14px 0 4px; }
.key figure { max-width: 760px; }
figcaption a { float: right; margin-left: 12px; font-size: 0.8rem; font-weight: 400; color: var(--soft); }
.data { font-size: 0.8rem; color: var(--soft); margin: 0; }
.data pre { max-height: 220px; overflow: auto; }
.grid { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr)); align-items: start; }
.grid + .grid { margin-top: 16px; }
figure { margin: 0; padding: 14px 14px 8px; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
.grid > figure { max-width: 640px; }
figcaption { font-weight: 600; margin-bottom: 6px; }
.note { color: var(--soft); font-size: 0.85rem; line-height: 1.4; margin: 6px 0; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 0 0 6px; padding: 0; font-size: 0.85rem; }
.legend li { display: flex; align-items: center; gap: 6px; overflow-wrap: anywhere; }
.legend .head { flex-basis: 100%; }
.legend svg { width: 26px; height: 14px; flex: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 10px 0; font-size: 0.88rem; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 12px 4px 0; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th:first-child { text-align: left; }
.words { text-align: left; white-space: normal; min-width: 16em; }
tr:first-child th { color: var(--soft); font-weight: 600; vertical-align: bottom; white-space: normal; }
.scroll th:first-child { position: sticky; left: 0; background: var(--page); }
th { font-weight: 500; }
.heat td, .heat tr:first-child th { padding: 4px 10px; text-align: center; }
.heat .none { color: var(--soft); }
details { margin: 8px 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
details td { text-align: left; white-space: normal; }
pre { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px; overflow-x: auto; font-size: 0.82rem; }
)";

/// Styles for paper: controls are left out, wide tables wrap instead of being cut off, and two figures stand side by
/// side. The colours of heat maps are printed although the dialog leaves backgrounds out.
constexpr const char* paper = R"(
@media print {
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  :root { font-size: 13px; }
  body { background: #fff; font-size: 1rem; }
  main { max-width: none; padding: 0; }
  figcaption a, .data { display: none; }
  figure, tr, .heat, .verdict { break-inside: avoid; }
  h1, h2, h3, summary { break-after: avoid; }
  .grid { grid-template-columns: repeat(auto-fit, minmax(290px, 1fr)); gap: 10px; }
  figure { padding: 10px; }
  .scroll { overflow: visible; }
  table { font-size: 0.85rem; }
  .grid .chart text { font-size: 15px; }
  th, td { white-space: normal; padding: 3px 7px 3px 0; }
  .heat td, .heat tr:first-child th { padding: 2px 4px; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
}
)";

constexpr const char* drawing = R"(
.chart { display: block; width: 100%; height: auto; }
.chart text { fill: var(--soft); font-size: 12.5px; }
.chart .row { fill: var(--ink); }
.chart .grid { stroke: var(--grid); }
.chart .axis { stroke: var(--soft); }
.chart .rule { stroke: var(--grid); }
.chart .gap { stroke: var(--soft); stroke-dasharray: 2 4; }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.thin { stroke-width: 1.1; }
.dashed { stroke-dasharray: 6 4; }
.whisker { stroke-width: 1.6; opacity: 0.6; }
.band { stroke: none; opacity: 0.18; }
.mark { stroke: var(--card); stroke-width: 0.8; }
)";

}  // namespace

std::string page_style() {
  std::string out = colors;
  out.append(layout).append(drawing).append(paper);
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    out.append(".s").append(n).append(" { stroke: var(--c").append(n).append("); }");
    out.append(" .f").append(n).append(" { fill: var(--c").append(n).append("); }\n");
  }
  return out;
}

}  // namespace nudge::report
