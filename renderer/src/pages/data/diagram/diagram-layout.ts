import { Graph, layout } from '@dagrejs/dagre';
import type { DataDiagramTable, DataForeignKey } from '../../../../../services/contracts/data/schema.ts';

/** Heights in px of the title of a table and of a column. */
export const titleHeight = 36;
export const rowHeight = 24;
const maxColumns = 16;
const [minWidth, maxWidth] = [150, 300];
/** Average width of a character in px at the font size of the diagram. */
const characterWidth = 7.2;
const gap = 40;

type Column = DataDiagramTable['columns'][number];

/** Table with its position in px. */
export interface PlacedTable {
  readonly id: string;
  readonly table: DataDiagramTable;
  /** Visible columns; the others are counted by `hiddenColumns`. */
  readonly columns: readonly Column[];
  readonly hiddenColumns: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Foreign key as a line. */
export interface PlacedKey {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** Path in SVG syntax. */
  readonly path: string;
}

export interface DiagramLayout {
  readonly tables: readonly PlacedTable[];
  readonly keys: readonly PlacedKey[];
  readonly width: number;
  readonly height: number;
}

type Sized = Omit<PlacedTable, 'x' | 'y'>;

/** Builds the ID of a table: schema and name cannot contain NUL. */
export const toTableId = (schema: string, name: string): string => `${schema}\0${name}`;

/**
 * Places related tables from left to right along their foreign keys, and unrelated groups of tables in rows.
 *
 * @param keysOnly shows only the columns of primary and foreign keys
 */
export function layOutDiagram(
  tables: readonly DataDiagramTable[],
  foreignKeys: readonly DataForeignKey[],
  keysOnly: boolean,
): DiagramLayout {
  const ids = new Set(tables.map(({ schema, name }) => toTableId(schema, name)));
  const links = foreignKeys
    .map((key) => ({
      key,
      from: toTableId(key.from.schema, key.from.table),
      to: toTableId(key.to.schema, key.to.table),
    }))
    .filter(({ from, to }) => ids.has(from) && ids.has(to));
  const keyColumns = new Set(
    foreignKeys.flatMap(({ from }) => from.columns.map((column) => `${toTableId(from.schema, from.table)}\0${column}`)),
  );
  const sized = tables.map((table) => measure(table, keysOnly, keyColumns));
  const groups = groupConnected(sized, links).map((group) => placeGroup(group, links));
  const placed = packGroups(groups);
  const byId = new Map(placed.map((table) => [table.id, table]));
  return {
    tables: placed,
    keys: links.flatMap(({ key, from, to }, index) => {
      const [source, target] = [byId.get(from), byId.get(to)];
      if (source === undefined || target === undefined) return [];
      const id = `${from}\0${key.name}\0${String(index)}`;
      return [{ id, from, to, path: drawKey(source, key.from.columns[0], target, key.to.columns[0]) }];
    }),
    ...measureAll(placed),
  };
}

function measure(table: DataDiagramTable, keysOnly: boolean, keyColumns: ReadonlySet<string>): Sized {
  const id = toTableId(table.schema, table.name);
  const requested = table.columns.filter(({ name, isKey }) => !keysOnly || isKey || keyColumns.has(`${id}\0${name}`));
  const columns = requested.slice(0, maxColumns);
  const hiddenColumns = table.columns.length - columns.length;
  const lengths = columns.map(({ name, type }) => name.length + Math.min(type.length, 16) + 5);
  const characters = Math.max(table.name.length + 6, ...lengths);
  return {
    id,
    table,
    columns,
    hiddenColumns,
    width: Math.round(Math.min(maxWidth, Math.max(minWidth, characters * characterWidth))),
    height: titleHeight + (columns.length + (hiddenColumns > 0 ? 1 : 0)) * rowHeight,
  };
}

interface Link {
  readonly from: string;
  readonly to: string;
}

/** Tables that are connected by foreign keys, placed from the point 0, 0. */
interface Group {
  readonly tables: readonly PlacedTable[];
  readonly width: number;
  readonly height: number;
}

/** Groups the tables that are connected by foreign keys; the largest group is the first. */
function groupConnected(tables: readonly Sized[], links: readonly Link[]): readonly (readonly Sized[])[] {
  const groups = new Map(tables.map((table) => [table.id, [table]]));
  for (const { from, to } of links) {
    const [first, second] = [groups.get(from) ?? [], groups.get(to) ?? []];
    if (first === second) continue;
    first.push(...second);
    for (const { id } of second) groups.set(id, first);
  }
  return [...new Set(groups.values())].toSorted((first, second) => second.length - first.length);
}

function placeGroup(tables: readonly Sized[], links: readonly Link[]): Group {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: gap, ranksep: gap * 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, width, height } of tables) graph.setNode(id, { width, height });
  for (const [index, { from, to }] of links.entries())
    if (from !== to && graph.hasNode(from)) graph.setEdge(from, to, {}, String(index));
  layout(graph);
  const placed = tables.map((table) => {
    // The layout reports the centers of the tables.
    const { x = 0, y = 0 } = graph.node(table.id) as { readonly x?: number; readonly y?: number };
    return { ...table, x: x - table.width / 2, y: y - table.height / 2 };
  });
  const { width, height } = measureAll(placed);
  return { tables: placed, width, height };
}

