/** Style sheet of the API page, with the colors of the product (docs/design.md). */
export const style = `:root {
  --ground: #f7fbfc; --surface: #fff; --sunken: #eef4f6; --ink: #172028; --soft: #4c5760; --line: #d8dfe4;
  --sea: #01729f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d151b; --surface: #151e26; --sunken: #0a1116; --ink: #eaeff4; --soft: #a6afb7; --line: #28323a;
    --sea: #5bb0d7;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0 auto; max-width: 70rem; padding: 1.5rem 1rem 4rem; background: var(--ground); color: var(--ink);
  font: 14px/1.45 'Inter Variable', Inter, system-ui, sans-serif;
}
a { color: var(--sea); }
:focus-visible { outline: 2px solid var(--sea); outline-offset: 2px; border-radius: 4px; }
code, pre { font: 13px/1.45 'JetBrains Mono Variable', 'JetBrains Mono', ui-monospace, monospace; }
h1 { margin: 0 0 .25rem; font-size: 28px; line-height: 1.2; letter-spacing: -.02em; }
h2 { margin: 2rem 0 .5rem; font-size: 20px; line-height: 1.2; }
h3 { margin: .75rem 0 .25rem; font-size: 13px; color: var(--soft); font-weight: 600; }
p { margin: .25rem 0; color: var(--soft); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 1rem 0 0; padding: 0; list-style: none; }
nav a { display: block; padding: .25rem 0; }
details { border: 1px solid var(--line); border-radius: 10px; background: var(--surface); margin: .5rem 0; }
summary {
  display: grid; grid-template-columns: 4rem 1fr; gap: 0 .75rem; padding: .6rem .75rem; cursor: pointer;
  list-style: none; border-radius: 10px;
}
summary::-webkit-details-marker { display: none; }
summary code { overflow-wrap: anywhere; }
summary .method { font-weight: 600; color: var(--soft); }
summary .text { grid-column: 2; color: var(--soft); }
.content { padding: 0 .75rem .75rem; border-top: 1px solid var(--line); }
pre {
  margin: 0; padding: .6rem .75rem; overflow-x: auto; background: var(--sunken); border-radius: 6px;
}
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; }
dd { margin: 0; color: var(--soft); }
@media (max-width: 40rem) {
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
  summary { grid-template-columns: 1fr; }
  summary .text { grid-column: 1; }
  nav a { padding: .7rem 0; }
}
`;
