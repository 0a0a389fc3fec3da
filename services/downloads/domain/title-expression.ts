import * as m from '#messages/downloads-problems';
import { Problem } from '../../contracts/problem.ts';

const maxLength = 500;

/**
 * Converts a filter in Python's notation, as sent by MeTube's clients, to a regular expression: leading flags such as
 * `(?i)`, named groups, `\A` and `\Z`. It is case-sensitive unless `(?i)` is set.
 * @throws Problem `downloads.bad_filter` (400)
 */
export function parseTitleExpression(text: string): RegExp {
  if (text.length > maxLength)
    throw new Problem('downloads.bad_filter', 400, () => m.filterTooLong({ maximum: maxLength }));
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
    // The `u` flag refuses unnecessary backslashes, which Python allows.
    try {
      return new RegExp(source, flags);
    } catch (error) {
      throw createFilterProblem(
        error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : String(error),
      );
    }
  }
}

function createFilterProblem(reason: string): Problem {
  return new Problem('downloads.bad_filter', 400, () => m.filterInvalid({ reason }));
}
