import { renderBrandHeader, renderHtmlDocument } from '../../kit/http/html-document.ts';

const styleLink = '<link rel="stylesheet" href="/.homeport/style.css">';

interface PageOptions {
  /** HTML of further elements of the head. */
  readonly head?: string;
  /** Wide pages have room for two columns. */
  readonly isWide?: boolean;
}

/** Renders a page of the gateway, small enough for TVs. `body` is HTML. Only the pages for a second factor and for one-time links have scripts. */
export function renderPage(title: string, body: string, { head = '', isWide = false }: PageOptions = {}): string {
  const main = isWide ? '<main class="wide">' : '<main>';
  return renderHtmlDocument(
    `${title} · Homeport`,
    styleLink + head,
    `${renderBrandHeader()}\n${main}\n${body}\n</main>`,
  );
}

/** Style sheet with the font and the colors of the app, in a form that browsers of old TVs support. */
export const styleSheet = `@font-face {
  font-family: 'Inter Variable';
  font-weight: 100 900;
  font-display: swap;
  src: url('/.homeport/inter.woff2') format('woff2');
}
:root {
  --ground: #f7fbfc; --surface: #fff; --sunken: #eef3f5; --ink: #172028; --soft: #4c5760; --line: #d8dfe4; --edge: #88949d;
  --sea: #01729f; --sea-wash: #e2f2fa; --on-sea: #fff; --lamp: #e49900; --bad: #b7262b; --bad-wash: #fff1f0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d151b; --surface: #151e26; --sunken: #080e14; --ink: #eaeff4; --soft: #a6afb7; --line: #28323a; --edge: #606a74;
    --sea: #5bb0d7; --sea-wash: #152b38; --on-sea: #0d151b; --lamp: #f2b036; --bad: #f7857d; --bad-wash: #351c1a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0;
  min-height: 100vh;
  display: flex;
  flex-direction: column;
  align-items: center;
  justify-content: center;
  gap: 1rem;
  padding: 1.5rem 1rem;
  background: var(--ground) linear-gradient(var(--sea-wash), var(--ground) 22rem) no-repeat;
  color: var(--ink);
  font: 16px/1.5 'Inter Variable', Inter, system-ui, sans-serif;
}
header { display: flex; align-items: center; gap: .5rem; font-size: 1.15rem; font-weight: 600; letter-spacing: -.02em; }
svg { fill: none; stroke: var(--sea); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.beam { stroke: var(--lamp); }
main { width: 100%; max-width: 30rem; padding: 1.75rem; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; }
main.wide { max-width: 46rem; }
main > :last-child { margin-bottom: 0; }
h1 { margin: 0 0 .25rem; font-size: 1.4rem; font-weight: 600; line-height: 1.2; letter-spacing: -.01em; }
h2 { margin: 1.5rem 0 .25rem; font-size: 1rem; font-weight: 600; }
p { margin: .5rem 0; color: var(--soft); text-wrap: pretty; }
strong { color: var(--ink); }
label { display: block; margin: 1rem 0 .25rem; font-weight: 500; }
input {
  width: 100%;
  min-height: 44px;
  padding: .5rem .75rem;
  font: inherit;
  color: inherit;
  background: var(--sunken);
  border: 1px solid var(--edge);
  border-radius: 6px;
}
button, a.button {
  display: inline-block;
  min-height: 44px;
  margin-top: 1.25rem;
  padding: .6rem 1.1rem;
  font: inherit;
  font-weight: 500;
  text-align: center;
  text-decoration: none;
  color: var(--on-sea);
  background: var(--sea);
  border: 1px solid var(--sea);
  border-radius: 6px;
  cursor: pointer;
}
form button, a.quiet, a.wide { width: 100%; }
[hidden] { display: none; }
button.quiet, a.quiet { margin-top: 0; color: var(--ink); background: none; border-color: var(--edge); }
.or { margin: 1rem 0 .75rem; text-align: center; }
a:not(.button) { color: var(--sea); }
:focus-visible { outline: 2px solid var(--sea); outline-offset: 2px; }
code { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; color: var(--ink); }
.print {
  display: block;
  width: 24ch;
  padding: .6rem .75rem;
  box-sizing: content-box;
  word-break: break-all;
  background: var(--sunken);
  border-radius: 6px;
}
ul, ol { margin: .5rem 0; padding-left: 1.25rem; color: var(--soft); }
li { margin: .35rem 0; }
.shared { display: grid; gap: .75rem; margin: 1.25rem 0; padding: 0; list-style: none; }
@media (min-width: 42rem) { .wide .shared { grid-template-columns: 1fr 1fr; } }
@media (max-width: 30rem) { main { padding: 1.25rem; } }
.shared li { display: flex; margin: 0; }
.shared a {
  display: flex;
  align-items: flex-start;
  gap: .9rem;
  width: 100%;
  min-height: 5rem;
  padding: .75rem .9rem;
  color: var(--ink);
  text-decoration: none;
  border: 1px solid var(--line);
  border-radius: 10px;
}
.shared a:hover { border-color: var(--sea); background: var(--sea-wash); }
.face {
  display: flex;
  flex: none;
  align-items: center;
  justify-content: center;
  width: 2.75rem;
  height: 2.75rem;
  border-radius: 10px;
  background: var(--sea-wash);
}
.shared a:hover .face { background: var(--surface); }
.shared strong { display: block; font-weight: 600; }
.shared small { display: block; color: var(--soft); font-size: .875rem; line-height: 1.4; }
.addresses { margin: 0; }
.addresses dt { margin-top: .5rem; color: var(--soft); font-size: .875rem; }
.addresses dd { margin: 0 0 .5rem; }
.session { font-size: .875rem; }
.rule { margin: .25rem 0 0; font-size: .875rem; }
.help { margin-top: 1.25rem; font-size: .875rem; }
details { border-top: 1px solid var(--line); }
details:last-of-type { border-bottom: 1px solid var(--line); }
summary { display: flex; align-items: center; padding: .65rem 0; font-weight: 500; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::before {
  width: .45em;
  height: .45em;
  margin: 0 .75em 0 .2em;
  border: solid currentColor;
  border-width: 0 1.5px 1.5px 0;
  transform: rotate(-45deg);
  content: '';
}
details[open] > summary::before { transform: rotate(45deg); }
details ol { margin: 0 0 .75rem; }
[role="alert"] { padding: .6rem .8rem; color: var(--bad); background: var(--bad-wash); border: 1px solid var(--bad); border-radius: 6px; }
`;
