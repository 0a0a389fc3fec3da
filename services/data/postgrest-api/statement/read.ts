import { RestError } from '../errors.ts';
import type { Order } from '../parse/order.ts';
import type { SelectedField } from '../parse/select.ts';
import type { EmbedNode, ReadNode } from '../plan/tree.ts';
import { fieldOf, whereOf, type Subject } from './conditions.ts';
import type { Table } from '../schema/catalogue.ts';
import { nameOf, quote, quoteKey, type Values } from './sql.ts';

/** Source of the rows of a node. */
export interface Source {
  /** FROM clause. */
  readonly from: string;
  /** Quoted reference of its rows. */
  readonly reference: string;
  /** Row expression of the table's type, when the reference is only a record. */
  readonly row?: string | undefined;
}

/** Returns the rows of `pgrst_source` typed as rows of the table, so that computed fields can be resolved. */
export function rowsOf(name: string, table: Table | undefined): Source {
  const reference = quote(name);
  const from = `pgrst_source AS ${reference}`;
  if (table === undefined) return { from, reference };
  const columns = [...table.columns.keys()].map((column) => `${reference}.${quote(column)}`);
  return { from, reference, row: `ROW(${columns.join(', ')})::${quote(table.schema)}.${quote(table.name)}` };
}

export interface ReadOptions {
  readonly values: Values;
  readonly aggregates: boolean;
  /** Maximum number of rows of an embed for each parent row; undefined disables the limit. */
  readonly maxEmbedRows?: number | undefined;
}

/** Builds the statement that reads a table with all embeds. */
export function readStatement(root: ReadNode, source: Source, limit: Range, options: ReadOptions): string {
  return new Reading(options).select(root, source, limit);
}

/** Builds the statement that counts the same rows. */
export function countStatement(root: ReadNode, source: Source, options: ReadOptions): string {
  return new Reading(options).rows(root, source);
}

export interface Range {
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}

interface Joined {
  readonly node: EmbedNode;
  /** Quoted reference of the lateral join. */
  readonly reference: string;
  readonly join: string;
}

