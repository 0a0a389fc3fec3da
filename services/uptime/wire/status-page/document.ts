import { getLanguage } from '../../../../messages/language.ts';
import { escapeHtml } from '../../../kit/escape-html.ts';
import { statusScriptSource } from './status-script.ts';
import { sheet } from './style-sheet.ts';

/** Returns the Content-Security-Policy of a page: no external resources; forms and the script only where needed. */
export function buildContentSecurityPolicy({ form, script }: { form: boolean; script: boolean }): string {
  return [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    ...(script ? [`script-src ${statusScriptSource}`, "connect-src 'self'"] : []),
    `form-action ${form ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}

/** Renders the page color, which browsers use for their toolbars. */
function renderThemeColor(theme: string): string {
  const colors = { light: '#f7fbfc', dark: '#0d151b' };
  if (theme === 'light' || theme === 'dark') return `<meta name="theme-color" content="${colors[theme]}">`;
  return Object.entries(colors)
    .map(([scheme, color]) => `<meta name="theme-color" media="(prefers-color-scheme: ${scheme})" content="${color}">`)
    .join('');
}

const viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">';

/** Renders a whole page around its content. All parts except the title are HTML. */
export function renderDocument(
  title: string,
  head: string,
  style: string,
  body: string,
  { theme = 'auto', refreshSeconds = 0 }: { readonly theme?: string; readonly refreshSeconds?: number } = {},
): string {
  const refresh = refreshSeconds === 0 ? '' : ` data-refresh="${String(refreshSeconds)}"`;
  const titleTag = `${renderThemeColor(theme)}<title>${escapeHtml(title)}</title>`;
  const styleTag = `<style>${sheet}${style}</style>`;
  return `<!DOCTYPE html>
<html lang="${getLanguage()}" data-theme="${theme}"${refresh}><head><meta charset="utf-8">${viewport}${titleTag}${head}${styleTag}</head>
<body>${body}</body></html>`;
}
