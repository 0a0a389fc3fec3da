import type { Answer } from './response.ts';
import { rangeOf, rowHeaders, beforeOf, settingsOf, wantOne, withSettings, type Call } from './request-context.ts';
import { RestError } from './errors.ts';
import { parseQuery } from './parse/query.ts';
import type { Preferences } from './parse/preferences.ts';
import { findTable } from './plan/relationships.ts';
import { planTree, type ReadNode } from './plan/tree.ts';
import type { Catalogue } from './schema/catalogue.ts';
import { countStatement, readStatement, type Range, type ReadOptions, type Source } from './statement/read.ts';
import { quote, quoteKey, Values } from './statement/sql.ts';
import { wrap } from './statement/wrap.ts';
import { planAnswer } from './explain.ts';
import { plannedRows, type Run, type Result, type Transaction } from './transaction.ts';

/** `GET` and `HEAD` of a table. */
export async function read(run: Run, catalogue: Catalogue, call: Call): Promise<Answer> {
  const name = tableName(call.path);
  const query = parseQuery(call.query, false);
  const key = findTable(catalogue, call.schema, name);
  const root = planTree(catalogue, call.schema, name, key, query);
  const source: Source = { from: quoteKey(key), reference: quote(name) };
  const range = rangeOf(call, root.scope);
  const { preferences, media } = call;
  const values = new Values();
  const options = readOptions(call, values);
  const shown = readStatement(root, source, range, options);
  const count = countOf(call, root, source, values);
  const transaction = { identity: call.identity, settings: settingsOf(call), before: beforeOf(call), isReadOnly: true };
  if (media.kind === 'plan')
    return planAnswer(run, call, {
      ...transaction,
      statement: wrap({ media, source: shown, read: 'SELECT * FROM pgrst_source', count }),
      values: values.all,
    });
  const statement = wrap({ media, source: shown, read: 'SELECT * FROM pgrst_source', count });
  const result = await run({ ...transaction, statement, values: values.all, end: 'commit' });
  wantOne(call, result);
  const counted = await totalOf(run, call, result, root, source, transaction);
  const page = pageAnswer(call, range, result, counted, appliedToReads(preferences));
  const location = locationOf(call, name);
  // Clients take only so much of a head.
  const headers =
    location.length > maxLocationLength ? page.headers : { ...page.headers, 'Content-Location': location };
  return withSettings({ ...page, headers }, result);
}

const maxLocationLength = 2000;

/** Where these rows are found again: the table with the parameters in the order of their names. */
function locationOf({ query }: Call, name: string): string {
  const parameters = query.split('&').filter((text) => text !== '' && !text.startsWith('apikey='));
  const sorted = parameters.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return `/${encodeURIComponent(name)}${sorted.length === 0 ? '' : `?${sorted.join('&')}`}`;
}

/** The name in a path of one part. @throws RestError PGRST125 */
export function tableName(path: string): string {
  const [, name = '', ...rest] = path.split('/');
  try {
    const decoded = decodeURIComponent(name);
    if (decoded !== '' && rest.every((part) => part === '')) return decoded;
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
  }
  throw new RestError(404, 'PGRST125', 'Invalid path specified in request URL');
}

/** What a request may read: whether sums, and how many rows of an embed. */
export function readOptions({ settings, identity }: Call, values: Values): ReadOptions {
  return {
    values,
    aggregates: settings.aggregates || identity.role === 'service_role',
    mostRows: settings.maxRows === 0 ? undefined : settings.maxRows,
  };
}

/** What counts the rows of a read in the statement itself. */
export function countOf(
  { preferences, settings }: Call,
  root: ReadNode,
  source: Source,
  values: Values,
): string | undefined {
  const options = { values, aggregates: true };
  if (preferences.count === 'exact') return countStatement(root, source, options);
  if (preferences.count !== 'estimated') return undefined;
  return `${countStatement(root, source, options)} LIMIT ${settings.maxRows + 1}`;
}

/** The total that is told: counted, or as PostgreSQL expects it. */
async function totalOf(
  run: Run,
  { preferences, settings }: Call,
  { total }: Result,
  root: ReadNode,
  source: Source,
  transaction: Pick<Transaction, 'identity' | 'settings' | 'isReadOnly'>,
): Promise<string | null> {
  if (preferences.count === undefined || preferences.count === 'exact') return total;
  if (preferences.count === 'estimated' && Number(total) <= settings.maxRows) return total;
  const values = new Values();
  const statement = countStatement(root, source, { values, aggregates: true });
  const planned = await plannedRows(run, { ...transaction, statement, values: values.all });
  return String(Math.max(planned, preferences.count === 'estimated' ? Number(total) : 0));
}

/** @throws RestError PGRST103 when the page begins behind the last row. */
export function pageAnswer(
  call: Call,
  range: Range,
  { page, body }: Result,
  total: string | null,
  applied: Preferences,
): Answer {
  const offset = range.offset ?? 0;
  const rows = Number(page);
  const headers = rowHeaders(call, { offset, page: rows, total }, applied);
  if (total !== null && offset > Number(total)) {
    throw new RestError(416, 'PGRST103', 'Requested range not satisfiable', {
      details: `An offset of ${offset} was requested, but there are only ${total} rows.`,
      headers: { 'Content-Range': `*/${total}` },
    });
  }
  const isPart = total !== null && rows < Number(total);
  return { status: isPart ? 206 : 200, headers, body };
}

export function appliedToReads({ count, handling, timezone }: Preferences): Preferences {
  return {
    ...(count === undefined ? {} : { count }),
    ...(handling === undefined ? {} : { handling }),
    ...(timezone === undefined ? {} : { timezone }),
  };
}
