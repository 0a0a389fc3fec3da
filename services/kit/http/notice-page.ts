import { createHash } from 'node:crypto';
import { escapeHtml } from '../escape-html.ts';

const style = `:root {
  --ground: #f7fbfc; --surface: #fff; --ink: #172028; --soft: #4c5760; --line: #d8dfe4; --sea: #01729f; --lamp: #e49900;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d151b; --surface: #151e26; --ink: #eaeff4; --soft: #a6afb7; --line: #28323a; --sea: #5bb0d7;
    --lamp: #f2b036;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column; align-items: center; justify-content: center;
  gap: 1rem; padding: 1.5rem 1rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 'Inter Variable', Inter, system-ui, sans-serif;
}
header { display: flex; align-items: center; gap: .5rem; font-size: 1.15rem; font-weight: 600; letter-spacing: -.02em; }
svg { fill: none; stroke: var(--sea); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.beam { stroke: var(--lamp); }
main {
  width: 100%; max-width: 30rem; padding: 1.75rem; background: var(--surface); border: 1px solid var(--line);
  border-radius: 10px;
}
main > :last-child { margin-bottom: 0; }
h1 { margin: 0 0 .25rem; font-size: 1.4rem; line-height: 1.2; letter-spacing: -.01em; }
p, ol { margin: .5rem 0; color: var(--soft); }
ol { padding-left: 1.25rem; }
li { margin: .35rem 0; }
strong { color: var(--ink); font-weight: 600; }
`;

const logo = [
  '<svg viewBox="0 0 24 24" width="28" height="28" aria-hidden="true">',
  '<path d="M6 10.2h8M8 10.2 6 21.5h8l-2-11.3"/><circle cx="10" cy="5.6" r="2.6"/>',
  '<path class="beam" d="M16.2 5 21.8 3.4"/></svg>',
].join('');

const styleHash = createHash('sha256').update(style).digest('base64');

/** Headers of {@link noticePage}, which loads nothing but its own style sheet. */
export const noticePageHeaders: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'; base-uri 'none'`,
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** Renders a small self-contained page in the product's design. `body` is HTML. */
export function noticePage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#f7fbfc">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0d151b">
<title>${escapeHtml(title)} · Homeport</title>
<style>${style}</style>
</head>
<body>
<header>${logo}Homeport</header>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`;
}
