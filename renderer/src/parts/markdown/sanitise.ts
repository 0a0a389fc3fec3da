import DOMPurify, { type Config } from 'dompurify';
import { Marked } from 'marked';
import { linkNumbers, type NumberHref } from './number-links.ts';
import { stripInvisible, toWebUrl } from '../text/plain-text.ts';

// Check boxes of task lists are rendered as characters, because form fields are removed.
const renderer = { checkbox: ({ checked }: { checked: boolean }): string => (checked ? '☑ ' : '☐ ') };
const markdown = new Marked({ gfm: true, breaks: true, async: false, renderer });

const allowed: Config = {
  // Elements for text only: none that load, run, request or cover anything.
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

/** Sanitized nodes, and the number of pictures that were left out. */
export interface Sanitised {
  readonly content: DocumentFragment;
  readonly picturesLeftOut: number;
}

/**
 * Converts untrusted Markdown or HTML to inert nodes: without scripts, styles, forms, frames and SVG; links open in a
 * new tab without a referrer. Pictures are only loaded over https and when `pictures` is set, because loading one
 * tells its sender. With `getNumberHref`, `#12` and `ada/harbor#12` become links of the app.
 */
export function sanitise(
  text: string,
  format: 'markdown' | 'html',
  pictures: boolean,
  getNumberHref?: NumberHref,
): Sanitised {
  const source = stripInvisible(text);
  const html = removeReported(format === 'markdown' ? markdown.parse(source, { async: false }) : source);
  const content = DOMPurify.sanitize(html, allowed) as unknown as DocumentFragment;
  let picturesLeftOut = 0;
  for (const image of content.querySelectorAll('img')) {
    const url = toWebUrl(image.getAttribute('src'));
    if (pictures && url?.startsWith('https:')) {
      image.setAttribute('referrerpolicy', 'no-referrer');
      image.setAttribute('loading', 'lazy');
      continue;
    }
    if (url?.startsWith('https:')) picturesLeftOut += 1;
    image.replaceWith(image.alt === '' ? '' : `[${image.alt}]`);
  }
  for (const link of content.querySelectorAll('a')) secureLink(link);
  for (const item of content.querySelectorAll('li')) {
    // The check box replaces the bullet of the list.
    if (/^\s*[☑☐] /.test(item.textContent)) item.className = 'task';
  }
  lowerHeadings(content);
  if (getNumberHref !== undefined) linkNumbers(content, getNumberHref);
  return { content, picturesLeftOut };
}

/**
 * Removes what the content security policy of the page would report while the sanitizer parses it: styles, handlers
 * and base URLs. Safety does not depend on it. Each pattern reads every character once for any input.
 */
function removeReported(html: string): string {
  return html
    .replace(/<style\b[^<>]*>[^<]*(?:<(?!\/style)[^<]*)*(?:<\/style>|$)/gi, '')
    .replace(/<[a-z][^<>]*>/gi, (tag) =>
      /^<base\b/i.test(tag) ? '' : tag.replace(/([\s"'/])(style|on[a-z]+)(?=\s*=)/gi, '$1data-$2'),
    );
}

function secureLink(link: HTMLAnchorElement): void {
  const url = link.getAttribute('href');
  if (toWebUrl(url) === null && !url?.startsWith('mailto:')) {
    link.replaceWith(...link.childNodes);
    return;
  }
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener noreferrer nofollow');
}

/** Moves headings of a message below those of the page: its level 1 becomes level 3. */
function lowerHeadings(content: DocumentFragment): void {
  for (const heading of content.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    const level = Math.min(6, Number(heading.tagName.slice(1)) + 2);
    const lowered = document.createElement(`h${String(level)}`);
    lowered.append(...heading.childNodes);
    heading.replaceWith(lowered);
  }
}
