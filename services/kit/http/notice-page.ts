import { escapeHtml } from '../escape-html.ts';
import { brandHeader, buildPageHeaders, renderHtmlDocument } from './html-document.ts';

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

/** Headers of {@link noticePage}. */
export const noticePageHeaders = buildPageHeaders(style);

/** Renders a small self-contained page in the product's design. `body` is HTML. */
export function noticePage(title: string, body: string): string {
  const main = `<main>\n<h1>${escapeHtml(title)}</h1>\n${body}\n</main>`;
  return renderHtmlDocument(`${title} · Homeport`, `<style>${style}</style>`, `${brandHeader}\n${main}`);
}
