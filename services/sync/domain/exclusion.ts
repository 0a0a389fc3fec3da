import * as m from '#messages/sync-problems';
import { compileLinearExpression, ExpressionError, type LinearExpression } from '../../kit/linear-expression.ts';

/** Tests whether a listing leaves out a path. Folders are passed without a trailing slash. */
export interface Exclusion {
  file(path: string): boolean;
  /** Excludes the folder with its content. */
  folder(path: string): boolean;
}

/**
 * Compiles patterns with the syntax of rclone: `*` and `?` within a name, `**` across folders, `[a-z]`, `{one,two}`,
 * `{{regular expression}}`, a leading slash for the top folder, a trailing slash for a folder with its content. The
 * time of a test is bounded for all patterns and paths: users write patterns, and others choose the file names.
 *
 * @param options `expressions` allows regular expressions.
 * @throws PatternError when a pattern is invalid.
 */
export function compileExclusion(
  patterns: readonly string[],
  { expressions }: { readonly expressions: boolean } = { expressions: true },
): Exclusion {
  const rules = patterns.map((input) => {
    const pattern = input.endsWith('/') ? `${input}**` : input;
    return {
      expression: compilePattern(pattern, expressions),
      isForAll: pattern === '*',
      isForFolders: pattern.includes('**'),
    };
  });
  const folderRules = rules.filter(({ isForFolders }) => isForFolders);
  const excludesAllFolders = rules.some(({ isForAll }) => isForAll);
  return {
    file: (path) => rules.some(({ expression }) => expression.test(path)),
    folder: (path) => excludesAllFolders || folderRules.some(({ expression }) => expression.test(`${path}/`)),
  };
}

/** Thrown for an invalid pattern. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** Parts of a pattern; a character that begins no valid part is matched by the last alternative. */
const partPattern = /\\(?<escaped>[^])|(?<stars>\*+)|(?<set>\[(?:\\.|[^\]\\])*\])|\{\{(?<inner>[^]*?)\}\}|[^]/gu;

type PatternReason = (values: { readonly pattern: string }) => string;

const partErrors: Readonly<Record<string, PatternReason>> = {
  '\\': m.patternBackslash,
  '[': m.patternBracketOpen,
  ']': m.patternBracketClose,
};

function compilePattern(pattern: string, expressions: boolean): LinearExpression {
  const toError = (reason: PatternReason, cause?: Error): PatternError =>
    new PatternError(reason({ pattern: JSON.stringify(pattern) }), { cause });
  const isAnchored = pattern.startsWith('/');
  let text = isAnchored ? '^' : '(?:^|/)';
  let isInBraces = false;
  for (const { 0: part, groups = {} } of pattern.slice(isAnchored ? 1 : 0).matchAll(partPattern)) {
    const { escaped, stars, set, inner } = groups;
    const reason = partErrors[part];
    if (reason !== undefined) throw toError(reason);
    if (escaped !== undefined) text += escapeCharacter(escaped);
    else if (stars !== undefined) {
      if (stars.length > 2) throw toError(m.patternStars);
      text += stars.length === 2 ? '.*' : '[^/]*';
    } else if (set !== undefined) text += set;
    else if (inner !== undefined) {
      if (!expressions) throw toError(m.patternExpression);
      text += `(?:${inner})`;
    } else if (part === '?') text += '[^/]';
    else if (part === '{') {
      if (isInBraces) throw toError(m.patternBraceNested);
      isInBraces = true;
      text += '(?:';
    } else if (part === '}') {
      if (!isInBraces) throw toError(m.patternBraceClose);
      isInBraces = false;
      text += ')';
    } else text += part === ',' && isInBraces ? '|' : escapeCharacter(part);
  }
  if (isInBraces) throw toError(m.patternBraceOpen);
  try {
    return compileLinearExpression(`${text}$`);
  } catch (error) {
    if (error instanceof ExpressionError) throw toError(m.patternInvalid, error);
    throw error;
  }
}

function escapeCharacter(character: string): string {
  return character.replace(/[$()*+.?[\\\]^{|}]/, '\\$&');
}
