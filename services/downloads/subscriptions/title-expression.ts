import { Problem } from '../../contracts/problem.ts';

const longest = 500;

/**
 * A filter as clients of the peer write it, which is Python's notation: leading flags such as `(?i)`, named groups and
 * `\A`, `\Z` are brought into ours. Cases differ unless `(?i)` says otherwise. @throws Problem `downloads.bad_filter` (400)
 */
export function titleExpression(text: string): RegExp {
  if (text.length > longest) throw badFilter(`it has more than ${longest} characters`);
  const [, letters = '', rest = text] = /^\(\?([imsu]+)\)(.*)$/s.exec(text) ?? [];
  const source = rest
    .replaceAll(/\(\?P<(\w+)>/g, '(?<$1>')
    .replaceAll(/\(\?P=(\w+)\)/g, '\\k<$1>')
    .replaceAll(
      /(?<!\\)((?:\\\\)*)\\([AZ])/g,
      (_, before: string, anchor: string) => before + (anchor === 'A' ? '^' : '$'),
    );
  const flags = [...new Set(letters.replace('u', ''))].join('');
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // The strict notation refuses needless backslashes, which Python allows.
    try {
      return new RegExp(source, flags);
    } catch (error) {
      throw badFilter(
        error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : String(error),
      );
    }
  }
}

function badFilter(reason: string): Problem {
  return new Problem('downloads.bad_filter', 400, `Invalid title_regex: ${reason}`);
}
