import { escapeHtml } from '../../kit/escape-html.ts';

/** A whole page of the gateway: without scripts, and small enough for a TV. `body` is HTML. */
export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Homeport</title>
<link rel="stylesheet" href="/.homeport/style.css">
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

/** The one sheet of these pages. */
export const style = `:root {
  --ground: #f6f7f9; --card: #fff; --ink: #16202b; --soft: #55616e; --line: #d5dbe2; --sea: #0b63c5; --on-sea: #fff; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root { --ground: #10161d; --card: #18212b; --ink: #e8edf2; --soft: #a3b0bd; --line: #2f3b48; --sea: #7ab4ff; --on-sea: #0a1420; --bad: #ff9d94; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 30rem; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 14px; }
h1 { margin: 0 0 .25rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 1.75rem 0 .5rem; font-size: 1.05rem; }
p { margin: .5rem 0; color: var(--soft); }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
input { width: 100%; padding: .65rem .75rem; font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 8px; }
button, a.button { display: inline-block; margin-top: 1.25rem; padding: .65rem 1.1rem; font: inherit; font-weight: 600; text-decoration: none; color: var(--on-sea); background: var(--sea); border: 0; border-radius: 8px; cursor: pointer; }
a.quiet { margin-top: 0; color: var(--ink); background: none; border: 1px solid var(--line); }
.or { margin: 1rem 0 .75rem; }
a:not(.button) { color: var(--sea); }
:focus-visible { outline: 3px solid var(--sea); outline-offset: 2px; }
code { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; color: var(--ink); }
ul, ol { margin: .5rem 0; padding-left: 1.25rem; color: var(--soft); }
li { margin: .35rem 0; }
[role="alert"] { padding: .6rem .8rem; color: var(--bad); border: 1px solid var(--bad); border-radius: 8px; }
`;
