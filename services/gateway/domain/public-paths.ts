import { externalServiceName } from '../../contracts/gateway/external-service-name.ts';

/** Public path entry: `photos=/share/`. */
export const publicPathPattern = new RegExp(`^(${externalServiceName})=(/[^\\s?#*]*)(\\*?)$`);

/** Path forms that servers may normalize differently; they always require the sign-in. */
const ambiguousPattern = /\/\/|\\|;|%(?:2e|2f|5c|25|3b|00)|(?:^|\/)\.{1,2}(?:\/|$)/i;

/**
 * Returns true for public paths.
 * @param url Path with its query
 */
export function isPublicPath(entries: readonly string[], id: string, url: string): boolean {
  const [path = ''] = url.split('?', 1);
  if (ambiguousPattern.test(path)) return false;
  return entries.some((entry) => {
    const [, service, prefix = '', star] = publicPathPattern.exec(entry) ?? [];
    if (service !== id) return false;
    return star === '*' || prefix.endsWith('/') ? path.startsWith(prefix) : path === prefix;
  });
}
