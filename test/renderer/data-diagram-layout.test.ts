import { describe, expect, it } from 'vitest';
import { fitText, layOutDiagram, type PlacedTable } from '../../renderer/src/pages/data/diagram/diagram-layout.ts';
import { suggestIndexName } from '../../renderer/src/pages/data/schema/index-name.ts';

const column = (name: string, isKey = false) => ({ name, type: 'integer', isKey, isNullable: false, isUnique: false });
const createTable = (name: string, columns = [column('id', true), column('parent'), column('text')]) => ({
  schema: 'public',
  name,
  isView: false,
  isServed: true,
  columns,
});
const createKey = (from: string, to: string) => ({
  name: `${from}_${to}`,
  from: { schema: 'public', table: from, columns: ['parent'] },
  to: { schema: 'public', table: to, columns: ['id'] },
});

function overlaps(first: PlacedTable, second: PlacedTable): boolean {
  return (
    first.x < second.x + second.width &&
    second.x < first.x + first.width &&
    first.y < second.y + second.height &&
    second.y < first.y + first.height
  );
}

describe('layOutDiagram', () => {
  it('places a hundred tables without overlaps, related or not', () => {
    const tables = Array.from({ length: 100 }, (_, index) => createTable(`table_${String(index)}`));
    const keys = Array.from({ length: 60 }, (_, index) =>
      createKey(`table_${String(index + 1)}`, `table_${String(Math.floor(index / 3))}`),
    );
    const { tables: placed, keys: lines, width, height } = layOutDiagram(tables, keys, false);
    expect([placed.length, lines.length]).toEqual([100, 60]);
    const pairs = placed.flatMap((first, index) => placed.slice(index + 1).map((second) => [first, second] as const));
    expect(pairs.filter(([first, second]) => overlaps(first, second))).toEqual([]);
    for (const { x, y, width: own, height: ownHeight } of placed) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(y).toBeGreaterThanOrEqual(0);
      expect(x + own).toBeLessThanOrEqual(width);
      expect(y + ownHeight).toBeLessThanOrEqual(height);
    }
  });

  it('shows only the key columns on request, and limits the columns of a wide table', () => {
    const wide = createTable('wide', [
      column('id', true),
      ...Array.from({ length: 40 }, (_, index) => column(`column_${String(index)}`)),
    ]);
    const [table] = layOutDiagram([wide], [], false).tables;
    expect([table?.columns.length, table?.hiddenColumns]).toEqual([16, 25]);
    const keyed = layOutDiagram([createTable('ships'), createTable('ports')], [createKey('ships', 'ports')], true);
    expect(keyed.tables.map(({ columns }) => columns.map(({ name }) => name))).toEqual([['id', 'parent'], ['id']]);
  });

  it('draws a table that references itself, and skips keys to tables that are not listed', () => {
    const keys = [createKey('ships', 'ships'), createKey('ships', 'missing')];
    expect(layOutDiagram([createTable('ships')], keys, false).keys).toHaveLength(1);
  });

  it('handles tables with the names of object properties', () => {
    const tables = ['__proto__', 'constructor', 'a b'].map((name) => createTable(name));
    const { tables: placed, keys } = layOutDiagram(tables, [createKey('__proto__', 'constructor')], false);
    expect(placed.map(({ table }) => table.name)).toEqual(['__proto__', 'constructor', 'a b']);
    expect(keys).toHaveLength(1);
  });

  it('handles no tables', () => {
    expect(layOutDiagram([], [], false)).toEqual({ tables: [], keys: [], width: 0, height: 0 });
  });
});

it('shortens texts to a width', () => {
  expect(fitText('a long name of a table', 72)).toBe('a long na…');
  expect(fitText('short', 72)).toBe('short');
});

it('suggests index names that are free and short enough', () => {
  expect(suggestIndexName('ships', ['name', 'port'], new Set())).toBe('ships_name_port_idx');
  expect(suggestIndexName('ships', ['name'], new Set(['ships_name_idx', 'ships_name_idx1']))).toBe('ships_name_idx2');
  const long = suggestIndexName('表'.repeat(40), ['name'], new Set());
  expect(Buffer.byteLength(long)).toBeLessThanOrEqual(63);
  expect(long).toMatch(/_idx$/);
});
