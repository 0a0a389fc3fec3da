import { createHash } from 'node:crypto';
import { getLanguage } from '../../../messages/language.ts';
import { escapeHtml } from '../escape-html.ts';

const brand = [
  '<header><svg viewBox="0 0 24 24" width="28" height="28" aria-hidden="true">',
  '<path d="M6 10.2h8M8 10.2 6 21.5h8l-2-11.3"/><circle cx="10" cy="5.6" r="2.6"/>',
  '<path class="beam" d="M16.2 5 21.8 3.4"/></svg>Homeport',
].join('');

/**
 * Renders the logo of assets/mark.svg with the name of the product.
 * @param end HTML at the end of the header, such as a link to sign in
 */
export function renderBrandHeader(end = ''): string {
  return `${brand}${end}</header>`;
}

/**
 * Renders a page with the colors of the product around it. Its language is the current one.
 * @param head HTML of further elements of the head, such as the style sheet
 * @param body HTML of the content
 */
export function renderHtmlDocument(title: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="${escapeHtml(getLanguage())}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#f7fbfc">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0d151b">
<title>${escapeHtml(title)}</title>
${head}
</head>
<body>
${body}
</body>
</html>
`;
}

/**
 * Builds the header fields of a page that loads nothing but a style sheet in its head.
 * @param fontSource Directive of the policy for the fonts of the style sheet
 */
export function buildPageHeaders(style: string, fontSource?: string): Readonly<Record<string, string>> {
  const styleHash = createHash('sha256').update(style).digest('base64');
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': [
      "default-src 'none'",
      `style-src 'sha256-${styleHash}'`,
      ...(fontSource === undefined ? [] : [fontSource]),
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
  };
}
