import { LinearPattern } from './linear-pattern.ts';

/** Tests whether a listing leaves out a path. Folders are passed without a trailing slash. */
export interface Exclusion {
  file(path: string): boolean;
  /** Excludes the folder with its content. */
  folder(path: string): boolean;
}

/**
 * Compiles patterns with the syntax of rclone: `*` and `?` within a name, `**` across folders, `[a-z]`, `{one,two}`,
 * `{{regular expression}}`, a leading slash for the top folder, a trailing slash for a folder with its content.
 *
 * A regular expression can block the event loop, so only administrators may use them (`expressions: true`).
 *
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

function compilePattern(pattern: string, expressions: boolean): Pick<RegExp, 'test'> {
  const toError = (reason: string): PatternError => new PatternError(`${JSON.stringify(pattern)}: ${reason}`);
  const isAnchored = pattern.startsWith('/');
  const linear = new LinearPattern(isAnchored);
  let isLinear = true;
  let text = isAnchored ? '^' : '(?:^|/)';
  let braces = 0;
  for (let index = isAnchored ? 1 : 0; index < pattern.length; index++) {
    const character = pattern.charAt(index);
    const rest = pattern.slice(index);
    if (character === '\\') {
      index += 1;
      if (index >= pattern.length) throw toError('a backslash stands at the end');
      text += RegExp.escape(pattern.charAt(index));
      linear.one(equals(pattern.charAt(index)));
    } else if (character === '*') {
      const stars = /^\*+/.exec(rest)?.[0].length ?? 1;
      if (stars > 2) throw toError('too many stars');
      text += stars === 2 ? '.*' : '[^/]*';
      linear.many(stars === 2 ? isNotLineBreak : isNotSlash);
      index += stars - 1;
    } else if (character === '?') {
      text += '[^/]';
      linear.one(isNotSlash);
    } else if (character === '[') {
      const characterClass = /^\[(?:\\.|[^\]\\])*\]/.exec(rest)?.[0];
      if (characterClass === undefined) throw toError('a [ without its ]');
      text += characterClass;
      linear.one(inClass(characterClass, toError));
      index += characterClass.length - 1;
    } else if (character === ']') throw toError('a ] without its [');
    else if (rest.startsWith('{{')) {
      const end = pattern.indexOf('}}', index);
      if (end === -1) throw toError('a {{ without its }}');
      if (!expressions) throw toError('only an administrator may write a regular expression');
      isLinear = false;
      text += `(?:${pattern.slice(index + 2, end)})`;
      index = end + 1;
    } else if (character === '{') {
      if (braces > 0) throw toError('a { within a {');
      braces += 1;
      text += '(?:';
      linear.open();
    } else if (character === '}') {
      if (braces === 0) throw toError('a } without its {');
      braces -= 1;
      text += ')';
      linear.close();
    } else if (character === ',' && braces > 0) {
      text += '|';
      linear.or();
    } else {
      text += RegExp.escape(character);
      linear.one(equals(character));
    }
  }
  if (braces > 0) throw toError('a { without its }');
  return isLinear ? linear : compileExpression(`${text}$`, toError);
}

function compileExpression(text: string, toError: (reason: string) => PatternError): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw toError('it is no pattern');
    throw error;
  }
}

const isNotSlash = (character: string): boolean => character !== '/';
/** Matches like the dot of a regular expression. */
const isNotLineBreak = (character: string): boolean => !/[\n\r\u2028\u2029]/.test(character);

function equals(expected: string): (character: string) => boolean {
  return (character) => character === expected;
}

function inClass(text: string, toError: (reason: string) => PatternError): (character: string) => boolean {
  const expression = compileExpression(`^${text}$`, toError);
  return (character) => expression.test(character);
}
