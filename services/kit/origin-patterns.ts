/** Maximum length of an origin; longer ones never match. */
const maxOriginLength = 512;

/**
 * Compiles `https://app.example.org`, `http://localhost:*` or `chrome-extension://*`; a star matches anything but `/`.
 * The opaque origin `null` never matches. With `allowsAny`, all other origins match.
 */
export function compileOriginPatterns(
  patterns: readonly string[],
  { allowsAny = false }: { readonly allowsAny?: boolean } = {},
): (origin: string) => boolean {
  if (patterns.length === 0) return () => false;
  const alternatives = patterns.map((pattern) => pattern.split('*').map(RegExp.escape).join('[^/]{0,253}'));
  const expression = new RegExp(`^(?:${alternatives.join('|')})$`, 'i');
  return (origin) => origin !== 'null' && origin.length <= maxOriginLength && (allowsAny || expression.test(origin));
}
