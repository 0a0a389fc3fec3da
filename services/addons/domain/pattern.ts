import * as m from '#messages/addons-problems';

/** Regular expression of a user. The flag `n` negates it. */
export interface Pattern {
  readonly expression: RegExp;
  readonly negated: boolean;
}

const delimited = /^\/(.+)\/([A-Za-z]*)$/s;
const knownFlags = /^[dgimnsuvy]*$/;
const leadingFlags = /^\(\?([imsu]+)\)/;

/**
 * Parses an expression in the notation of users: `/x264|x265/i`, or without delimiters, which ignores case. Flags at
 * the beginning, such as `(?i)x264`, have the meaning of other regular expression engines.
 *
 * @throws SyntaxError
 */
export function parsePattern(source: string): Pattern {
  const match = delimited.exec(source);
  const isDelimited = match !== null && knownFlags.test(match[2] ?? '');
  const expressionSource = isDelimited ? (match[1] ?? '') : source;
  const flags = new Set(isDelimited ? (match[2] ?? '') : 'i');
  const isNegated = flags.delete('n');
  // A single test needs neither position nor indices, and `v` includes `u`.
  for (const flag of ['g', 'd', ...(flags.has('v') ? ['u'] : [])]) flags.delete(flag);
  const leadingMatch = leadingFlags.exec(expressionSource);
  for (const flag of leadingMatch?.[1] ?? '') flags.add(flag);
  return {
    expression: new RegExp(expressionSource.slice(leadingMatch?.[0].length ?? 0), [...flags].join('')),
    negated: isNegated,
  };
}

/** Returns true when the pattern matches a name. */
export function matchesPattern({ expression, negated: isNegated }: Pattern, name: string): boolean {
  // Only `y` uses the position, and it must match at the beginning of the name.
  expression.lastIndex = 0;
  return expression.test(name) !== isNegated;
}

/** Constructs of Python and PCRE that JavaScript accepts with another meaning. */
const foreignConstructs = /\\(?:\\|[AZzKGQEhHR])|\[\[:[a-z]+:\]\]?|\\[pP]\{/g;

/** Explains why a pattern has another meaning in JavaScript. Returns undefined for other patterns. */
export function findMisreadProblem(source: string): string | undefined {
  const flags = delimited.exec(source)?.[2] ?? '';
  const shortSource = source.slice(0, 60);
  if (!knownFlags.test(flags)) return m.patternFlagsUnknown({ flags: flags.slice(0, 20), pattern: shortSource });
  const isUnicode = /[uv]/.test(flags) || leadingFlags.exec(source.replace(/^\//, ''))?.[1]?.includes('u') === true;
  const foreignMatches = [...source.matchAll(foreignConstructs)]
    .map(([construct]) => construct)
    .filter((construct) => construct !== '\\\\' && !(isUnicode && /^\\p\{/i.test(construct)));
  if (foreignMatches.length === 0) return undefined;
  const names = [...new Set(foreignMatches.map((construct) => (/^\\p/i.test(construct) ? '\\p{…}' : construct)))].join(
    ' ',
  );
  return names.includes('\\p')
    ? m.patternNeedsUnicode({ names, pattern: shortSource })
    : m.patternMisread({ names, pattern: shortSource });
}

/** Explains why a pattern is invalid. Returns undefined for valid patterns. */
export function findSyntaxProblem(source: string): string | undefined {
  try {
    parsePattern(source);
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return m.patternSyntaxInvalid({ reason: error.message });
    throw error;
  }
}