class Reading {
  readonly #options: ReadOptions;
  #names = 0;

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  select(node: ReadNode, source: Source, range: Range, more: readonly string[] = [], isSummedAround = false): string {
    const { values } = this.#options;
    const joined = node.embeds.map((embed) => this.#join(embed, source));
    const subject = subjectOf(node, source, joined);
    const isSummed = sumsOf(node).size > 0;
    refuseSumsOfMany(node);
    if (isSummed && !this.#options.aggregates)
      throw new RestError(400, 'PGRST123', 'Use of aggregate functions is not allowed');
    const isGrouped = isSummed && !isSummedAround;
    const columns = this.#columns(node, subject, joined, isGrouped);
    const where = [...more, whereOf(node.scope.conditions, subject, values)].filter((text) => text !== undefined);
    const groups = isGrouped ? groupsOf(node, subject, joined) : [];
    const order = node.scope.order.map((each) => this.#order(each, node, subject, isGrouped ? joined : []));
    return [
      `SELECT ${columns.join(', ')} FROM ${source.from}`,
      ...joined.map(({ join }) => join),
      ...(where.length > 0 ? [`WHERE ${where.join(' AND ')}`] : []),
      ...(groups.length > 0 ? [`GROUP BY ${groups.join(', ')}`] : []),
      ...(order.length > 0 ? [`ORDER BY ${order.join(', ')}`] : []),
      ...(range.limit === undefined ? [] : [`LIMIT ${range.limit}`]),
      ...(range.offset === undefined || range.offset === 0 ? [] : [`OFFSET ${range.offset}`]),
    ].join(' ');
  }

  rows(node: ReadNode, source: Source): string {
    const joined = node.embeds
      .filter(({ embed, name }) => embed.inner || mentions(node, name))
      .map((embed) => this.#join(embed, source));
    const where = whereOf(node.scope.conditions, subjectOf(node, source, joined), this.#options.values);
    return `SELECT 1 FROM ${source.from} ${joined.map(({ join }) => join).join(' ')}${where === undefined ? '' : ` WHERE ${where}`}`;
  }

  #join(node: EmbedNode, parent: Source): Joined {
    const target = this.#source(node, parent);
    const reference = quote(`${cut(nameOf(node.relationship.from))}_${cut(node.name)}_e${this.#names}`);
    const { maxEmbedRows: mostRows = Infinity } = this.#options;
    const limit = node.isMany ? Math.min(node.scope.limit ?? Infinity, mostRows) : (node.scope.limit ?? Infinity);
    const range = { limit: limit === Infinity ? undefined : limit, offset: node.scope.offset };
    const inner = this.select(node, target.source, range, target.on, isSpreadOne(node));
    const kind = node.embed.inner ? 'INNER' : 'LEFT';
    if (!node.isMany) return { node, reference, join: `${kind} JOIN LATERAL (${inner}) AS ${reference} ON TRUE` };
    const columns = node.embed.spread
      ? outputs(node).map((name) => `json_agg(${reference}.${quote(name)}) AS ${quote(name)}`)
      : [`json_agg(${reference}) AS ${reference}`];
    const gathered = `SELECT ${[...columns, `nullif(count(*), 0) AS "pgrst_found"`].join(', ')} FROM (${inner}) AS ${reference}`;
    const on = node.embed.inner ? `${reference}."pgrst_found" IS NOT NULL` : 'TRUE';
    return { node, reference, join: `${kind} JOIN LATERAL (${gathered}) AS ${reference} ON ${on}` };
  }

  #source({ relationship }: EmbedNode, parent: Source): { readonly source: Source; readonly on: readonly string[] } {
    this.#names += 1;
    const reference = quote(`${cut(nameOf(relationship.to))}_${this.#names}`);
    const { junction, routine } = relationship;
    if (routine !== undefined) {
      const call = `${quote(routine.schema)}.${quote(routine.name)}(${parent.row ?? parent.reference})`;
      return { source: { from: `${call} AS ${reference}`, reference }, on: [] };
    }
    const from = `${quoteKey(relationship.to)} AS ${reference}`;
    if (junction === undefined) {
      const on = relationship.columns.map(
        ([here, there]) => `${reference}.${quote(there)} = ${parent.reference}.${quote(here)}`,
      );
      return { source: { from, reference }, on };
    }
    const between = quote(`${cut(nameOf(junction.table))}_j${this.#names}`);
    const on = [
      ...junction.near.map(([here, there]) => `${between}.${quote(there)} = ${parent.reference}.${quote(here)}`),
      ...junction.far.map(([here, there]) => `${between}.${quote(here)} = ${reference}.${quote(there)}`),
    ];
    return { source: { from: `${from}, ${quoteKey(junction.table)} AS ${between}`, reference }, on };
  }

  #columns(node: ReadNode, subject: Subject, joined: readonly Joined[], isGrouped: boolean): string[] {
    // An embed that only filters has no output.
    const columns: string[] = hasOutput(node) ? [] : ['1 AS "pgrst_one"'];
    for (const item of node.items) {
      if (item.kind === 'star') columns.push(...starOf(node, subject));
      else if (item.kind === 'field') {
        const value = valueOf(item, subject);
        columns.push(`${isGrouped ? summed(value, item) : value} AS ${quote(outputName(item))}`);
      } else {
        const found = embedColumns(
          joined.find((each) => each.node.embed === item),
          isGrouped,
        );
        columns.push(...found.map(({ value, name }) => `${value} AS ${quote(name)}`));
      }
    }
    return columns;
  }

  #order(
    { relation, field, direction, nulls }: Order,
    node: ReadNode,
    subject: Subject,
    grouped: readonly Joined[],
  ): string {
    const expression =
      relation === undefined
        ? fieldOf(field, subject)
        : (spreadColumn(relation, field, grouped) ?? this.#relatedField(relation, field, node, subject));
    const place = nulls === undefined ? '' : ` NULLS ${nulls.toUpperCase()}`;
    return `${expression}${direction === undefined ? '' : ` ${direction.toUpperCase()}`}${place}`;
  }

  /** Orders by a field of the related row. */
  #relatedField(relation: string, field: Order['field'], node: ReadNode, subject: Subject): string {
    const embed = node.embeds.find(({ name, embed: { relation: table } }) => name === relation || table === relation);
    if (embed === undefined) {
      throw new RestError(400, 'PGRST108', `'${relation}' is not an embedded resource in this request`, {
        hint: `Verify that '${relation}' is included in the 'select' query parameter.`,
      });
    }
    const from = node.table?.name ?? '';
    if (embed.isMany) {
      throw new RestError(400, 'PGRST118', `A related order on '${relation}' is not possible`, {
        details: `'${from}' and '${relation}' do not form a many-to-one or one-to-one relationship`,
      });
    }
    const { source, on } = this.#source(embed, { from: '', reference: subject.reference });
    const there: Subject = {
      reference: source.reference,
      columns: embed.table?.columns ?? new Map(),
      embed: () => undefined,
    };
    return `(SELECT ${fieldOf(field, there)} FROM ${source.from}${on.length > 0 ? ` WHERE ${on.join(' AND ')}` : ''})`;
  }
}

/** Returns the column of a spread embed for ordering: grouped rows can only be ordered by grouped columns. */
function spreadColumn(relation: string, field: Order['field'], grouped: readonly Joined[]): string | undefined {
  const found = grouped.find(({ node }) => node.name === relation || node.embed.relation === relation);
  if (found === undefined || !isSpreadOne(found.node) || field.path.length > 0) return undefined;
  return embedColumns(found, true).find(({ name }) => name === field.name)?.value;
}

/**
 * Refuses aggregates of to-many spreads.
 *
 * @throws RestError PGRST127
 */
function refuseSumsOfMany(node: ReadNode): void {
  if (!node.embeds.some((embed) => embed.embed.spread && embed.isMany && sumsOf(embed).size > 0)) return;
  throw new RestError(400, 'PGRST127', 'Feature not implemented', {
    details: 'Aggregates are not implemented for one-to-many or many-to-many spreads.',
  });
}

function subjectOf(node: ReadNode, { reference, row }: Source, joined: readonly Joined[]): Subject {
  return {
    reference,
    row,
    schema: node.table?.schema,
    columns: node.table?.columns ?? new Map(),
    embed(name) {
      const found = joined.find((each) => each.node.name === name || each.node.embed.relation === name);
      if (found === undefined) return undefined;
      return found.node.isMany ? `${found.reference}."pgrst_found"` : found.reference;
    },
  };
}

/** Returns all columns, one by one when a conversion of a domain applies. */
function starOf({ table }: ReadNode, subject: Subject): readonly string[] {
  if (table?.hasRepresentations !== true) return [`${subject.reference}.*`];
  return [...table.columns.keys()].map((name) => `${writtenOf(name, subject)} AS ${quote(name)}`);
}

/** Returns a column, converted for clients. */
function writtenOf(name: string, subject: Subject): string {
  const write = subject.columns.get(name)?.representation?.toJson;
  const column = fieldOf({ name, path: [] }, subject);
  return write === undefined ? column : `${write}(${column})`;
}

/** Returns the expression of a field before it is aggregated. */
function valueOf({ field, cast, aggregate }: SelectedField, subject: Subject): string {
  const text = field === undefined ? '1' : fieldOf(field, subject);
  const isWritten = field !== undefined && field.path.length === 0 && aggregate === undefined;
  const value = isWritten ? writtenOf(field.name, subject) : text;
  return cast === undefined ? value : `CAST(${value} AS ${cast})`;
}

function summed(value: string, { aggregate, aggregateCast }: Sum): string {
  const text = aggregate === undefined ? value : `${aggregate}(${value})`;
  return aggregateCast === undefined ? text : `CAST(${text} AS ${aggregateCast})`;
}

type Sum = Pick<SelectedField, 'aggregate' | 'aggregateCast'>;

/** Returns the aggregates of a node by output name, including those of spread to-one embeds. */
function sumsOf(node: ReadNode): ReadonlyMap<string, Sum> {
  const own = node.items.flatMap((item): readonly (readonly [string, Sum])[] =>
    item.kind === 'field' && item.aggregate !== undefined ? [[outputName(item), item]] : [],
  );
  return new Map([...node.embeds.filter(isSpreadOne).flatMap((embed) => [...sumsOf(embed)]), ...own]);
}

function isSpreadOne({ embed, isMany }: EmbedNode): boolean {
  return embed.spread && !isMany;
}

/** Returns the name in the response: the alias, the aggregate, the last key of the path, or the column. */
function outputName({ alias, aggregate, field }: SelectedField): string {
  const key = field?.path.findLast((step) => typeof step.key === 'string')?.key;
  return alias ?? aggregate ?? (typeof key === 'string' ? key : (field?.name ?? 'count'));
}

function outputs(node: ReadNode): readonly string[] {
  return node.items.flatMap((item) => {
    if (item.kind === 'star') return [...(node.table?.columns.keys() ?? [])];
    if (item.kind === 'field') return [outputName(item)];
    const embed = node.embeds.find((each) => each.embed === item);
    if (embed === undefined || !hasOutput(embed)) return [];
    return embed.embed.spread ? outputs(embed) : [embed.name];
  });
}

interface Column {
  readonly name: string;
  readonly value: string;
  readonly isSummed: boolean;
}

/** Returns true when a node has output: an embed that contains only empty embeds just filters. */
function hasOutput(node: ReadNode): boolean {
  return node.items.some((item) => {
    if (item.kind !== 'embed') return true;
    const embed = node.embeds.find((each) => each.embed === item);
    return embed !== undefined && hasOutput(embed);
  });
}

/** Returns the output columns of spreads that contain JSON. PostgreSQL can group only by its binary form. */
function embedNames(node: ReadNode): ReadonlySet<string> {
  return new Set(
    node.embeds.flatMap((embed) =>
      embed.embed.spread ? [...embedNames(embed)] : hasOutput(embed) ? [embed.name] : [],
    ),
  );
}

function embedColumns(joined: Joined | undefined, isGrouped: boolean): readonly Column[] {
  if (joined === undefined || !hasOutput(joined.node)) return [];
  const { node, reference } = joined;
  if (node.embed.spread) {
    const sums = isGrouped && isSpreadOne(node) ? sumsOf(node) : new Map<string, Sum>();
    const inJson = isGrouped ? embedNames(node) : new Set<string>();
    return outputs(node).map((name) => {
      const column = `${reference}.${quote(name)}`;
      const sum = sums.get(name);
      if (sum !== undefined) return { name, value: summed(column, sum), isSummed: true };
      const value = inJson.has(name) ? `${column}::jsonb` : column;
      return { name, value: node.isMany ? `COALESCE(${column}, '[]')` : value, isSummed: false };
    });
  }
  const value = node.isMany ? `COALESCE(${reference}.${reference}, '[]')` : `row_to_json(${reference}.*)`;
  return [{ name: node.name, value: `${value}${isGrouped ? '::jsonb' : ''}`, isSummed: false }];
}

/** Returns the GROUP BY list: all columns besides the aggregates. */
function groupsOf(node: ReadNode, subject: Subject, joined: readonly Joined[]): readonly string[] {
  return node.items.flatMap((item) => {
    if (item.kind === 'star') return [...(node.table?.columns.keys() ?? [])].map((name) => writtenOf(name, subject));
    if (item.kind === 'field') return item.aggregate === undefined ? [valueOf(item, subject)] : [];
    const columns = embedColumns(
      joined.find((each) => each.node.embed === item),
      true,
    );
    return columns.filter(({ isSummed }) => !isSummed).map(({ value }) => value);
  });
}

function mentions({ scope }: ReadNode, name: string): boolean {
  return JSON.stringify(scope.conditions).includes(JSON.stringify(name));
}

/** Truncates a name: identifiers of PostgreSQL end at 63 bytes, and the distinguishing suffix comes last. */
function cut(name: string): string {
  return Buffer.byteLength(name) <= 24 ? name : Buffer.from(name).subarray(0, 24).toString().replaceAll('\uFFFD', '');
}
