/** The look of the dashboard: colours, frame, navigation. What stands on the pages is in `style-parts.ts`. */
import { PARTS } from "./style-parts.ts";

const FRAME = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f4f5f7, #101418);
  --card: light-dark(#ffffff, #181d23);
  --ink: light-dark(#17202b, #e4e8ee);
  --soft: light-dark(#5b6675, #9aa6b5);
  --line: light-dark(#e0e4ea, #2a323c);
  --strong-line: light-dark(#8a95a5, #647182);
  --hover: light-dark(#eef1f5, #212831);
  --accent: light-dark(#0b5fa8, #78b9f2);
  --on-accent: light-dark(#ffffff, #0b1a28);
  --good: light-dark(#19703a, #6fcf8e);
  --good-bg: light-dark(#e5f4ea, #16301f);
  --wait: light-dark(#8a5a00, #e6b455);
  --wait-bg: light-dark(#fcf2dc, #34290f);
  --bad: light-dark(#b3261e, #ff9188);
  --bad-bg: light-dark(#fdeae8, #3b1a18);
  --quiet-bg: light-dark(#eceff3, #262e37);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif;
}
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink) }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 2px }
code, pre { font: 12.5px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace }
h1 { font-size: 20px; line-height: 1.3; margin: 0 0 16px; letter-spacing: -0.01em; overflow-wrap: anywhere }
h2 { font-size: 14px; margin: 0 }
p { margin: 0 0 8px }
ul, ol, dl, dd { margin: 0; padding: 0; list-style: none }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px }
main:focus-visible, main:focus { outline: none }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.skip { position: absolute; left: 8px; top: -60px; z-index: 2; padding: 8px 14px; background: var(--card); border: 1px solid var(--strong-line); border-radius: 6px }
.skip:focus { top: 8px }
.nums { font-variant-numeric: tabular-nums; white-space: nowrap }
.hint, .none { color: var(--soft) }
.hint { font-size: 13px }
td .hint { white-space: normal; overflow-wrap: anywhere }

.top { display: flex; align-items: center; gap: 20px; padding: 0 20px; min-height: 52px; background: var(--card); border-bottom: 1px solid var(--line) }
.brand { display: flex; align-items: center; gap: 9px; font-weight: 650; color: inherit; text-decoration: none; font-size: 15px }
.mark { width: 22px; height: 22px; fill: var(--accent) }
.mark rect:nth-child(2) { opacity: 0.7 }
.mark rect:nth-child(3) { opacity: 0.45 }
.tag { font-size: 11px; font-weight: 600; padding: 1px 7px; border-radius: 9px; background: var(--wait-bg); color: var(--wait) }
.accounts { display: flex; margin-left: auto; border: 1px solid var(--strong-line); border-radius: 7px; overflow: clip }
.accounts button { border: 0; padding: 5px 12px; background: none; color: var(--soft); font: inherit; cursor: pointer }
.accounts button + button { border-left: 1px solid var(--strong-line) }
.accounts button:hover { background: var(--hover) }
.accounts button:focus-visible { outline-offset: -3px }
.accounts button[aria-pressed="true"] { background: var(--quiet-bg); color: var(--ink); font-weight: 600 }
.pill { color: inherit; text-decoration: none; padding: 4px 10px; border-radius: 7px; white-space: nowrap }
.pill:hover { background: var(--hover) }
.offline { margin: 0; padding: 8px 20px; background: var(--bad-bg); color: var(--bad) }

.columns { display: grid; grid-template-columns: 176px minmax(0, 1fr); max-width: 1320px }
.side { padding: 18px 10px 24px 12px }
.group { font-size: 12px; font-weight: 600; color: var(--soft); padding: 0 10px; margin: 0 0 4px }
.side ul + .group { margin-top: 18px }
.side a { display: block; padding: 5px 10px; border-radius: 6px; color: inherit; text-decoration: none }
.side a:hover { background: var(--hover) }
.side a[aria-current] { background: light-dark(#e1ecf7, #1c3148); font-weight: 600 }
main { padding: 20px 20px 48px 12px; min-width: 0 }
main.alone { max-width: 40rem; margin: 10vh auto }

@media (max-width: 760px) {
  .top { flex-wrap: wrap; gap: 6px 12px; padding: 8px 14px }
  .pill { margin-left: auto; padding: 4px 0; font-size: 12px }
  .accounts { order: 3; margin-left: 0; width: 100% }
  .accounts button { flex: 1 }
  .columns { display: block }
  .side { display: flex; overflow-x: auto; padding: 6px 10px; border-bottom: 1px solid var(--line); background: var(--card); scrollbar-width: none }
  .group { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .side ul { display: flex }
  .side ul + .group + ul { border-left: 1px solid var(--line); margin-left: 6px; padding-left: 6px }
  .side a { white-space: nowrap; padding: 7px 9px }
  main { padding: 16px 14px 40px }
}
@media (prefers-reduced-motion: no-preference) {
  .button, .side a, .pill, .tiles a { transition: background-color 0.12s, border-color 0.12s }
}
@media (forced-colors: active) {
  .badge, .tag, .button { border: 1px solid }
  .accounts button[aria-pressed="true"], .side a[aria-current] { outline: 2px solid; outline-offset: -2px }
}
`;

export const STYLE = `${FRAME}${PARTS}`;
