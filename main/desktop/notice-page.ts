import { getLanguage } from '../../messages/language.ts';
import { escapeMarkup } from '../host/desktop/markup.ts';

/** Content of the window while the app's own pages are unavailable. */
export interface NoticeContent {
  readonly title: string;
  readonly text: string;
}

/** Distinguishes it from a page of the app. */
export const noticeStart = 'data:text/html;charset=utf-8,';

const style = `
:root { color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; font: 16px/1.5 system-ui, sans-serif;
  background: light-dark(#f7fafc, #0d141b); color: light-dark(#17212b, #e6edf3); }
main { max-width: 26rem; padding: 2rem; text-align: center; }
h1 { font-size: 1.25rem; margin: 0 0 .5rem; text-wrap: balance; }
p { margin: 0; color: light-dark(#4a5a68, #a9b8c4); overflow-wrap: anywhere; }`;

/** Renders a page without scripts as a `data:` URL. */
export function noticePage({ title, text }: NoticeContent): string {
  const [heading, body] = [escapeMarkup(title), escapeMarkup(text)];
  const html = `<!doctype html><html lang="${getLanguage()}"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${heading}</title><style>${style}</style><main role="status"><h1>${heading}</h1><p>${body}</p></main></html>`;
  return noticeStart + encodeURIComponent(html);
}