/** Places the groups in rows, up to the width of a landscape page. */
function packGroups(groups: readonly Group[]): readonly PlacedTable[] {
  const area = groups.reduce((sum, { width, height }) => sum + (width + gap) * (height + gap), 0);
  const pageWidth = Math.max(Math.sqrt(area * 2), ...groups.map(({ width }) => width));
  let [x, y, lineHeight] = [0, 0, 0];
  return groups.flatMap((group) => {
    if (x > 0 && x + group.width > pageWidth) [x, y, lineHeight] = [0, y + lineHeight + gap, 0];
    const [left, top] = [x, y];
    x += group.width + gap;
    lineHeight = Math.max(lineHeight, group.height);
    return group.tables.map((table) => ({ ...table, x: table.x + left, y: table.y + top }));
  });
}

function measureAll(tables: readonly PlacedTable[]): { readonly width: number; readonly height: number } {
  return {
    width: Math.max(0, ...tables.map(({ x, width }) => x + width)),
    height: Math.max(0, ...tables.map(({ y, height }) => y + height)),
  };
}

/** Draws a curve between the facing sides of two tables, at the height of their columns. */
function drawKey(
  source: PlacedTable,
  sourceColumn: string | undefined,
  target: PlacedTable,
  targetColumn: string | undefined,
): string {
  const [startY, endY] = [getColumnY(source, sourceColumn), getColumnY(target, targetColumn)];
  const isBefore = source.x + source.width <= target.x;
  const isAfter = target.x + target.width <= source.x;
  const startX = isAfter ? source.x : source.x + source.width;
  const endX = isBefore ? target.x : target.x + target.width;
  const bend = Math.max(30, Math.abs(endX - startX) / 2);
  const startBend = isAfter ? startX - bend : startX + bend;
  const endBend = isBefore ? endX - bend : endX + bend;
  return `M${startX},${startY} C${startBend},${startY} ${endBend},${endY} ${endX},${endY}`;
}

function getColumnY({ y, columns }: PlacedTable, column: string | undefined): number {
  const index = columns.findIndex(({ name }) => name === column);
  return index === -1 ? y + titleHeight / 2 : y + titleHeight + (index + 0.5) * rowHeight;
}

/** Groups the columns that reference other tables by the ID of their table. */
export function groupReferences(foreignKeys: readonly DataForeignKey[]): ReadonlyMap<string, ReadonlySet<string>> {
  const columns = new Map<string, Set<string>>();
  for (const { from } of foreignKeys) {
    const id = toTableId(from.schema, from.table);
    const tableColumns = columns.get(id) ?? new Set();
    for (const column of from.columns) tableColumns.add(column);
    columns.set(id, tableColumns);
  }
  return columns;
}

/** Shortens a text to a width in px. */
export function fitText(text: string, width: number): string {
  const maxLength = Math.max(3, Math.floor(width / characterWidth));
  const characters = [...text];
  return characters.length <= maxLength ? text : `${characters.slice(0, maxLength - 1).join('')}…`;
}
