import type { ViewColumn } from './relationships.ts';

/** Stored rule of a view. */
export interface ViewRule {
  readonly view: string;
  /** `pg_rewrite.ev_action` as text: a list with one query in it. */
  readonly action: string;
}

/**
 * Returns the origin of the columns of a view. Only entries of the outermost target list are columns of the view:
 * entries of subselects and arguments have their own numbers.
 */
export function parseViewColumns({ view, action }: ViewRule): readonly ViewColumn[] {
  return parseTargetEntries(action).flatMap((entry): readonly ViewColumn[] => {
    const number = Number(entry.get('resno') ?? 0);
    const origin = entry.get('resorigtbl') ?? '0';
    const origin_number = Number(entry.get('resorigcol') ?? 0);
    // Computed columns and columns that are used only for sorting have no origin.
    return origin === '0' || number === 0 || entry.get('resjunk') === 'true'
      ? []
      : [{ view, number, origin, origin_number }];
  });
}

type Fields = Map<string, string>;

/** Nesting depth of the fields of the outermost query: in the list, in the query. */
const queryDepth = 2;
/** Nesting depth of the fields of its target entries: in their list, in the entry. */
const entryDepth = queryDepth + 2;

/** Parses the fields of the outermost target entries. A backslash escapes the next character. */
function parseTargetEntries(action: string): readonly Fields[] {
  const entries: Fields[] = [];
  const tokens = action.matchAll(/\\.|[{}()]|[^\\{}()\s](?:\\.|[^\\{}()\s])*/gs);
  let depth = 0;
  let isTargets = false;
  let field = '';
  for (const [token] of tokens) {
    if (token === '{' || token === '(') {
      depth += 1;
      if (isTargets && token === '{' && depth === entryDepth) entries.push(new Map());
    } else if (token === '}' || token === ')') depth -= 1;
    else if (depth === queryDepth && token.startsWith(':')) isTargets = token === ':targetList';
    else if (isTargets && depth === entryDepth) {
      if (token.startsWith(':')) field = token.slice(1);
      else entries.at(-1)?.set(field, token);
    }
  }
  return entries;
}
