import { RestError } from '../errors.ts';
import type { Order } from '../parse/order.ts';
import type { EmbedNode, ReadNode } from '../plan/tree.ts';
import { buildField, buildWhere, type Subject } from './conditions.ts';
import type { Table } from '../schema/catalogue.ts';
import { getTableName, quote, quoteKey, type Values } from './sql.ts';
import {
  type Source,
  type JoinedEmbed,
  findSpreadColumn,
  refuseToManyAggregates,
  toSubject,
  buildStar,
  buildValue,
  buildAggregate,
  getAggregates,
  isSpreadOne,
  getOutputName,
  getOutputNames,
  hasOutput,
  buildEmbedColumns,
  buildGroups,
  refersTo,
  truncateName,
} from './read-output.ts';

/** Returns the rows of `pgrst_source` typed as rows of the table, so that computed fields can be resolved. */
export function getTypedRows(name: string, table: Table | undefined): Source {
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
export function buildReadStatement(root: ReadNode, source: Source, limit: Range, options: ReadOptions): string {
  return new ReadBuilder(options).select(root, source, limit);
}

/** Builds the statement that counts the same rows. */
export function buildCountStatement(root: ReadNode, source: Source, options: ReadOptions): string {
  return new ReadBuilder(options).rows(root, source);
}

export interface Range {
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}

class ReadBuilder {
  readonly #options: ReadOptions;
  #names = 0;

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  select(
    node: ReadNode,
    source: Source,
    range: Range,
    extraConditions: readonly string[] = [],
    isParentAggregated = false,
  ): string {
    const { values } = this.#options;
    const joined = node.embeds.map((embed) => this.#join(embed, source));
    const subject = toSubject(node, source, joined);
    const hasAggregates = getAggregates(node).size > 0;
    refuseToManyAggregates(node);
    if (hasAggregates && !this.#options.aggregates)
      throw new RestError(400, 'PGRST123', 'Use of aggregate functions is not allowed');
    const isGrouped = hasAggregates && !isParentAggregated;
    const columns = this.#columns(node, subject, joined, isGrouped);
    const where = [...extraConditions, buildWhere(node.scope.conditions, subject, values)].filter(
      (text) => text !== undefined,
    );
    const groups = isGrouped ? buildGroups(node, subject, joined) : [];
    const order = node.scope.order.map((each) => this.#order(each, node, subject, isGrouped ? joined : [], isGrouped));
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
      .filter(({ embed, name }) => embed.inner || refersTo(node, name))
      .map((embed) => this.#join(embed, source));
    const where = buildWhere(node.scope.conditions, toSubject(node, source, joined), this.#options.values);
    return `SELECT 1 FROM ${source.from} ${joined.map(({ join }) => join).join(' ')}${where === undefined ? '' : ` WHERE ${where}`}`;
  }

  #join(node: EmbedNode, parent: Source): JoinedEmbed {
    const target = this.#source(node, parent);
    const reference = quote(
      `${truncateName(getTableName(node.relationship.from))}_${truncateName(node.name)}_e${this.#names}`,
    );
    const { maxEmbedRows: maxRows = Infinity } = this.#options;
    const limit = node.isMany ? Math.min(node.scope.limit ?? Infinity, maxRows) : (node.scope.limit ?? Infinity);
    const range = { limit: limit === Infinity ? undefined : limit, offset: node.scope.offset };
    const inner = this.select(node, target.source, range, target.on, isSpreadOne(node));
    const kind = node.embed.inner ? 'INNER' : 'LEFT';
    if (!node.isMany) return { node, reference, join: `${kind} JOIN LATERAL (${inner}) AS ${reference} ON TRUE` };
    const columns = node.embed.spread
      ? getOutputNames(node).map((name) => `json_agg(${reference}.${quote(name)}) AS ${quote(name)}`)
      : [`json_agg(${reference}) AS ${reference}`];
    const aggregated = `SELECT ${[...columns, `nullif(count(*), 0) AS "pgrst_found"`].join(', ')} FROM (${inner}) AS ${reference}`;
    const on = node.embed.inner ? `${reference}."pgrst_found" IS NOT NULL` : 'TRUE';
    return { node, reference, join: `${kind} JOIN LATERAL (${aggregated}) AS ${reference} ON ${on}` };
  }

  #source({ relationship }: EmbedNode, parent: Source): { readonly source: Source; readonly on: readonly string[] } {
    this.#names += 1;
    const reference = quote(`${truncateName(getTableName(relationship.to))}_${this.#names}`);
    const { junction, routine } = relationship;
    if (routine !== undefined) {
      const call = `${quote(routine.schema)}.${quote(routine.name)}(${parent.row ?? parent.reference})`;
      return { source: { from: `${call} AS ${reference}`, reference }, on: [] };
    }
    const from = `${quoteKey(relationship.to)} AS ${reference}`;
    if (junction === undefined) {
      const on = relationship.columns.map(
        ([column, relatedSubject]) => `${reference}.${quote(relatedSubject)} = ${parent.reference}.${quote(column)}`,
      );
      return { source: { from, reference }, on };
    }
    const junctionReference = quote(`${truncateName(getTableName(junction.table))}_j${this.#names}`);
    const on = [
      ...junction.near.map(
        ([column, relatedSubject]) =>
          `${junctionReference}.${quote(relatedSubject)} = ${parent.reference}.${quote(column)}`,
      ),
      ...junction.far.map(
        ([column, relatedSubject]) => `${junctionReference}.${quote(column)} = ${reference}.${quote(relatedSubject)}`,
      ),
    ];
    return { source: { from: `${from}, ${quoteKey(junction.table)} AS ${junctionReference}`, reference }, on };
  }

  #columns(node: ReadNode, subject: Subject, joined: readonly JoinedEmbed[], isGrouped: boolean): string[] {
    // An embed that only filters has no output.
    const columns: string[] = hasOutput(node) ? [] : ['1 AS "pgrst_one"'];
    for (const item of node.items) {
      if (item.kind === 'star') columns.push(...buildStar(node, subject));
      else if (item.kind === 'field') {
        const value = buildValue(item, subject);
        columns.push(`${isGrouped ? buildAggregate(value, item) : value} AS ${quote(getOutputName(item))}`);
      } else {
        const outputColumns = buildEmbedColumns(
          joined.find((each) => each.node.embed === item),
          isGrouped,
        );
        columns.push(...outputColumns.map(({ value, name }) => `${value} AS ${quote(name)}`));
      }
    }
    return columns;
  }

  #order(
    { relation, field, direction, nulls }: Order,
    node: ReadNode,
    subject: Subject,
    grouped: readonly JoinedEmbed[],
    isGrouped: boolean,
  ): string {
    const expression =
      relation === undefined
        ? buildField(field, subject)
        : (findSpreadColumn(relation, field, grouped) ?? this.#relatedValue(relation, field, node, subject, isGrouped));
    const nullsOrder = nulls === undefined ? '' : ` NULLS ${nulls.toUpperCase()}`;
    return `${expression}${direction === undefined ? '' : ` ${direction.toUpperCase()}`}${nullsOrder}`;
  }

  /** Orders groups by the related value of one of their rows: the field itself does not need to be grouped. */
  #relatedValue(relation: string, field: Order['field'], node: ReadNode, subject: Subject, isGrouped: boolean): string {
    const value = this.#relatedField(relation, field, node, subject);
    return isGrouped ? `(array_agg(${value}))[1]` : value;
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
    const relatedSubject: Subject = {
      reference: source.reference,
      columns: embed.table?.columns ?? new Map(),
      embed: () => undefined,
    };
    return `(SELECT ${buildField(field, relatedSubject)} FROM ${source.from}${on.length > 0 ? ` WHERE ${on.join(' AND ')}` : ''})`;
  }
}
