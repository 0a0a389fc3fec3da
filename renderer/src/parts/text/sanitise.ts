import DOMPurify, { type Config } from 'dompurify';
import { Marked } from 'marked';
import { linkNumbers } from './number-links.ts';
import { plain, webAddress } from './plain-text.ts';

// Boxes of a list of tasks are signs: fields are left out.
const renderer = { checkbox: ({ checked }: { checked: boolean }): string => (checked ? '☑ ' : '☐ ') };
const markdown = new Marked({ gfm: true, breaks: true, async: false, renderer });

const allowed: Config = {
  // What text needs, and nothing that loads, runs, asks or paints over the page.
  ALLOWED_TAGS: [
    ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'blockquote', 'pre'],
    ...['code', 'kbd', 'samp', 'a', 'b', 'strong', 'i', 'em', 'u', 's', 'del', 'ins', 'mark', 'small', 'sub', 'sup'],
    ...['span', 'div', 'table', 'caption', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td', 'img'],
  ],
  ALLOWED_ATTR: ['href', 'title', 'alt', 'src', 'colspan', 'rowspan', 'start'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

/** What a message's text became: its nodes, and how many pictures were left out. */
export interface Sanitised {
  readonly content: DocumentFragment;
  readonly picturesLeftOut: number;
}

/**
 * A stranger's Markdown or HTML as nodes that do nothing: no scripts, styles, forms, frames or SVG; links open elsewhere and
 * tell nobody where from. Pictures only over https, and only when `pictures` asks for them: fetching one tells its sender.
 * With `hrefOfNumber` what `#12` names is a link, in this app.
 */
export function sanitise(
  text: string,
  format: 'markdown' | 'html',
  pictures: boolean,
  hrefOfNumber?: (number: number) => string,
): Sanitised {
  const source = plain(text);
  const html = quiet(format === 'markdown' ? markdown.parse(source, { async: false }) : source);
  const content = DOMPurify.sanitize(html, allowed) as unknown as DocumentFragment;
  let picturesLeftOut = 0;
  for (const image of content.querySelectorAll('img')) {
    const address = webAddress(image.getAttribute('src'));
    if (pictures && address?.startsWith('https:')) {
      image.setAttribute('referrerpolicy', 'no-referrer');
      image.setAttribute('loading', 'lazy');
      continue;
    }
    if (address?.startsWith('https:')) picturesLeftOut += 1;
    image.replaceWith(image.alt === '' ? '' : `[${image.alt}]`);
  }
  for (const link of content.querySelectorAll('a')) safe(link);
  for (const item of content.querySelectorAll('li')) {
    // The sign of a task stands in place of the list's own.
    if (/^\s*[☑☐] /.test(item.textContent)) item.className = 'task';
  }
  lowerHeadings(content);
  if (hrefOfNumber !== undefined) linkNumbers(content, hrefOfNumber);
  return { content, picturesLeftOut };
}

/**
 * Takes out what the page's security policy would complain about while the sanitiser parses it: styles, handlers and base addresses.
 * Nothing rests on this for safety. Each pattern looks at a character once, whatever it is given.
 */
function quiet(html: string): string {
  return html
    .replace(/<style\b[^<>]*>[^<]*(?:<(?!\/style)[^<]*)*(?:<\/style>|$)/gi, '')
    .replace(/<[a-z][^<>]*>/gi, (tag) =>
      /^<base\b/i.test(tag) ? '' : tag.replace(/([\s"'/])(style|on[a-z]+)(?=\s*=)/gi, '$1data-$2'),
    );
}

function safe(link: HTMLAnchorElement): void {
  const address = link.getAttribute('href');
  if (webAddress(address) === null && !address?.startsWith('mailto:')) {
    link.replaceWith(...link.childNodes);
    return;
  }
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener noreferrer nofollow');
}

/** A message's headings stand below the page's own: its largest one becomes the third level. */
function lowerHeadings(content: DocumentFragment): void {
  for (const heading of content.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    const level = Math.min(6, Number(heading.tagName.slice(1)) + 2);
    const lower = document.createElement(`h${String(level)}`);
    lower.append(...heading.childNodes);
    heading.replaceWith(lower);
  }
}
