/** What is left out of a listing. Folders are given without a slash at the end. */
export interface Exclusion {
  file(path: string): boolean;
  /** With all that is in it. */
  folder(path: string): boolean;
}

/**
 * Patterns as rclone reads them: `*` and `?` within a name, `**` across folders, `[a-z]`, `{one,two}`, `{{regular
 * expression}}`, a slash at the start for the top, one at the end for a folder with all that is in it.
 *
 * @throws PatternError
 */
export function exclusionOf(patterns: readonly string[]): Exclusion {
  const rules = patterns.map((given) => {
    const pattern = given.endsWith('/') ? `${given}**` : given;
    return { expression: expressionOf(pattern), isForAll: pattern === '*', isForFolders: pattern.includes('**') };
  });
  const ofFolders = rules.filter(({ isForFolders }) => isForFolders);
  const noFolders = rules.some(({ isForAll }) => isForAll);
  return {
    file: (path) => rules.some(({ expression }) => expression.test(path)),
    folder: (path) => noFolders || ofFolders.some(({ expression }) => expression.test(`${path}/`)),
  };
}

/** A pattern that says nothing. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

function expressionOf(pattern: string): RegExp {
  const wrong = (reason: string): PatternError => new PatternError(`${JSON.stringify(pattern)}: ${reason}`);
  let text = pattern.startsWith('/') ? '^' : '(?:^|/)';
  let braces = 0;
  for (let at = pattern.startsWith('/') ? 1 : 0; at < pattern.length; at++) {
    const letter = pattern.charAt(at);
    const rest = pattern.slice(at);
    if (letter === '\\') {
      at += 1;
      if (at >= pattern.length) throw wrong('a backslash stands at the end');
      text += quoted(pattern.charAt(at));
    } else if (letter === '*') {
      const stars = /^\*+/.exec(rest)?.[0].length ?? 1;
      if (stars > 2) throw wrong('too many stars');
      text += stars === 2 ? '.*' : '[^/]*';
      at += stars - 1;
    } else if (letter === '?') text += '[^/]';
    else if (letter === '[') {
      const found = /^\[(?:\\.|[^\]\\])*\]/.exec(rest)?.[0];
      if (found === undefined) throw wrong('a [ without its ]');
      text += found;
      at += found.length - 1;
    } else if (letter === ']') throw wrong('a ] without its [');
    else if (rest.startsWith('{{')) {
      const end = pattern.indexOf('}}', at);
      if (end === -1) throw wrong('a {{ without its }}');
      text += `(?:${pattern.slice(at + 2, end)})`;
      at = end + 1;
    } else if (letter === '{') {
      if (braces > 0) throw wrong('a { within a {');
      braces += 1;
      text += '(?:';
    } else if (letter === '}') {
      if (braces === 0) throw wrong('a } without its {');
      braces -= 1;
      text += ')';
    } else text += letter === ',' && braces > 0 ? '|' : quoted(letter);
  }
  if (braces > 0) throw wrong('a { without its }');
  try {
    return new RegExp(`${text}$`);
  } catch (error) {
    if (error instanceof SyntaxError) throw wrong('it is no pattern');
    throw error;
  }
}

function quoted(letter: string): string {
  return letter.replace(/[$()*+.?[\\\]^{|}]/, '\\$&');
}
