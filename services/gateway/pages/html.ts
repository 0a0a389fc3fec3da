import { brandHeader, renderHtmlDocument } from '../../kit/http/html-document.ts';

const styleLink = '<link rel="stylesheet" href="/.homeport/style.css">';

/** Renders a page of the gateway, small enough for TVs. `body` and `head` are HTML. Only the second-factor page has a script. */
export function renderPage(title: string, body: string, head = ''): string {
  return renderHtmlDocument(`${title} · Homeport`, styleLink + head, `${brandHeader}\n<main>\n${body}\n</main>`);
}

/** Style sheet with the colors of the app, in a form that browsers of old TVs support. */
export const styleSheet = `:root {
  --ground: #f7fbfc; --surface: #fff; --sunken: #eef3f5; --ink: #172028; --soft: #4c5760; --line: #d8dfe4; --edge: #88949d;
  --sea: #01729f; --on-sea: #fff; --lamp: #e49900; --bad: #b7262b; --bad-wash: #fff1f0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d151b; --surface: #151e26; --sunken: #080e14; --ink: #eaeff4; --soft: #a6afb7; --line: #28323a; --edge: #606a74;
    --sea: #5bb0d7; --on-sea: #0d151b; --lamp: #f2b036; --bad: #f7857d; --bad-wash: #351c1a;
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
  background: var(--ground);
  color: var(--ink);
  font: 16px/1.5 'Inter Variable', Inter, system-ui, sans-serif;
}
header { display: flex; align-items: center; gap: .5rem; font-size: 1.15rem; font-weight: 600; letter-spacing: -.02em; }
svg { fill: none; stroke: var(--sea); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.beam { stroke: var(--lamp); }
main { width: 100%; max-width: 30rem; padding: 1.75rem; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; }
main > :last-child { margin-bottom: 0; }
h1 { margin: 0 0 .25rem; font-size: 1.4rem; line-height: 1.2; letter-spacing: -.01em; }
h2 { margin: 1.5rem 0 .25rem; font-size: 1rem; }
p { margin: .5rem 0; color: var(--soft); }
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
form button, a.quiet { width: 100%; }
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
.shared { padding: 0; list-style: none; }
.shared li { margin: 0; padding: .75rem 0; border-top: 1px solid var(--line); }
.shared a { font-weight: 500; }
details { border-top: 1px solid var(--line); }
details:last-of-type { border-bottom: 1px solid var(--line); }
summary { padding: .65rem 0; font-weight: 500; cursor: pointer; }
details ol { margin: 0 0 .75rem; }
[role="alert"] { padding: .6rem .8rem; color: var(--bad); background: var(--bad-wash); border: 1px solid var(--bad); border-radius: 6px; }
`;
