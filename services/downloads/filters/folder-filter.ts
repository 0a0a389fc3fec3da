import { compileLinearExpression, ExpressionError } from '../../kit/linear-expression.ts';
import { matchTitles } from './title-filter.ts';

/** Tests which of some folders match an expression. */
export type FolderFilter = (paths: readonly string[]) => Promise<readonly boolean[]>;

/**
 * Creates the filter for an expression of the settings in Python's notation, which is tested against folder names that
 * users choose. An expression that RE2 supports takes linear time; any other runs in a limited process.
 */
export function createFolderFilter(expression: string): FolderFilter {
  if (expression === '') return async (paths) => paths.map(() => false);
  const linear = findLinearExpression(expression);
  if (linear === undefined) return (paths) => matchTitles(expression, paths);
  return async (paths) => paths.map((path) => linear.matcher(path).find());
}

/** Python's `\Z` is `\z` in RE2. */
function findLinearExpression(expression: string): ReturnType<typeof compileLinearExpression> | undefined {
  try {
    return compileLinearExpression(expression.replaceAll(/(?<!\\)((?:\\\\)*)\\Z/g, String.raw`$1\z`));
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}
