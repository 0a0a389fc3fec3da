import { matchesWildcardParts } from '../contracts/wildcards.ts';

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
  const compiled = patterns.map((pattern) => splitSegments(pattern).map((segment) => segment.split('*')));
  return (origin) => {
    if (origin === 'null' || origin.length > maxOriginLength) return false;
    if (allowsAny) return true;
    const segments = splitSegments(origin);
    return compiled.some(
      (pattern) =>
        pattern.length === segments.length &&
        pattern.every((parts, index) => matchesWildcardParts(parts, segments[index] ?? '')),
    );
  };
}

function splitSegments(text: string): readonly string[] {
  return text.toLowerCase().split('/');
}
