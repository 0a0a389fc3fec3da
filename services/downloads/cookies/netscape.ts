import { Problem } from '../../contracts/problem.ts';

/** A file of cookies as it is kept. */
export interface CookieFile {
  /** The lines that hold cookies, below the head that yt-dlp expects. */
  readonly text: string;
  readonly count: number;
  /** Hosts they are for, sorted. */
  readonly sites: readonly string[];
}

const head = '# Netscape HTTP Cookie File';
const mostSites = 100;

/**
 * Reads a cookies.txt: a line a cookie, seven fields with tabs between them, `#HttpOnly_` before the host of some.
 * @throws Problem `downloads.bad_cookies` (400); its text holds nothing of the file.
 */
export function readCookieFile(text: string): CookieFile {
  if (/^\s*[[{]/.test(text)) throw badCookies('It is JSON; export the cookies in the Netscape format (cookies.txt).');
  const sites = new Set<string>();
  const lines: string[] = [];
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const plain = line.replace(/^#HttpOnly_/, '');
    if (plain.trim() === '' || plain.startsWith('#')) continue;
    const [host = '', subdomains = '', path = '', secure = '', expires = '', name = '', ...value] = plain.split('\t');
    const flags = /^(TRUE|FALSE)$/i.test(subdomains) && /^(TRUE|FALSE)$/i.test(secure);
    const usable =
      host !== '' && path.startsWith('/') && flags && /^-?\d*(\.\d+)?$/.test(expires) && value.length === 1;
    // A cookie may have no name; then its field is empty.
    if (!usable || /[\0\r\n]/.test(line) || name.includes(' ')) {
      throw badCookies(`Line ${index + 1} is no cookie in the Netscape format (cookies.txt).`);
    }
    sites.add(host.replace(/^\./, '').toLowerCase());
    lines.push(line);
  }
  if (lines.length === 0) throw badCookies('There is no cookie in it.');
  const sorted = [...sites].toSorted().slice(0, mostSites);
  return { text: `${head}\n${lines.join('\n')}\n`, count: lines.length, sites: sorted };
}

export function badCookies(message: string): Problem {
  return new Problem('downloads.bad_cookies', 400, message);
}
