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
export function exclusionOf(
  patterns: readonly string[],
  { expressions }: { readonly expressions: boolean } = { expressions: true },
): Exclusion {
  const rules = patterns.map((given) => {
    const pattern = given.endsWith('/') ? `${given}**` : given;
    return {
      expression: expressionOf(pattern, expressions),
      isForAll: pattern === '*',
      isForFolders: pattern.includes('**'),
    };
  });
  const ofFolders = rules.filter(({ isForFolders }) => isForFolders);
  const noFolders = rules.some(({ isForAll }) => isForAll);
  return {
    file: (path) => rules.some(({ expression }) => expression.test(path)),
    folder: (path) => noFolders || ofFolders.some(({ expression }) => expression.test(`${path}/`)),
  };
}

/** Thrown for an invalid pattern. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

function expressionOf(pattern: string, expressions: boolean): Pick<RegExp, 'test'> {
  const wrong = (reason: string): PatternError => new PatternError(`${JSON.stringify(pattern)}: ${reason}`);
  const isAnchored = pattern.startsWith('/');
  const linear = new LinearPattern(isAnchored);
  let isLinear = true;
  let text = isAnchored ? '^' : '(?:^|/)';
  let braces = 0;
  for (let at = isAnchored ? 1 : 0; at < pattern.length; at++) {
    const letter = pattern.charAt(at);
    const rest = pattern.slice(at);
    if (letter === '\\') {
      at += 1;
      if (at >= pattern.length) throw wrong('a backslash stands at the end');
      text += quoted(pattern.charAt(at));
      linear.one(isLetter(pattern.charAt(at)));
    } else if (letter === '*') {
      const stars = /^\*+/.exec(rest)?.[0].length ?? 1;
      if (stars > 2) throw wrong('too many stars');
      text += stars === 2 ? '.*' : '[^/]*';
      linear.many(stars === 2 ? inLine : inName);
      at += stars - 1;
    } else if (letter === '?') {
      text += '[^/]';
      linear.one(inName);
    } else if (letter === '[') {
      const found = /^\[(?:\\.|[^\]\\])*\]/.exec(rest)?.[0];
      if (found === undefined) throw wrong('a [ without its ]');
      text += found;
      linear.one(ofClass(found, wrong));
      at += found.length - 1;
    } else if (letter === ']') throw wrong('a ] without its [');
    else if (rest.startsWith('{{')) {
      const end = pattern.indexOf('}}', at);
      if (end === -1) throw wrong('a {{ without its }}');
      if (!expressions) throw wrong('only an administrator may write a regular expression');
      isLinear = false;
      text += `(?:${pattern.slice(at + 2, end)})`;
      at = end + 1;
    } else if (letter === '{') {
      if (braces > 0) throw wrong('a { within a {');
      braces += 1;
      text += '(?:';
      linear.open();
    } else if (letter === '}') {
      if (braces === 0) throw wrong('a } without its {');
      braces -= 1;
      text += ')';
      linear.close();
    } else if (letter === ',' && braces > 0) {
      text += '|';
      linear.or();
    } else {
      text += quoted(letter);
      linear.one(isLetter(letter));
    }
  }
  if (braces > 0) throw wrong('a { without its }');
  return isLinear ? linear : compiled(`${text}$`, wrong);
}

function compiled(text: string, wrong: (reason: string) => PatternError): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw wrong('it is no pattern');
    throw error;
  }
}

const inName = (letter: string): boolean => letter !== '/';
/** Matches like the dot of a regular expression. */
const inLine = (letter: string): boolean => !/[\n\r\u2028\u2029]/.test(letter);

function isLetter(wanted: string): (letter: string) => boolean {
  return (letter) => letter === wanted;
}

function ofClass(text: string, wrong: (reason: string) => PatternError): (letter: string) => boolean {
  const expression = compiled(`^${text}$`, wrong);
  return (letter) => expression.test(letter);
}

function quoted(letter: string): string {
  return letter.replace(/[$()*+.?[\\\]^{|}]/, '\\$&');
}
