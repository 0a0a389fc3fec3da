import { escapeHtml } from '../escape-html.ts';
import { renderBrandHeader, buildPageHeaders, renderHtmlDocument } from './html-document.ts';
import { readProductFont } from './product-font.ts';

const style = `:root {
  --ground: #f7fbfc; --surface: #fff; --ink: #172028; --soft: #4c5760; --line: #d8dfe4; --sea: #01729f; --sea-wash: #e2f2fa;
  --on-sea: #fff; --lamp: #e49900;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d151b; --surface: #151e26; --ink: #eaeff4; --soft: #a6afb7; --line: #28323a; --sea: #5bb0d7;
    --sea-wash: #152b38; --on-sea: #0d151b; --lamp: #f2b036;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column; align-items: center; justify-content: center;
  gap: 1rem; padding: 1.5rem 1rem; color: var(--ink);
  background: var(--ground) linear-gradient(var(--sea-wash), var(--ground) 22rem) no-repeat;
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
h1 { margin: 0 0 .25rem; font-size: 1.4rem; font-weight: 600; line-height: 1.2; letter-spacing: -.01em; }
p, ol { margin: .5rem 0; color: var(--soft); text-wrap: pretty; }
ol { padding-left: 1.25rem; }
li { margin: .35rem 0; }
strong { color: var(--ink); font-weight: 600; }
a.button {
  display: block; min-height: 44px; margin-top: 1.25rem; padding: .6rem 1.1rem; background: var(--sea);
  color: var(--on-sea); border-radius: 6px; font-weight: 500; text-align: center; text-decoration: none;
}
a.button:focus-visible { outline: 2px solid var(--sea); outline-offset: 2px; }
`;

interface NoticePage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Renders a small page in the product's design. It contains the font, because a service that sends it may have no
 * address for one.
 * @param body HTML of the content
 */
export async function buildNoticePage(title: string, body: string): Promise<NoticePage> {
  const font = (await readProductFont()).toString('base64');
  const fontFace = `@font-face {
  font-family: 'Inter Variable'; font-weight: 100 900; src: url('data:font/woff2;base64,${font}') format('woff2');
}
`;
  const sheet = fontFace + style;
  const main = `<main>\n<h1>${escapeHtml(title)}</h1>\n${body}\n</main>`;
  return {
    headers: buildPageHeaders(sheet, 'font-src data:'),
    body: renderHtmlDocument(`${title} · Homeport`, `<style>${sheet}</style>`, `${renderBrandHeader()}\n${main}`),
  };
}
