import { RestError } from '../errors.ts';
import type { Order } from '../parse/order.ts';
import type { SelectedField } from '../parse/select.ts';
import type { EmbedNode, ReadNode } from '../plan/tree.ts';
import { buildField, type Subject } from './conditions.ts';
import { quote } from './sql.ts';

/** Source of the rows of a node. */
export interface Source {
  /** FROM clause. */
  readonly from: string;
  /** Quoted reference of its rows. */
  readonly reference: string;
  /** Row expression of the table's type, when the reference is only a record. */
  readonly row?: string | undefined;
}

export interface JoinedEmbed {
  readonly node: EmbedNode;
  /** Quoted reference of the lateral join. */
  readonly reference: string;
  readonly join: string;
}

/** Returns the column of a spread embed for ordering: grouped rows can only be ordered by grouped columns. */
export function findSpreadColumn(
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
export function refuseToManyAggregates(node: ReadNode): void {
  if (!node.embeds.some((embed) => embed.embed.spread && embed.isMany && getAggregates(embed).size > 0)) return;
  throw new RestError(400, 'PGRST127', 'Feature not implemented', {
    details: 'Aggregates are not implemented for one-to-many or many-to-many spreads.',
  });
}

export function toSubject(node: ReadNode, { reference, row }: Source, joined: readonly JoinedEmbed[]): Subject {
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
export function buildStar({ table }: ReadNode, subject: Subject): readonly string[] {
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
export function buildValue({ field, cast, aggregate }: SelectedField, subject: Subject): string {
  const text = field === undefined ? '1' : buildField(field, subject);
  const isWritten = field !== undefined && field.path.length === 0 && aggregate === undefined;
  const value = isWritten ? buildOutputColumn(field.name, subject) : text;
  return cast === undefined ? value : `CAST(${value} AS ${cast})`;
}

export function buildAggregate(value: string, { aggregate, aggregateCast }: Aggregation): string {
  const text = aggregate === undefined ? value : `${aggregate}(${value})`;
  return aggregateCast === undefined ? text : `CAST(${text} AS ${aggregateCast})`;
}

type Aggregation = Pick<SelectedField, 'aggregate' | 'aggregateCast'>;

/** Returns the aggregates of a node by output name, including those of spread to-one embeds. */
export function getAggregates(node: ReadNode): ReadonlyMap<string, Aggregation> {
  const ownAggregates = node.items.flatMap((item): readonly (readonly [string, Aggregation])[] =>
    item.kind === 'field' && item.aggregate !== undefined ? [[getOutputName(item), item]] : [],
  );
  return new Map([...node.embeds.filter(isSpreadOne).flatMap((embed) => [...getAggregates(embed)]), ...ownAggregates]);
}

export function isSpreadOne({ embed, isMany }: EmbedNode): boolean {
  return embed.spread && !isMany;
}

/** Returns the name in the response: the alias, the aggregate, the last key of the path, or the column. */
export function getOutputName({ alias, aggregate, field }: SelectedField): string {
  const key = field?.path.findLast((step) => typeof step.key === 'string')?.key;
  return alias ?? aggregate ?? (typeof key === 'string' ? key : (field?.name ?? 'count'));
}

export function getOutputNames(node: ReadNode): readonly string[] {
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
export function hasOutput(node: ReadNode): boolean {
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

export function buildEmbedColumns(joined: JoinedEmbed | undefined, isGrouped: boolean): readonly Column[] {
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
export function buildGroups(node: ReadNode, subject: Subject, joined: readonly JoinedEmbed[]): readonly string[] {
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

export function refersTo({ scope }: ReadNode, name: string): boolean {
  return JSON.stringify(scope.conditions).includes(JSON.stringify(name));
}

/** Truncates a name: identifiers of PostgreSQL end at 63 bytes, and the distinguishing suffix comes last. */
export function truncateName(name: string): string {
  return Buffer.byteLength(name) <= 24 ? name : Buffer.from(name).subarray(0, 24).toString().replaceAll('\uFFFD', '');
}
