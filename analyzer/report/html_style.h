// The style sheet of the HTML report: part of the one file, since it may be opened where there is no network.
#pragma once

#include <string_view>

namespace lastref::report {

inline constexpr std::string_view html_style = R"css(
:root { color-scheme: light dark;
  --page: #f5f6f8; --card: #ffffff; --ink: #1b1f27; --dim: #626b7a; --line: #e2e5ea; --track: #edeff3; --code: #f2f4f7;
  --error: #c9302c; --warning: #b7690a; --note: #2b6cb0; --good: #1e7f4f; --plain: #6b7ea8;
  --error-soft: #fdecea; --warning-soft: #fdf3e3; --note-soft: #e8f1fb; --good-soft: #e5f5ec; }
@media (prefers-color-scheme: dark) { :root {
  --page: #12151b; --card: #1b2029; --ink: #e7eaf0; --dim: #98a2b3; --line: #2b323e; --track: #272e3a; --code: #151a22;
  --error: #ff7b72; --warning: #f0a53a; --note: #6cb1ff; --good: #56cf8f; --plain: #8ea2cf;
  --error-soft: #3a1d1d; --warning-soft: #36290f; --note-soft: #172a42; --good-soft: #12301f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto,
  "Helvetica Neue", Arial, sans-serif; -webkit-text-size-adjust: 100%; }
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.35rem; margin: 0; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2.2rem 0 .8rem; letter-spacing: -.005em; }
h3 { font-size: 1.02rem; margin: .15rem 0 0; font-weight: 600; overflow-wrap: anywhere; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
code, .mono { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .86em; }
a { color: inherit; }
.dim { color: var(--dim); }
header { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: baseline; justify-content: space-between; }
.pill { display: inline-block; padding: .2rem .75rem; border-radius: 99px; font-size: .88rem; font-weight: 600; white-space: nowrap; }
.pill.findings { background: var(--error-soft); color: var(--error); }
.pill.clean { background: var(--good-soft); color: var(--good); }
.pill.incomplete { background: var(--warning-soft); color: var(--warning); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.2rem, 1fr)); gap: .75rem; margin-top: 1.2rem; }
.tile, .card, .banner { background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.tile { padding: .75rem .95rem; }
.tile b { display: block; font-size: 1.45rem; line-height: 1.25; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.tile span { color: var(--dim); font-size: .84rem; }
.tile.error b { color: var(--error); } .tile.warning b { color: var(--warning); } .tile.note b { color: var(--note); }
.banner { padding: .7rem 1rem; margin-top: 1rem; border-left: 4px solid var(--warning); background: var(--warning-soft); }
.banner.fails { border-left-color: var(--error); background: var(--error-soft); }
.banner ul { margin: .3rem 0 0; padding-left: 1.2rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: .75rem; }
.card { padding: 1rem 1.1rem; }
.charts .card > h3 { margin: 0 0 .7rem; font-size: .92rem; }
svg { display: block; overflow: visible; }
svg text { fill: var(--ink); font-size: 13px; } svg text.dim { fill: var(--dim); font-size: 12px; }
svg .number { font-weight: 700; }
svg .error { fill: var(--error); } svg .warning { fill: var(--warning); } svg .note { fill: var(--note); }
svg rect.plain { fill: var(--plain); } svg rect.track { fill: var(--track); }
svg path { fill: none; stroke-width: 1.6; vector-effect: non-scaling-stroke; }
svg path.used { stroke: var(--note); } svg path.area { stroke: none; fill: var(--note); opacity: .2; }
svg path.reserved, svg path.other { stroke: var(--warning); } svg path.threshold { stroke: var(--dim); stroke-dasharray: 5 4; }
svg path.reported { stroke: var(--good); stroke-dasharray: 2 3; }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .2rem 0 .5rem; font-size: .84rem; color: var(--dim); }
.key i { display: inline-block; width: 1rem; height: 0; margin-right: .4rem; vertical-align: middle; border-top: 3px solid var(--note); }
.key i.reserved, .key i.other { border-color: var(--warning); } .key i.threshold { border-top: 2px dashed var(--dim); }
.key i.reported { border-top: 2px dotted var(--good); }
svg line.axis { stroke: var(--line); } svg line.phase { stroke: var(--dim); stroke-dasharray: 3 4; }
.finding { padding: 0; margin-top: .75rem; border-left-width: 4px; }
.finding.error { border-left-color: var(--error); } .finding.warning { border-left-color: var(--warning); }
.finding.note { border-left-color: var(--note); }
.finding > summary { list-style: none; cursor: pointer; padding: .9rem 1.1rem; }
.finding > summary::-webkit-details-marker { display: none; }
.finding .body { padding: 0 1.1rem 1rem; border-top: 1px solid var(--line); }
.finding[open] > summary { padding-bottom: .7rem; }
.meta { display: flex; flex-wrap: wrap; gap: .25rem .9rem; font-size: .86rem; color: var(--dim); }
.meta b { font-weight: 600; }
.meta .error { color: var(--error); } .meta .warning { color: var(--warning); } .meta .note { color: var(--note); }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: .55rem 1rem; margin: .9rem 0 0; }
dt { color: var(--dim); font-size: .88rem; padding-top: .05rem; } dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
dd p:first-child { margin-top: 0; } dd p:last-child { margin-bottom: 0; }
.site { margin: 0 0 .8rem; } .site > p { margin: 0 0 .35rem; }
.stack { list-style: none; margin: 0; padding: .55rem .8rem; background: var(--code); border-radius: 8px; }
.stack li { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding: .08rem 0; }
.stack li span { overflow-wrap: anywhere; } .stack .own { font-weight: 700; }
.list { list-style: none; margin: 0; padding: 0; } .list li { padding: .45rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.list li:first-child { border-top: 0; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; } td { padding: .3rem .6rem .3rem 0; border-top: 1px solid var(--line);
  overflow-wrap: anywhere; vertical-align: top; } tr:first-child td { border-top: 0; } td.n { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
footer { margin-top: 2.5rem; color: var(--dim); font-size: .85rem; overflow-wrap: anywhere; }
@media (max-width: 34rem) { main { padding: 1rem .75rem 3rem; } dl { grid-template-columns: 1fr; gap: .1rem; } dt { margin-top: .6rem; }
  .card { padding: .9rem; } .finding { padding: 0; } .finding > summary, .finding .body { padding-left: .9rem; padding-right: .9rem; }
  .tiles { grid-template-columns: repeat(3, 1fr); gap: .5rem; } .tile { padding: .55rem .6rem; } .tile b { font-size: 1.15rem; } }
@media print { body { background: #fff; } .card, .tile { break-inside: avoid; } }
)css";

}  // namespace lastref::report
