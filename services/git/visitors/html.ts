import { escapeHtml } from '../../kit/escape-html.ts';
import { renderBrandHeader, renderHtmlDocument } from '../../kit/http/html-document.ts';

/** HTML text. All other values are escaped by {@link html}. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Html | readonly Html[] | undefined;

/** Builds HTML with escaped values. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.reduce((text, part, index) => text + part + toText(values[index]), ''));
}

function toText(value: Value): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  return value.map(({ text }) => text).join('');
}

/** Address of the font of the product, among those that Gitea reserves. */
export const fontPath = '/assets/fonts/inter-latin-wght-normal.woff2';

/** Allows only the script of the pages, and neither forms nor frames. */
export const visitorPolicy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src 'self' https: data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Colors of the app's pages. */
const colors = [
  '--page:light-dark(oklch(98.5% 0.004 230),oklch(19% 0.018 245))',
  '--card:light-dark(#fff,oklch(23% 0.02 245))',
  '--sunken:light-dark(oklch(96% 0.006 230),oklch(16% 0.016 245))',
  '--ink:light-dark(oklch(24% 0.02 245),oklch(95% 0.008 245))',
  '--soft:light-dark(oklch(45% 0.02 245),oklch(75% 0.015 245))',
  '--edge:light-dark(oklch(90% 0.01 235),oklch(31% 0.02 245))',
  '--link:light-dark(oklch(52% 0.11 235),oklch(72% 0.1 230))',
  '--mark:light-dark(oklch(97% 0.025 80),oklch(27% 0.03 75))',
  '--lamp:light-dark(oklch(74% 0.16 75),oklch(80% 0.15 78))',
  '--add:light-dark(oklch(96% 0.04 155),oklch(29% 0.05 155))',
  '--del:light-dark(oklch(96% 0.02 25),oklch(29% 0.06 25))',
  "--mono:'JetBrains Mono Variable',ui-monospace,SFMono-Regular,Menlo,Consolas,monospace",
].join(';');
const sheet = [
  "@font-face{font-family:'Inter Variable';font-weight:100 900;font-display:swap;",
  `src:url('${fontPath}') format('woff2')}`,
  `:root{color-scheme:light dark;${colors}}`,
  '*{box-sizing:border-box}',
  'body{margin:0;background:var(--page);color:var(--ink);',
  "font:14px/1.45 'Inter Variable',Inter,system-ui,sans-serif;-webkit-text-size-adjust:100%}",
  'main{max-width:64rem;margin:0 auto;padding:1.5rem 1rem 3rem;',
  'display:grid;gap:1rem;grid-template-columns:minmax(0,1fr)}',
  'body>header{display:flex;gap:.5rem;align-items:center;max-width:64rem;margin:0 auto;padding:1.25rem 1rem 0;',
  'font-size:1rem;font-weight:600;letter-spacing:-.02em}',
  'body>header svg{fill:none;stroke:var(--link);stroke-width:2;stroke-linecap:round;stroke-linejoin:round}',
  'body>header svg{margin-left:-6px}body>header .beam{stroke:var(--lamp)}body>header a{margin-left:auto;font-size:.875rem;font-weight:500;letter-spacing:0}',
  'h1,h2,h3{line-height:1.2;margin:0;font-weight:600;overflow-wrap:anywhere}',
  'h1{font-size:1.25rem}h2{font-size:1rem}h3{font-size:.875rem}',
  'a{color:var(--link);text-underline-offset:3px;text-decoration-color:color-mix(in oklch,currentcolor,transparent 60%)}',
  'a:hover{text-decoration-color:currentcolor}a:focus-visible{outline:2px solid var(--link);outline-offset:2px}',
  ':is(h1,h2,nav,ul.rows) a{text-decoration:none}:is(h1,h2) a{color:inherit}',
  ':is(h1,h2,ul.rows) a:hover{text-decoration:underline}',
  'main>header{display:grid;gap:.625rem}main>header>.soft:empty{display:none}',
  'p{margin:0}.soft{color:var(--soft);font-size:.8125rem}',
  'nav{display:flex;overflow-x:auto;gap:0 1.25rem;border-bottom:1px solid var(--edge);scrollbar-width:none}',
  '@media (max-width:40rem){nav{',
  '-webkit-mask:linear-gradient(to right,#000 calc(100% - 2rem),transparent);',
  'mask:linear-gradient(to right,#000 calc(100% - 2rem),transparent)}nav::after{content:"";flex:0 0 1rem}}',
  'nav a{flex:none;padding:.625rem 0;border-bottom:2px solid transparent;color:var(--soft);font-weight:500}',
  'nav a:hover{color:var(--ink)}',
  'nav a[aria-current]{border-color:var(--link);color:var(--ink)}',
  '.card{background:var(--card);border:1px solid var(--edge);border-radius:10px;overflow:hidden}',
  '.card>header,.text{padding:.75rem 1rem}',
  '.card>header{border-bottom:1px solid var(--edge);background:var(--sunken);font-size:.8125rem}',
  '.text{overflow-wrap:anywhere}.text>:first-child{margin-top:0}.text>:last-child{margin-bottom:0}',
  '.text>*{margin-block:.75rem}.text h1{font-size:1.125rem}',
  '.clone{display:flex;align-items:center;gap:.25rem;max-width:100%;justify-self:start;padding-left:.75rem;',
  'background:var(--card);border:1px solid var(--edge);border-radius:6px;min-height:2.25rem}',
  '.clone code{padding:.375rem .75rem .375rem 0;user-select:all}',
  '.clone button{flex:none;align-self:stretch;padding:0 .75rem;border:0;border-left:1px solid var(--edge);',
  'background:none;color:var(--ink);font:500 13px/1 inherit;font-family:inherit;cursor:pointer}',
  '.clone button:hover{background:var(--sunken)}.clone button:focus-visible{outline:2px solid var(--link)}',
  '[hidden]{display:none!important}',
  'ul.rows .entry,.branch{display:flex;align-items:center;gap:.625rem;min-width:0}',
  ':is(.entry,.branch) svg{flex:none;width:16px;height:16px;fill:none;stroke:var(--soft);stroke-width:1.75;',
  'stroke-linecap:round;stroke-linejoin:round}.branch{display:inline-flex;gap:.375rem;vertical-align:middle}.card>header h2{font-size:.875rem}',
  '.branch a{color:var(--ink);font-weight:500;text-decoration:none}.branch a:hover{text-decoration:underline}',
  '.text img{max-width:100%}.text pre{overflow-x:auto;background:var(--sunken);padding:.75rem;border-radius:6px}',
  'ul.rows{list-style:none;margin:0;padding:0}',
  'ul.rows li{padding:.5rem 1rem;min-height:2.25rem;display:flex;flex-wrap:wrap;',
  'gap:.125rem 1rem;align-items:center;justify-content:space-between}',
  'ul.rows li:hover{background:var(--sunken)}ul.rows li+li{border-top:1px solid var(--edge)}',
  'ul.rows a{overflow-wrap:anywhere;font-weight:500}',
  'table{border-collapse:collapse;width:100%;font:13px/1.55 var(--mono)}',
  '.code{overflow-x:auto}.code td{padding:0 .75rem;white-space:pre;vertical-align:top}',
  '.code td:first-child{width:1%;text-align:right;user-select:none}',
  '.code td:first-child a{color:var(--soft);text-decoration:none}',
  '.code .add{background:var(--add)}.code .del{background:var(--del)}',
  '.code tr:is(:target,.marked){background:var(--mark);box-shadow:inset 3px 0 var(--lamp)}',
  '.code tr:target{scroll-margin-top:30vh}',
  'code{font:13px/1.55 var(--mono);overflow-wrap:anywhere}',
  'pre{margin:0;white-space:pre-wrap;font:13px/1.55 var(--mono)}.text pre{white-space:pre}pre:empty{display:none}',
  '@media (pointer:coarse){ul.rows li{min-height:2.75rem}nav a{padding:.75rem 0}}',
].join('');

/**
 * Builds a complete document.
 * @param end Content at the end of the header, such as the link to sign in
 */
export function visitorDocument(title: string, body: Html, end: Html | undefined): string {
  return renderHtmlDocument(
    title,
    `<style>${sheet}</style>`,
    `${renderBrandHeader(end?.text)}<main>${body.text}</main>`,
  );
}
