/** Restores the written form of a policy condition: PostgreSQL adds column names to subselects. */
export function toWrittenCondition(condition: string): string {
  return stripOuterParentheses(condition.replaceAll(/\( SELECT (auth\.\w+\(\)) AS \w+\)/g, '(select $1)'));
}

/** Removes the outer parentheses that PostgreSQL adds. */
function stripOuterParentheses(text: string): string {
  if (!text.startsWith('(') || text.includes("'")) return text;
  let depth = 0;
  for (const [index, character] of [...text].entries()) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth === 0) return index === text.length - 1 ? text.slice(1, -1) : text;
  }
  return text;
}
