/** A user's regular expression. The flag `n` negates it: it matches names in which the expression is not found. */
export interface Pattern {
  readonly expression: RegExp;
  readonly negated: boolean;
}

const delimited = /^\/(.+)\/([A-Za-z]*)$/s;
const knownFlags = /^[dgimnsuvy]*$/;
const leadingFlags = /^\(\?([imsu]+)\)/;

/**
 * Reads an expression as users write them: `/x264|x265/i`, or bare, which ignores case. Flags at the beginning of the
 * expression, as in `(?i)x264`, are those of other engines and mean the same.
 *
 * @throws SyntaxError
 */
export function readPattern(source: string): Pattern {
  const found = delimited.exec(source);
  const isDelimited = found !== null && knownFlags.test(found[2] ?? '');
  const body = isDelimited ? (found[1] ?? '') : source;
  const flags = new Set(isDelimited ? (found[2] ?? '') : 'i');
  const negated = flags.delete('n');
  // One test a name needs no position and no indexes; `v` includes what `u` does.
  for (const flag of ['g', 'd', ...(flags.has('v') ? ['u'] : [])]) flags.delete(flag);
  const leading = leadingFlags.exec(body);
  for (const flag of leading?.[1] ?? '') flags.add(flag);
  return { expression: new RegExp(body.slice(leading?.[0].length ?? 0), [...flags].join('')), negated };
}

/** Whether a name is one that the pattern means. */
export function matchesPattern({ expression, negated }: Pattern, name: string): boolean {
  // Of the flags that keep a position only `y` is left; it means the beginning of the name.
  expression.lastIndex = 0;
  return expression.test(name) !== negated;
}

/** Constructs of Python and PCRE that JavaScript reads as other text, without an error. */
const foreignConstructs = /\\(?:\\|[AZzKGQEhHR])|\[\[:[a-z]+:\]\]?|\\[pP]\{/g;

/** Says why a pattern means something else here than its text suggests; undefined where it does not. */
export function misreadProblem(source: string): string | undefined {
  const flags = delimited.exec(source)?.[2] ?? '';
  const shown = source.slice(0, 60);
  if (!knownFlags.test(flags))
    return `has the flags "${flags.slice(0, 20)}", which are not known, so it is read as it stands: ${shown}`;
  const isUnicode = /[uv]/.test(flags) || leadingFlags.exec(source.replace(/^\//, ''))?.[1]?.includes('u') === true;
  const foreign = [...source.matchAll(foreignConstructs)]
    .map(([construct]) => construct)
    .filter((construct) => construct !== '\\\\' && !(isUnicode && /^\\p\{/i.test(construct)));
  if (foreign.length === 0) return undefined;
  const names = [...new Set(foreign.map((construct) => (/^\\p/i.test(construct) ? '\\p{…}' : construct)))].join(' ');
  const remedy = names.includes('\\p') ? ' Add the flag u for \\p{…}.' : '';
  return `uses ${names}, which JavaScript reads as plain characters: ${shown}.${remedy}`;
}

/** Says why a pattern cannot be used at all; undefined where it can. */
export function unreadableProblem(source: string): string | undefined {
  try {
    readPattern(source);
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return `It cannot be read: ${error.message}.`;
    throw error;
  }
}
