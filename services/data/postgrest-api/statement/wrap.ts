import type { MediaType } from '../parse/accept.ts';

/** Parts of the complete statement of a request. */
export interface StatementParts {
  /** Media type of the rows. */
  readonly media: MediaType;
  /** Statement that reads or writes the rows, available as `pgrst_source`. */
  readonly source: string;
  /** Statement that reads `pgrst_source`; undefined for a response without rows. */
  readonly read: string | undefined;
  /** Statement that counts all rows; undefined when no count was requested. */
  readonly count: string | undefined;
  readonly isScalar?: boolean;
  /** True for a single value instead of a list. */
  readonly isOne?: boolean;
  /** Further columns of the result row. */
  readonly more?: readonly string[];
}

/**
 * Maximum size of a response body. Larger ones stay in PostgreSQL, because the driver cannot handle texts of 512 MiB.
 */
export const maxResponseBytes = 128 * 1024 * 1024;

/**
 * Builds the complete statement of a request. It returns one row with the body, the counts, and the status and headers
 * that functions have set.
 */
export function wrapStatement({
  media,
  source,
  read,
  count,
  isScalar = false,
  isOne = false,
  more: extraColumns = [],
}: StatementParts): string {
  const total = count === undefined ? 'null' : '(SELECT count(*) FROM pgrst_count)';
  const columns = [
    `${total}::text AS total`,
    'count(*)::text AS page',
    `${read === undefined ? "''" : buildBody(media, isScalar, isOne)}::text AS body`,
    `nullif(current_setting('response.headers', true), '') AS headers`,
    `nullif(current_setting('response.status', true), '') AS status`,
    ...extraColumns,
  ];
  const expressions = [
    `pgrst_source AS (${source})`,
    ...(read === undefined ? [] : [`pgrst_rows AS (${read})`]),
    ...(count === undefined ? [] : [`pgrst_count AS (${count})`]),
  ];
  const resultStatement = `SELECT ${columns.join(', ')} FROM (SELECT *
    FROM ${read === undefined ? 'pgrst_source' : 'pgrst_rows'}) AS pgrst_t`;
  return `WITH ${expressions.join(', ')}, pgrst_answer AS (${resultStatement})
    SELECT ${['total', 'page', 'headers', 'status', ...extraColumns.map(getAlias)].join(', ')},
    CASE WHEN octet_length(body) <= ${maxResponseBytes} THEN body END AS body FROM pgrst_answer`;
}

/** Returns the alias of a column expression. */
function getAlias(column: string): string {
  return column.slice(column.lastIndexOf(' ') + 1);
}

function buildBody({ kind, nullsStripped }: MediaType, isScalar: boolean, isOne: boolean): string {
  const value = isScalar ? 'pgrst_t.pgrst_scalar' : 'pgrst_t';
  if (kind === 'csv') return isScalar ? `coalesce(string_agg(${value}::text, E'\\n'), '')` : csvExpression;
  const list = `json_agg(${value})`;
  const stripped = nullsStripped ? `json_strip_nulls(${list})` : list;
  if (kind === 'object' || isOne) return `coalesce((${stripped}->0)::text, 'null')`;
  return `coalesce(${stripped}, '[]')`;
}

/** Expression for CSV: the text form of a row is CSV in parentheses. */
const csvExpression = `(SELECT coalesce(string_agg(name, ','), '') FROM (SELECT json_object_keys(r) AS name
  FROM (SELECT row_to_json(each) AS r FROM pgrst_rows AS each
  LIMIT 1) AS first) AS names) || E'\\n' || coalesce(string_agg(substring(pgrst_t::text, 2, length(pgrst_t::text) -
  2), E'\\n'), '')`;
