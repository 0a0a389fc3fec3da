import { isIP } from 'node:net';
import { compileLinearExpression } from '../../../kit/linear-expression.ts';

const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

/**
 * Checks the target of a link: the site itself (on loopback with any port), or a match of an entry in the list, in
 * which `*` matches text without dots and slashes and `**` any text. Numeric hosts are refused, because they hide their
 * target.
 */
export function isAllowedRedirect(target: string, site: string, allowed: readonly string[]): boolean {
  const to = URL.parse(target);
  const home = URL.parse(site);
  if (to === null || /[\s<>"\\]/.test(target) || to.username !== '' || to.password !== '') return false;
  if (/^(?:javascript|data|vbscript|file|blob):$/.test(to.protocol)) return false;
  // `localhost` and loopback addresses are the same computer: development servers print either.
  const isHere = home !== null && loopback.test(home.hostname) && loopback.test(to.hostname);
  const sameSite = home !== null && home.protocol === to.protocol && (home.hostname === to.hostname || isHere);
  if (sameSite && (home.port === to.port || isHere)) return true;
  const hostText = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(target)?.[1]?.replace(/:\d*$/, '') ?? '';
  if (/^\d+$/.test(hostText)) return false;
  if (isIP(to.hostname.replace(/^\[|\]$/g, '')) !== 0 && !loopback.test(to.hostname)) {
    return allowed.some((entry) => !/[*?]/.test(getHost(entry)) && matchesEntry(entry, target));
  }
  return allowed.some((entry) => matchesEntry(entry, target));
}

function getHost(entry: string): string {
  return /^[^:]*:\/\/([^/?#]*)/.exec(entry)?.[1] ?? '*';
}

function matchesEntry(entry: string, target: string): boolean {
  const pattern = entry
    .split(/(\*\*|\*|\?)/)
    .map((segment) => {
      if (segment === '**') return '.*';
      if (segment === '*') return '[^./]*';
      return segment === '?' ? '[^./]' : RegExp.escape(segment);
    })
    .join('');
  // Any client chooses the target, and several wildcards would take too long with backtracking.
  return compileLinearExpression(`^${pattern}$`).test(target.split('#', 1)[0] ?? '');
}

/** Encodes a redirect for a query string but keeps it readable, like Supabase Auth. */
export function encodeRedirect(target: string): string {
  return encodeURIComponent(target).replaceAll('%3A', ':').replaceAll('%2F', '/');
}
