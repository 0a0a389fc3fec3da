type Token = { readonly kind: 'run' } | { readonly kind: 'one'; readonly matches: (character: string) => boolean };

const anyCharacter: Token = { kind: 'one', matches: () => true };

/** Parses a character set: `[abc]`, `[a-z]` or negated `[!0-9]`. */
function parseSet(content: string): Token {
  const negated = /^[!^]/.test(content);
  const members = [...content.slice(negated ? 1 : 0)];
  const ranges: (readonly [string, string])[] = [];
  for (let index = 0; index < members.length; index += 1) {
    const [first = '', dash, last] = members.slice(index, index + 3);
    const isRange = dash === '-' && last !== undefined;
    ranges.push([first, isRange ? last : first]);
    if (isRange) index += 2;
  }
  const isInRange = (character: string): boolean => ranges.some(([low, high]) => low <= character && character <= high);
  return { kind: 'one', matches: (character) => isInRange(character) !== negated };
}

/** Cache of parsed patterns, because patterns of the settings are evaluated for each mail. */
const tokenCache = new Map<string, readonly Token[]>();
const maxCachedPatterns = 1000;

function getTokens(pattern: string): readonly Token[] {
  const cached = tokenCache.get(pattern);
  if (cached !== undefined) return cached;
  if (tokenCache.size >= maxCachedPatterns) tokenCache.clear();
  const tokens = parsePattern(pattern);
  tokenCache.set(pattern, tokens);
  return tokens;
}

/** Parses a pattern. An unclosed bracket is literal. */
function parsePattern(pattern: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let index = 0; index < pattern.length; index += 1) {
    const character = pattern[index];
    const end = character === '[' ? pattern.indexOf(']', index + 2) : -1;
    if (character === '*') tokens.push({ kind: 'run' });
    else if (character === '?') tokens.push(anyCharacter);
    else if (end !== -1) {
      tokens.push(parseSet(pattern.slice(index + 1, end)));
      index = end;
    } else tokens.push({ kind: 'one', matches: (candidate) => candidate === character });
  }
  return tokens;
}

/**
 * Returns true when a pattern with `*` (any characters), `?` (one character) and `[a-z]` (one of a set) matches the
 * whole text. Run time is bounded by the product of their lengths.
 */
export function matches(pattern: string, text: string): boolean {
  const tokens = getTokens(pattern);
  let [tokenIndex, position, star, resume] = [0, 0, -1, 0];
  while (position < text.length) {
    const token = tokens[tokenIndex];
    if (token?.kind === 'run') {
      star = tokenIndex;
      tokenIndex += 1;
      resume = position;
    } else if (token?.kind === 'one' && token.matches(text[position] ?? '')) {
      tokenIndex += 1;
      position += 1;
    } else if (star !== -1) {
      tokenIndex = star + 1;
      resume += 1;
      position = resume;
    } else {
      return false;
    }
  }
  while (tokens[tokenIndex]?.kind === 'run') tokenIndex += 1;
  return tokenIndex === tokens.length;
}

/** Matches like {@link matches} without case; a pattern without `*` and `?` matches any part of the text. */
export function matchesAnywhere(pattern: string, text: string): boolean {
  const [lowerPattern, lowerText] = [pattern.toLowerCase(), text.toLowerCase()];
  return /[*?]/.test(lowerPattern) ? matches(lowerPattern, lowerText) : lowerText.includes(lowerPattern);
}
