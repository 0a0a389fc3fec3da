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

/** Where a column of a view comes from. */
export interface ViewColumn {
  readonly view: string;
  readonly number: number;
  readonly origin: string;
  readonly origin_number: number;
}

interface Known {
  readonly tables: ReadonlyMap<string, Table>;
  readonly byOid: ReadonlyMap<string, { readonly key: string; readonly columns: ReadonlyMap<number, string> }>;
  readonly keys: readonly ForeignKey[];
  readonly views: readonly ViewColumn[];
  readonly routines: ReadonlyMap<string, readonly Routine[]>;
}

type Pairs = readonly (readonly [string, string])[];
/** A foreign key between two tables or views as both are named. */
interface Link {
  readonly constraint: string;
  readonly from: string;
  readonly to: string;
  readonly pairs: Pairs;
  readonly isUnique: boolean;
}

/** Finds how tables, views and functions belong together, by the table from which it is seen. */
export function relate(known: Known): ReadonlyMap<string, readonly Relationship[]> {
  const found = new Map<string, Relationship[]>();
  const add = (relationship: Relationship): void => {
    found.set(relationship.from, [...(found.get(relationship.from) ?? []), relationship]);
  };
  const links = linksOf(known);
  for (const { constraint, from, to, pairs, isUnique } of links) {
    const back = pairs.map(([here, there]) => [there, here] as const);
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
  for (const relationship of throughJunctions(known.tables, links)) add(relationship);
  for (const routine of [...known.routines.values()].flat()) {
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
  return found;
}

/** Foreign keys of tables, and what views have of them. */
function linksOf({ byOid, keys, views }: Known): readonly Link[] {
  const seen = columnsSeen(views);
  const placesOf = (oid: string, numbers: readonly number[]): readonly (readonly [string, readonly string[]])[] => {
    const all: (readonly [string, readonly string[]])[] = [];
    for (const [relation, numbered] of [[oid, numbers] as const, ...viewsWith(seen, oid, numbers)]) {
      const place = byOid.get(relation);
      const names = numbered.map((number) => place?.columns.get(number));
      if (place !== undefined && names.every((name) => name !== undefined)) all.push([place.key, names]);
    }
    return all;
  };
  return keys.flatMap((key) =>
    placesOf(key.table, key.columns).flatMap(([from, columns]) =>
      placesOf(key.target, key.targets).map(([to, targets]) => ({
        constraint: key.name,
        from,
        to,
        pairs: columns.map((column, at) => [column, targets[at] ?? ''] as const),
        isUnique: key.is_unique,
      })),
    ),
  );
}

/** The columns of views that are the whole primary keys of the tables whose keys they show. */
export function keysOfViews(
  views: readonly ViewColumn[],
  keys: readonly PrimaryKey[],
): ReadonlyMap<string, readonly number[]> {
  const seen = columnsSeen(views);
  const found = new Map<string, readonly number[]>();
  for (const { table, columns } of keys) {
    const counted = new Set<string>();
    for (const [view, numbers] of viewsWith(seen, table, columns)) {
      // A key that is shown under several names counts once.
      if (counted.has(view)) continue;
      counted.add(view);
      found.set(
        view,
        [...(found.get(view) ?? []), ...numbers].toSorted((a, b) => a - b),
      );
    }
  }
  return found;
}

type Seen = ReadonlyMap<string, ReadonlyMap<number, readonly [string, number]>>;

/** Where each column of a view comes from, through views below it down to the table. */
function columnsSeen(views: Known['views']): Seen {
  const direct = new Map<string, Map<number, readonly [string, number]>>();
  for (const { view, number, origin, origin_number } of views) {
    const columns = direct.get(view) ?? new Map<number, readonly [string, number]>();
    columns.set(number, [origin, origin_number]);
    direct.set(view, columns);
  }
  const base = (place: readonly [string, number], depth: number): readonly [string, number] => {
    const below = direct.get(place[0])?.get(place[1]);
    return below === undefined || depth > 50 ? place : base(below, depth + 1);
  };
  return new Map(
    [...direct].map(([view, columns]) => [
      view,
      new Map([...columns].map(([number, place]) => [number, base(place, 0)])),
    ]),
  );
}

/** Ways in which a view can show the columns of one key; more than these would only be ambiguous. */
const maxWays = 16;

/**
 * Views that show all these columns of a table, with the numbers that they have there: once for each way, since a view
 * may show a column under several names.
 */
function viewsWith(seen: Seen, table: string, numbers: readonly number[]): (readonly [string, readonly number[]])[] {
  return [...seen].flatMap(([view, columns]) => {
    let ways: readonly (readonly number[])[] = [[]];
    for (const wanted of numbers) {
      const shown = [...columns].filter(([, [origin, number]]) => origin === table && number === wanted);
      ways = ways.flatMap((way) => shown.map(([number]) => [...way, number])).slice(0, maxWays);
    }
    return ways.map((way) => [view, way] as const);
  });
}

/** Two tables are many-to-many through a table or view whose primary key holds a foreign key to each. */
function throughJunctions(tables: ReadonlyMap<string, Table>, links: readonly Link[]): readonly Relationship[] {
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
