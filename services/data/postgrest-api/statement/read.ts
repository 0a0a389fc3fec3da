import { RestError } from '../errors.ts';
import type { Order } from '../parse/order.ts';
import type { SelectedField } from '../parse/select.ts';
import type { EmbedNode, ReadNode } from '../plan/tree.ts';
import { buildField, buildWhere, type Subject } from './conditions.ts';
import type { Table } from '../schema/catalogue.ts';
import { getTableName, quote, quoteKey, type Values } from './sql.ts';

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

interface JoinedEmbed {
  readonly node: EmbedNode;
  /** Quoted reference of the lateral join. */
  readonly reference: string;
  readonly join: string;
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

/** Returns the column of a spread embed for ordering: grouped rows can only be ordered by grouped columns. */
function findSpreadColumn(
  relation: string,
  field: Order['field'],
  grouped: readonly JoinedEmbed[],
): string | undefined {
  const joinedEmbed = grouped.find(({ node }) => node.name === relation || node.embed.relation === relation);
  if (joinedEmbed === undefined || !isSpreadOne(joinedEmbed.node) || field.path.length > 0) return undefined;
  return buildEmbedColumns(joinedEmbed, true).find(({ name }) => name === field.name)?.value;
}

/**
 * Refuses aggregates of to-many spreads.
 *
 * @throws RestError PGRST127
 */
function refuseToManyAggregates(node: ReadNode): void {
  if (!node.embeds.some((embed) => embed.embed.spread && embed.isMany && getAggregates(embed).size > 0)) return;
  throw new RestError(400, 'PGRST127', 'Feature not implemented', {
    details: 'Aggregates are not implemented for one-to-many or many-to-many spreads.',
  });
}

function toSubject(node: ReadNode, { reference, row }: Source, joined: readonly JoinedEmbed[]): Subject {
  return {
    reference,
    row,
    schema: node.table?.schema,
    columns: node.table?.columns ?? new Map(),
    embed(name) {
      const joinedEmbed = joined.find((each) => each.node.name === name || each.node.embed.relation === name);
      if (joinedEmbed === undefined) return undefined;
      return joinedEmbed.node.isMany ? `${joinedEmbed.reference}."pgrst_found"` : joinedEmbed.reference;
    },
  };
}

/** Returns all columns, one by one when a conversion of a domain applies. */
function buildStar({ table }: ReadNode, subject: Subject): readonly string[] {
  if (table?.hasRepresentations !== true) return [`${subject.reference}.*`];
  return [...table.columns.keys()].map((name) => `${buildOutputColumn(name, subject)} AS ${quote(name)}`);
}

/** Returns a column, converted for clients. */
function buildOutputColumn(name: string, subject: Subject): string {
  const write = subject.columns.get(name)?.representation?.toJson;
  const column = buildField({ name, path: [] }, subject);
  return write === undefined ? column : `${write}(${column})`;
}

/** Returns the expression of a field before it is aggregated. */
function buildValue({ field, cast, aggregate }: SelectedField, subject: Subject): string {
  const text = field === undefined ? '1' : buildField(field, subject);
  const isWritten = field !== undefined && field.path.length === 0 && aggregate === undefined;
  const value = isWritten ? buildOutputColumn(field.name, subject) : text;
  return cast === undefined ? value : `CAST(${value} AS ${cast})`;
}

function buildAggregate(value: string, { aggregate, aggregateCast }: Aggregation): string {
  const text = aggregate === undefined ? value : `${aggregate}(${value})`;
  return aggregateCast === undefined ? text : `CAST(${text} AS ${aggregateCast})`;
}

type Aggregation = Pick<SelectedField, 'aggregate' | 'aggregateCast'>;

/** Returns the aggregates of a node by output name, including those of spread to-one embeds. */
function getAggregates(node: ReadNode): ReadonlyMap<string, Aggregation> {
  const ownAggregates = node.items.flatMap((item): readonly (readonly [string, Aggregation])[] =>
    item.kind === 'field' && item.aggregate !== undefined ? [[getOutputName(item), item]] : [],
  );
  return new Map([...node.embeds.filter(isSpreadOne).flatMap((embed) => [...getAggregates(embed)]), ...ownAggregates]);
}

function isSpreadOne({ embed, isMany }: EmbedNode): boolean {
  return embed.spread && !isMany;
}

/** Returns the name in the response: the alias, the aggregate, the last key of the path, or the column. */
function getOutputName({ alias, aggregate, field }: SelectedField): string {
  const key = field?.path.findLast((step) => typeof step.key === 'string')?.key;
  return alias ?? aggregate ?? (typeof key === 'string' ? key : (field?.name ?? 'count'));
}

function getOutputNames(node: ReadNode): readonly string[] {
  return node.items.flatMap((item) => {
    if (item.kind === 'star') return [...(node.table?.columns.keys() ?? [])];
    if (item.kind === 'field') return [getOutputName(item)];
    const embed = node.embeds.find((each) => each.embed === item);
    if (embed === undefined || !hasOutput(embed)) return [];
    return embed.embed.spread ? getOutputNames(embed) : [embed.name];
  });
}

interface Column {
  readonly name: string;
  readonly value: string;
  readonly isAggregated: boolean;
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
function getJsonColumnNames(node: ReadNode): ReadonlySet<string> {
  return new Set(
    node.embeds.flatMap((embed) =>
      embed.embed.spread ? [...getJsonColumnNames(embed)] : hasOutput(embed) ? [embed.name] : [],
    ),
  );
}

function buildEmbedColumns(joined: JoinedEmbed | undefined, isGrouped: boolean): readonly Column[] {
  if (joined === undefined || !hasOutput(joined.node)) return [];
  const { node, reference } = joined;
  if (node.embed.spread) {
    const sums = isGrouped && isSpreadOne(node) ? getAggregates(node) : new Map<string, Aggregation>();
    const inJson = isGrouped ? getJsonColumnNames(node) : new Set<string>();
    return getOutputNames(node).map((name) => {
      const column = `${reference}.${quote(name)}`;
      const sum = sums.get(name);
      if (sum !== undefined) return { name, value: buildAggregate(column, sum), isAggregated: true };
      const value = inJson.has(name) ? `${column}::jsonb` : column;
      return { name, value: node.isMany ? `COALESCE(${column}, '[]')` : value, isAggregated: false };
    });
  }
  const value = node.isMany ? `COALESCE(${reference}.${reference}, '[]')` : `row_to_json(${reference}.*)`;
  return [{ name: node.name, value: `${value}${isGrouped ? '::jsonb' : ''}`, isAggregated: false }];
}

/** Returns the GROUP BY list: all columns in addition to the aggregates. */
function buildGroups(node: ReadNode, subject: Subject, joined: readonly JoinedEmbed[]): readonly string[] {
  return node.items.flatMap((item) => {
    if (item.kind === 'star')
      return [...(node.table?.columns.keys() ?? [])].map((name) => buildOutputColumn(name, subject));
    if (item.kind === 'field') return item.aggregate === undefined ? [buildValue(item, subject)] : [];
    const columns = buildEmbedColumns(
      joined.find((each) => each.node.embed === item),
      true,
    );
    return columns.filter(({ isAggregated: hasAggregates }) => !hasAggregates).map(({ value }) => value);
  });
}

function refersTo({ scope }: ReadNode, name: string): boolean {
  return JSON.stringify(scope.conditions).includes(JSON.stringify(name));
}

/** Truncates a name: identifiers of PostgreSQL end at 63 bytes, and the distinguishing suffix comes last. */
function truncateName(name: string): string {
  return Buffer.byteLength(name) <= 24 ? name : Buffer.from(name).subarray(0, 24).toString().replaceAll('\uFFFD', '');
}
