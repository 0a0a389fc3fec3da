type Token = { readonly kind: 'run' } | { readonly kind: 'one'; readonly fits: (character: string) => boolean };

const anyOne: Token = { kind: 'one', fits: () => true };

/** `[abc]`, `[a-z]`, `[!0-9]`: one character of a set, or one that is not in it. */
function setToken(inside: string): Token {
  const negated = /^[!^]/.test(inside);
  const members = [...inside.slice(negated ? 1 : 0)];
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const [first = '', dash, last] = members.slice(at, at + 3);
    const isRange = dash === '-' && last !== undefined;
    ranges.push([first, isRange ? last : first]);
    if (isRange) at += 2;
  }
  const within = (character: string): boolean => ranges.some(([low, high]) => low <= character && character <= high);
  return { kind: 'one', fits: (character) => within(character) !== negated };
}

/** Read ones; the patterns of the settings are asked about with each mail. */
const known = new Map<string, readonly Token[]>();
const mostKnown = 1000;

function tokensOf(pattern: string): readonly Token[] {
  const found = known.get(pattern);
  if (found !== undefined) return found;
  if (known.size >= mostKnown) known.clear();
  const tokens = read(pattern);
  known.set(pattern, tokens);
  return tokens;
}

/** A bracket that is never closed stands for itself. */
function read(pattern: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    const end = character === '[' ? pattern.indexOf(']', at + 2) : -1;
    if (character === '*') tokens.push({ kind: 'run' });
    else if (character === '?') tokens.push(anyOne);
    else if (end !== -1) {
      tokens.push(setToken(pattern.slice(at + 1, end)));
      at = end;
    } else tokens.push({ kind: 'one', fits: (given) => given === character });
  }
  return tokens;
}

/**
 * True when `*` (any run), `?` (any one character) and `[a-z]` (one of a set) make the pattern equal to the text. Its time is
 * bounded by the product of their lengths.
 */
export function matches(pattern: string, text: string): boolean {
  const tokens = tokensOf(pattern);
  let [at, position, star, resume] = [0, 0, -1, 0];
  while (position < text.length) {
    const token = tokens[at];
    if (token?.kind === 'run') {
      star = at;
      at += 1;
      resume = position;
    } else if (token?.kind === 'one' && token.fits(text[position] ?? '')) {
      at += 1;
      position += 1;
    } else if (star !== -1) {
      at = star + 1;
      resume += 1;
      position = resume;
    } else {
      return false;
    }
  }
  while (tokens[at]?.kind === 'run') at += 1;
  return at === tokens.length;
}

/** As {@link matches}, in any case; a pattern without `*` and `?` need only be a part of the text. */
export function fits(pattern: string, text: string): boolean {
  const [wanted, given] = [pattern.toLowerCase(), text.toLowerCase()];
  return /[*?]/.test(wanted) ? matches(wanted, given) : given.includes(wanted);
}
