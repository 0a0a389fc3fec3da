import type { Text } from '../../contracts/text.ts';
import * as m from '#messages/downloads-problems';
import { Problem } from '../../contracts/problem.ts';

/** Parsed cookie file. */
export interface CookieFile {
  /** The lines with cookies, after the header that yt-dlp expects. */
  readonly text: string;
  readonly count: number;
  /** Hosts of the cookies, sorted. */
  readonly sites: readonly string[];
}

const header = '# Netscape HTTP Cookie File';
const maxSites = 100;

/**
 * Reads a cookies.txt: each line is a cookie with seven fields separated by tabs, some with `#HttpOnly_` before the
 * host.
 * @throws Problem `downloads.bad_cookies` (400); its text contains nothing of the file.
 */
export function readCookieFile(text: string): CookieFile {
  if (/^\s*[[{]/.test(text)) throw createCookieProblem(m.cookiesAreJson);
  const sites = new Set<string>();
  const lines: string[] = [];
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const content = line.replace(/^#HttpOnly_/, '');
    if (content.trim() === '' || content.startsWith('#')) continue;
    const [host = '', subdomains = '', path = '', secure = '', expires = '', name = '', ...value] = content.split('\t');
    const hasFlags = /^(TRUE|FALSE)$/i.test(subdomains) && /^(TRUE|FALSE)$/i.test(secure);
    const isUsable =
      host !== '' && path.startsWith('/') && hasFlags && /^-?\d*(\.\d+)?$/.test(expires) && value.length === 1;
    // A cookie without a name has an empty field.
    if (!isUsable || /[\0\r\n]/.test(line) || name.includes(' ')) {
      throw createCookieProblem(() => m.cookieLineInvalid({ line: index + 1 }));
    }
    sites.add(host.replace(/^\./, '').toLowerCase());
    lines.push(line);
  }
  if (lines.length === 0) throw createCookieProblem(m.noCookies);
  const sorted = [...sites].toSorted().slice(0, maxSites);
  return { text: `${header}\n${lines.join('\n')}\n`, count: lines.length, sites: sorted };
}

export function createCookieProblem(message: Text): Problem {
  return new Problem('downloads.bad_cookies', 400, message);
}
