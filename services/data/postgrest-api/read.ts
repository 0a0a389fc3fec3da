import type { RestResponse } from './response.ts';
import {
  getRange,
  buildRowHeaders,
  getPreRequest,
  getTransactionSettings,
  requireSingleRow,
  applyResponseSettings,
  type RequestContext,
} from './request-context.ts';
import { RestError } from './errors.ts';
import { parseQuery } from './parse/query.ts';
import type { Preferences } from './parse/preferences.ts';
import { findTable } from './plan/relationships.ts';
import { planTree, type ReadNode } from './plan/tree.ts';
import type { Catalogue } from './schema/catalogue.ts';
import { buildCountStatement, buildReadStatement, type Range, type ReadOptions } from './statement/read.ts';
import type { Source } from './statement/read-output.ts';
import { quote, quoteKey, Values } from './statement/sql.ts';
import { wrapStatement } from './statement/wrap.ts';
import { createPlanResponse } from './explain.ts';
import { estimateRows, type Run, type Result, type Transaction } from './transaction.ts';

/** Handles `GET` and `HEAD` of a table. */
export async function handleRead(run: Run, catalogue: Catalogue, context: RequestContext): Promise<RestResponse> {
  const name = tableName(context.path);
  const query = parseQuery(context.query, false);
  const key = findTable(catalogue, context.schema, name);
  const root = planTree(catalogue, context.schema, name, key, query);
  const source: Source = { from: quoteKey(key), reference: quote(name) };
  const range = getRange(context, root.scope);
  const { preferences, media } = context;
  const values = new Values();
  const options = readOptions(context, values);
  const rowsStatement = buildReadStatement(root, source, range, options);
  const count = buildCount(context, root, source, values);
  const transaction = {
    identity: context.identity,
    settings: getTransactionSettings(context),
    before: getPreRequest(context),
    isReadOnly: true,
  };
  if (media.kind === 'plan')
    return createPlanResponse(run, context, {
      ...transaction,
      statement: wrapStatement({ media, source: rowsStatement, read: 'SELECT * FROM pgrst_source', count }),
      values: values.all,
    });
  const statement = wrapStatement({ media, source: rowsStatement, read: 'SELECT * FROM pgrst_source', count });
  const result = await run({ ...transaction, statement, values: values.all, end: 'commit' });
  requireSingleRow(context, result);
  const total = await getTotal(run, context, result, root, source, transaction);
  const page = createPageResponse(context, range, result, total, getAppliedReadPreferences(preferences));
  const location = getLocation(context, name);
  // Clients limit the size of response headers.
  const headers =
    location.length > maxLocationLength ? page.headers : { ...page.headers, 'Content-Location': location };
  return applyResponseSettings({ ...page, headers }, result);
}

const maxLocationLength = 2000;

/** Returns the path of the requested rows: the table and the query parameters in sorted order. */
function getLocation({ query }: RequestContext, name: string): string {
  const parameters = query.split('&').filter((text) => text !== '' && !text.startsWith('apikey='));
  const sorted = parameters.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return `/${encodeURIComponent(name)}${sorted.length === 0 ? '' : `?${sorted.join('&')}`}`;
}

/**
 * Returns the decoded name in a path with one segment.
 *
 * @throws RestError PGRST125
 */
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

/** Returns the read options of a request: aggregates, and the maximum number of rows of an embed. */
export function readOptions({ settings, identity }: RequestContext, values: Values): ReadOptions {
  return {
    values,
    aggregates: settings.aggregates || identity.role === 'service_role',
    maxEmbedRows: settings.maxRows === 0 ? undefined : settings.maxRows,
  };
}

/** Builds the counting part of a read statement. */
export function buildCount(
  { preferences, settings }: RequestContext,
  root: ReadNode,
  source: Source,
  values: Values,
): string | undefined {
  const options = { values, aggregates: true };
  if (preferences.count === 'exact') return buildCountStatement(root, source, options);
  if (preferences.count !== 'estimated') return undefined;
  return `${buildCountStatement(root, source, options)} LIMIT ${settings.maxRows + 1}`;
}

/** Returns the total: counted, or estimated by the planner of PostgreSQL. */
async function getTotal(
  run: Run,
  { preferences, settings }: RequestContext,
  { total }: Result,
  root: ReadNode,
  source: Source,
  transaction: Pick<Transaction, 'identity' | 'settings' | 'isReadOnly'>,
): Promise<string | null> {
  if (preferences.count === undefined || preferences.count === 'exact') return total;
  if (preferences.count === 'estimated' && Number(total) <= settings.maxRows) return total;
  const values = new Values();
  const statement = buildCountStatement(root, source, { values, aggregates: true });
  const planned = await estimateRows(run, { ...transaction, statement, values: values.all });
  return String(Math.max(planned, preferences.count === 'estimated' ? Number(total) : 0));
}

/**
 * Builds the response for one page of rows.
 *
 * @throws RestError PGRST103 when the offset exceeds the total
 */
export function createPageResponse(
  context: RequestContext,
  range: Range,
  { page, body }: Result,
  total: string | null,
  applied: Preferences,
): RestResponse {
  const offset = range.offset ?? 0;
  const rows = Number(page);
  const headers = buildRowHeaders(context, { offset, page: rows, total }, applied);
  if (total !== null && offset > Number(total)) {
    throw new RestError(416, 'PGRST103', 'Requested range not satisfiable', {
      details: `An offset of ${offset} was requested, but there are only ${total} rows.`,
      headers: { 'Content-Range': `*/${total}` },
    });
  }
  const isPartial = total !== null && rows < Number(total);
  return { status: isPartial ? 206 : 200, headers, body };
}

export function getAppliedReadPreferences({ count, handling, timezone }: Preferences): Preferences {
  return {
    ...(count === undefined ? {} : { count }),
    ...(handling === undefined ? {} : { handling }),
    ...(timezone === undefined ? {} : { timezone }),
  };
}
