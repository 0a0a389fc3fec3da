import { compileLinearExpression, ExpressionError } from '../../kit/linear-expression.ts';

/** Compiled pattern that matches names. */
export interface Glob {
  test(name: string): boolean;
}

/** Parts of a pattern: `**`, a class, or any other character. */
const partPattern = /\*\*|\[(?<set>[^][^\]]*)\]|[^]/gu;

/**
 * Compiles a pattern for names such as `release/*` with Gitea's syntax: `?` and `*` match within a path segment if
 * `bySegment` is set, `**` matches across segments, `{a,b}` matches either alternative, `[a-z]` matches one character.
 * Returns undefined if the pattern is invalid. Matching takes time proportional to the length of the name times the
 * length of the pattern for all inputs, because accounts write patterns and others choose the names.
 */
export function compileGlob(text: string, { bySegment }: { readonly bySegment: boolean }): Glob | undefined {
  const one = bySegment ? '[^/]' : '(?s:.)';
  const wildcards: Readonly<Record<string, string>> = { '**': '(?s:.*)', '*': `${one}*`, '?': one };
  const inBraces: Readonly<Record<string, string>> = { '}': ')', ',': '|' };
  let depth = 0;
  let source = '';
  for (const { 0: part, groups } of text.matchAll(partPattern)) {
    const set = groups?.['set'];
    if (part === '[') return undefined;
    const mark = depth > 0 ? inBraces[part] : undefined;
    if (set !== undefined) source += toClass(set);
    else if (part === '{') source += '(?:';
    else source += wildcards[part] ?? mark ?? part.replace(/[\\^$.+()|\]}]/, String.raw`\$&`);
    if (part === '{') depth += 1;
    if (part === '}' && depth > 0) depth -= 1;
  }
  if (depth > 0) return undefined;
  try {
    return compileLinearExpression(`^(?:${source})$`);
  } catch (error) {
    // For example a range that ends before it starts.
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

function toClass(set: string): string {
  return `[${set.replaceAll(/[\\^[\]]/g, String.raw`\$&`).replace(/^!/, '^')}]`;
}
