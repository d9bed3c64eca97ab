/** The look of what stands on the pages: cards, tables, badges, forms, pictures. */
export const PARTS = `
.card { background: var(--card); border: 1px solid var(--line); border-radius: 9px; padding: 14px 16px; margin: 0 0 16px }
.card-head { display: flex; align-items: center; gap: 12px; margin: 0 0 10px }
.card-head > :not(h2) { margin-left: auto; font-size: 13px }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 370px), 1fr)); gap: 0 16px; align-items: start }
.lead { color: var(--soft); max-width: 46rem; margin-bottom: 14px }
.note { padding: 8px 12px; border-radius: 7px; background: var(--wait-bg); color: var(--wait) }
.empty { color: var(--soft); margin: 4px 0 }
.big { font-size: 17px; font-weight: 600 }

.flash { padding: 10px 14px; margin: 0 0 16px; border-radius: 8px; background: var(--good-bg); border: 1px solid var(--good) }
.flash p { margin: 0 }
.flash .once { margin-top: 6px }
.once code { padding: 2px 6px; border-radius: 4px; background: var(--card); user-select: all; overflow-wrap: anywhere }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px; margin: 0 0 16px }
.tiles a { display: flex; flex-direction: column; height: 100%; padding: 10px 14px; background: var(--card); border: 1px solid var(--line); border-radius: 9px; color: inherit; text-decoration: none }
.tiles a:hover { border-color: var(--strong-line) }
.tile-name { color: var(--soft) }
.tile-count { font-size: 24px; font-weight: 650; line-height: 1.25; letter-spacing: -0.01em }

.scroll { position: relative; overflow-x: auto; margin: 0 -16px; padding: 0 16px }
.scroll:focus-visible { outline-offset: -2px }
table { border-collapse: collapse; width: 100% }
caption { text-align: left; font-weight: 600; padding: 10px 0 4px }
th, td { text-align: left; font-weight: 400; padding: 6px 14px 6px 0; border-bottom: 1px solid var(--line); vertical-align: middle; white-space: nowrap }
th:last-child, td:last-child { padding-right: 0 }
thead th { color: var(--soft); font-size: 12.5px; padding-top: 2px }
tbody tr:last-child > * { border-bottom: 0 }
tbody tr:hover > * { background: light-dark(#f8fafc, #1c2229) }
.end { text-align: right }
.end .row { justify-content: flex-end }
.two th, .two td { white-space: normal }
.clip code { display: inline-block; max-width: 22ch; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom }
.break { white-space: normal }
.break code { overflow-wrap: anywhere }
.method { display: inline-block; min-width: 4.2em; color: var(--soft); font-size: 12px; font-weight: 600 }
.pager { display: flex; gap: 14px; padding-top: 10px }

.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(230px, 1fr)); gap: 12px 20px }
.facts > div { min-width: 0 }
.facts dt { color: var(--soft); font-size: 12.5px }
.facts dd { overflow-wrap: anywhere }
.facts .broad { grid-column: span 2 }
.clock-now { margin: 0; font-size: 17px; font-weight: 600 }
.clock-now .badge { font-size: 12.5px; margin-left: 8px; vertical-align: 2px }
@media (max-width: 560px) { .facts .broad { grid-column: auto } }
.plain li { padding: 4px 0 }
.plain .row { align-items: center }
.due li { padding: 5px 0; border-bottom: 1px solid var(--line) }
.due li:last-child { border-bottom: 0 }
.under { line-height: 1.35 }
.under a { color: inherit }
.narrow { display: none }

.badge { display: inline-block; padding: 1px 8px; border-radius: 10px; font-size: 12.5px; font-weight: 550; background: var(--quiet-bg); white-space: nowrap }
.badge::before { content: "●"; font-size: 8px; margin-right: 5px; vertical-align: 2px }
.badge.good { background: var(--good-bg); color: var(--good) }
.badge.wait { background: var(--wait-bg); color: var(--wait) }
.badge.wait::before { content: "◐" }
.badge.bad { background: var(--bad-bg); color: var(--bad) }
.badge.bad::before { content: "▲" }
.badge.quiet::before { content: "○" }
.chip { display: inline-block; padding: 0 7px; margin: 1px 0; border: 1px solid var(--line); border-radius: 10px; font-size: 12.5px }

.button { display: inline-block; padding: 4px 11px; border: 1px solid var(--strong-line); border-radius: 6px; background: var(--card); color: var(--ink); font: inherit; font-size: 13px; line-height: 1.45; text-decoration: none; cursor: pointer; white-space: nowrap }
.button:hover { background: var(--hover) }
.button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
.button.primary:hover { background: light-dark(#094f8c, #98cbf7) }
.button.danger { color: var(--bad); border-color: var(--bad) }
.button.danger:hover { background: var(--bad-bg) }
.row { display: flex; gap: 8px; align-items: flex-start }
.row.wrap { flex-wrap: wrap }
.actions { margin-top: 14px; align-items: center }
.actions > .confirm[open] { flex-basis: 100% }

.field { margin: 0 0 12px; padding: 0; border: 0; min-width: 0 }
.field > label, legend { display: block; padding: 0; margin: 0 0 3px; font-size: 13px; font-weight: 550 }
input:not([type="checkbox"]), select { font: inherit; color: inherit; max-width: 100%; padding: 5px 8px; background: light-dark(#fff, #11161b); border: 1px solid var(--strong-line); border-radius: 6px; min-height: 32px }
input[aria-invalid] { border-color: var(--bad) }
.field .hint, .field .problem { display: block; margin: 3px 0 0 }
.checks { display: flex; flex-wrap: wrap; gap: 4px 18px }
.check { display: flex; align-items: center; gap: 6px; padding: 2px 0; overflow-wrap: anywhere }
.problem { color: var(--bad); font-size: 13px }
.act > .problem, main > .problem { padding: 6px 10px; border-radius: 6px; background: var(--bad-bg); font-size: 14px; white-space: normal; text-align: left }
.inline { display: flex; flex-wrap: wrap; gap: 0 12px; align-items: flex-end }
.inline > .problem { flex-basis: 100% }
.inline .buttons { margin: 0 0 12px }
.inline .button { min-height: 32px }
input[type="number"] { width: 8.5em }
.card > .inline:last-child, .actions + .inline { margin: 14px 0 -12px }
.filter { display: flex; flex-wrap: wrap; gap: 0 12px; align-items: flex-end; margin-bottom: 4px }
.filter .button { margin-bottom: 12px; min-height: 32px }
.grid-fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(210px, 1fr)); gap: 0 16px }
.grid-fields select { width: 100% }
.tabs { display: flex; flex-wrap: wrap; gap: 2px; margin: 0 0 12px -10px }
.tabs a { display: block; padding: 4px 10px; border-radius: 6px; color: inherit; text-decoration: none }
.tabs a:hover { background: var(--hover) }
.tabs a[aria-current] { background: var(--quiet-bg); font-weight: 600 }

summary { cursor: pointer }
.confirm > summary { list-style: none }
.confirm > summary::-webkit-details-marker { display: none }
.confirm[open] > form { margin-top: 8px; padding: 10px 12px; border: 1px solid var(--line); border-radius: 7px; white-space: normal; text-align: left; max-width: 34rem }
.unfold { margin: 8px 0 0 }
.unfold > summary { padding: 4px 0; color: var(--accent) }
.unfold > form { padding-top: 10px }
main > .unfold { margin: 0 0 16px }
.calls { color: var(--soft); font-size: 13px; margin-top: 8px }
.calls p { margin: 6px 0 }
pre { margin: 0; padding: 10px 12px; overflow-x: auto; border: 1px solid var(--line); border-radius: 7px; background: var(--page); white-space: pre-wrap; overflow-wrap: anywhere }

.rates { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); gap: 14px 24px }
.rate-head { display: flex; justify-content: space-between; flex-wrap: wrap; gap: 0 12px; margin-bottom: 4px; font-size: 13px }
.rate { display: block; width: 100%; height: 48px }
.rate .lane { fill: var(--quiet-bg) }
.rate .grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke }
.rate .opened { stroke: var(--accent); stroke-width: 1.5; stroke-dasharray: 3 2; vector-effect: non-scaling-stroke }
.rate .good { fill: light-dark(#2f9e5b, #5bbd7c) }
.rate .wait { fill: light-dark(#cf8a00, #e6b455) }
.rate .bad { fill: light-dark(#d1372d, #ff8379) }
.rate-axis { display: flex; justify-content: space-between; color: var(--soft); font-size: 11.5px }
.button.js { display: none }
.scripted .button.js { display: inline-block }
@media (max-width: 760px) {
  .wide { display: none }
  .narrow { display: block }
  th, td { white-space: normal; padding-right: 10px }
  .under { overflow-wrap: anywhere }
  .clip code { max-width: 12ch }
  .method { min-width: 0 }
}
`;
