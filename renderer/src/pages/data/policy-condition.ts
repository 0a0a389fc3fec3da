/** A policy's condition as it was written: PostgreSQL names the column of a `select` that has no name. */
export function asWritten(condition: string): string {
  return withoutFrame(condition.replaceAll(/\( SELECT (auth\.\w+\(\)) AS \w+\)/g, '(select $1)'));
}

/** Without the brackets that PostgreSQL puts around the whole. */
function withoutFrame(text: string): string {
  if (!text.startsWith('(') || text.includes("'")) return text;
  let depth = 0;
  for (const [at, letter] of [...text].entries()) {
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    if (depth === 0) return at === text.length - 1 ? text.slice(1, -1) : text;
  }
  return text;
}
