import { escapeHtml } from '../../kit/escape-html.ts';

/** Text that is HTML already; everything else is escaped by {@link html}. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Html | readonly Html[] | undefined;

/** A piece of HTML with its values escaped. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.reduce((text, part, index) => text + part + toText(values[index]), ''));
}

function toText(value: Value): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  return value.map(({ text }) => text).join('');
}

/** These pages run no scripts, send no forms and are shown in no frame. */
export const visitorPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' https: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const light =
  '--page:#f6f7f9;--card:#fff;--ink:#1b1f24;--soft:#59636e;--edge:#d8dde3;--link:#0b5cad;--mark:#fff3c4;--add:#dafbe1;--del:#ffebe9';
const dark =
  '--page:#14171b;--card:#1c2026;--ink:#e6e9ed;--soft:#9aa4af;--edge:#343b44;--link:#7ab8f5;--mark:#4a3f16;--add:#12361f;--del:#4b1c1c';
const sheet = [
  `:root{color-scheme:light dark;${light}}`,
  `@media (prefers-color-scheme:dark){:root{${dark}}}`,
  '*{box-sizing:border-box}',
  "body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 'Inter Variable',Inter,system-ui,sans-serif}",
  'main{max-width:64rem;margin:0 auto;padding:1.5rem 1rem 3rem;display:grid;gap:1rem;grid-template-columns:minmax(0,1fr)}',
  'h1,h2,h3{line-height:1.25;margin:0;overflow-wrap:anywhere}h1{font-size:1.5rem}h2{font-size:1.1rem}',
  'a{color:var(--link);text-underline-offset:2px}a:focus-visible{outline:2px solid var(--link);outline-offset:2px}',
  'p{margin:0}.soft{color:var(--soft);font-size:.875rem}',
  'nav{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}nav a{padding:.5rem 0}nav a[aria-current]{font-weight:600;color:var(--ink)}',
  '.card{background:var(--card);border:1px solid var(--edge);border-radius:.75rem;overflow:hidden}',
  '.card>header,.text{padding:.75rem 1rem}.card>header{border-bottom:1px solid var(--edge)}.text{overflow-wrap:anywhere}',
  '.text img{max-width:100%}.text pre{overflow-x:auto;background:var(--page);padding:.75rem;border-radius:.5rem}',
  'ul.rows{list-style:none;margin:0;padding:0}ul.rows li{padding:.5rem 1rem;display:flex;flex-wrap:wrap;gap:.125rem 1rem;justify-content:space-between}',
  'ul.rows li+li{border-top:1px solid var(--edge)}ul.rows a{overflow-wrap:anywhere}',
  'table{border-collapse:collapse;width:100%;font:13px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}',
  '.code{overflow-x:auto}.code td{padding:0 .75rem;white-space:pre;vertical-align:top}.code td:first-child{width:1%;text-align:right;user-select:none}',
  '.code td:first-child a{color:var(--soft);text-decoration:none}.code tr:target{background:var(--mark)}.code .add{background:var(--add)}.code .del{background:var(--del)}',
  'code{font:13px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}',
].join('');

/** A whole document. */
export function visitorDocument(title: string, body: Html): string {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escapeHtml(title)}</title>`;
  return `<!doctype html>\n<html lang="en"><head>${head}<style>${sheet}</style></head><body><main>${body.text}</main></body></html>\n`;
}
