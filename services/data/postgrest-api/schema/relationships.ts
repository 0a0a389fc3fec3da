import type { Relationship, Routine, Table } from './catalogue.ts';

export interface ForeignKey {
  readonly name: string;
  readonly table: string;
  readonly target: string;
  readonly columns: readonly number[];
  readonly targets: readonly number[];
  readonly is_unique: boolean;
}

export interface PrimaryKey {
  readonly table: string;
  readonly columns: readonly number[];
}

/** Origin of a view column. */
export interface ViewColumn {
  readonly view: string;
  readonly number: number;
  readonly origin: string;
  readonly origin_number: number;
}

interface SchemaRows {
  readonly tables: ReadonlyMap<string, Table>;
  readonly byOid: ReadonlyMap<string, { readonly key: string; readonly columns: ReadonlyMap<number, string> }>;
  readonly keys: readonly ForeignKey[];
  readonly views: readonly ViewColumn[];
  readonly routines: ReadonlyMap<string, readonly Routine[]>;
}

type Pairs = readonly (readonly [string, string])[];
/** Foreign key between two tables or views, with their names. */
interface Link {
  readonly constraint: string;
  readonly from: string;
  readonly to: string;
  readonly pairs: Pairs;
  readonly isUnique: boolean;
}

/** Finds the relationships of tables, views and functions, by the table they start from. */
export function findRelationships(schemaRows: SchemaRows): ReadonlyMap<string, readonly Relationship[]> {
  const result = new Map<string, Relationship[]>();
  const add = (relationship: Relationship): void => {
    result.set(relationship.from, [...(result.get(relationship.from) ?? []), relationship]);
  };
  const links = findLinks(schemaRows);
  for (const { constraint, from, to, pairs, isUnique } of links) {
    const back = pairs.map(([column, targetColumn]) => [targetColumn, column] as const);
    add({
      from,
      to,
      constraint,
      columns: pairs,
      isReferencing: true,
      cardinality: isUnique ? 'one-to-one' : 'many-to-one',
    });
    add({
      from: to,
      to: from,
      constraint,
      columns: back,
      isReferencing: false,
      cardinality: isUnique ? 'one-to-one' : 'one-to-many',
    });
  }
  for (const relationship of findManyToMany(schemaRows.tables, links)) add(relationship);
  for (const routine of [...schemaRows.routines.values()].flat()) {
    const { ofTable, table } = routine;
    if (ofTable === undefined || table === undefined) continue;
    add({
      from: ofTable,
      to: table,
      constraint: routine.name,
      columns: [],
      isReferencing: false,
      cardinality: 'computed',
      routine,
    });
  }
  return result;
}

/** Returns the foreign keys of tables, also for views that select their columns. */
function findLinks({ byOid, keys, views }: SchemaRows): readonly Link[] {
  const originsByView = resolveOrigins(views);
  const findRelations = (
    oid: string,
    numbers: readonly number[],
  ): readonly (readonly [string, readonly string[]])[] => {
    const all: (readonly [string, readonly string[]])[] = [];
    for (const [relation, numbered] of [[oid, numbers] as const, ...findViewsWith(originsByView, oid, numbers)]) {
      const relationNames = byOid.get(relation);
      const names = numbered.map((number) => relationNames?.columns.get(number));
      if (relationNames !== undefined && names.every((name) => name !== undefined))
        all.push([relationNames.key, names]);
    }
    return all;
  };
  return keys.flatMap((key) =>
    findRelations(key.table, key.columns).flatMap(([from, columns]) =>
      findRelations(key.target, key.targets).map(([to, targets]) => ({
        constraint: key.name,
        from,
        to,
        pairs: columns.map((column, index) => [column, targets[index] ?? ''] as const),
        isUnique: key.is_unique,
      })),
    ),
  );
}

/** Finds the columns of views that form complete primary keys of their tables. */
export function findViewKeys(
  views: readonly ViewColumn[],
  keys: readonly PrimaryKey[],
): ReadonlyMap<string, readonly number[]> {
  const originsByView = resolveOrigins(views);
  const result = new Map<string, readonly number[]>();
  for (const { table, columns } of keys) {
    const countedViews = new Set<string>();
    for (const [view, numbers] of findViewsWith(originsByView, table, columns)) {
      // A key that occurs under several names counts once.
      if (countedViews.has(view)) continue;
      countedViews.add(view);
      result.set(
        view,
        [...(result.get(view) ?? []), ...numbers].toSorted((a, b) => a - b),
      );
    }
  }
  return result;
}

type OriginsByView = ReadonlyMap<string, ReadonlyMap<number, readonly [string, number]>>;

/** Resolves the origin of view columns through nested views to the table. */
function resolveOrigins(views: SchemaRows['views']): OriginsByView {
  const direct = new Map<string, Map<number, readonly [string, number]>>();
  for (const { view, number, origin, origin_number } of views) {
    const columns = direct.get(view) ?? new Map<number, readonly [string, number]>();
    columns.set(number, [origin, origin_number]);
    direct.set(view, columns);
  }
  const resolve = (relationNames: readonly [string, number], depth: number): readonly [string, number] => {
    const origin = direct.get(relationNames[0])?.get(relationNames[1]);
    return origin === undefined || depth > 50 ? relationNames : resolve(origin, depth + 1);
  };
  return new Map(
    [...direct].map(([view, columns]) => [
      view,
      new Map([...columns].map(([number, relationNames]) => [number, resolve(relationNames, 0)])),
    ]),
  );
}

/** Maximum number of column combinations of a view for one key; more would be ambiguous anyway. */
const maxCombinations = 16;

/**
 * Finds the views that contain all columns of a table, with their column numbers. A view is returned once for each
 * combination, since it may contain a column under several names.
 */
function findViewsWith(
  originsByView: OriginsByView,
  table: string,
  numbers: readonly number[],
): (readonly [string, readonly number[]])[] {
  return [...originsByView].flatMap(([view, columns]) => {
    let combinations: readonly (readonly number[])[] = [[]];
    for (const tableColumn of numbers) {
      const viewColumns = [...columns].filter(([, [origin, number]]) => origin === table && number === tableColumn);
      combinations = combinations
        .flatMap((combination) => viewColumns.map(([number]) => [...combination, number]))
        .slice(0, maxCombinations);
    }
    return combinations.map((combination) => [view, combination] as const);
  });
}

/** Finds many-to-many relationships: tables or views whose primary key includes foreign keys to both tables. */
function findManyToMany(tables: ReadonlyMap<string, Table>, links: readonly Link[]): readonly Relationship[] {
  const byTable = Map.groupBy(links, ({ from }) => from);
  return [...byTable].flatMap(([junction, keys]) => {
    const primary = new Set(tables.get(junction)?.primaryKey);
    const inKey = keys.filter(({ pairs }) => pairs.every(([column]) => primary.has(column)));
    return inKey.flatMap((near) =>
      inKey
        .filter((far) => far !== near && far.constraint !== near.constraint)
        .map((far): Relationship => ({
          from: near.to,
          to: far.to,
          cardinality: 'many-to-many',
          constraint: near.constraint,
          isReferencing: false,
          columns: [],
          junction: {
            table: junction,
            otherConstraint: far.constraint,
            near: near.pairs.map(([column, target]) => [target, column] as const),
            far: far.pairs,
          },
        })),
    );
  });
}
