import { RestError } from '../errors.ts';
import type { Embed } from '../parse/select.ts';
import { keyOf, type Catalogue, type Relationship } from '../schema/catalogue.ts';
import { closest } from './closest-name.ts';

/** The one relationship that an embed means. @throws RestError PGRST200 for none, PGRST201 (300) for several */
export function findRelationship(catalogue: Catalogue, schema: string, from: string, embed: Embed): Relationship {
  const { relation, hint } = embed;
  const all = (catalogue.relationships.get(from) ?? []).filter(
    ({ to }) => catalogue.tables.has(to) && schemaOf(to) === schema,
  );
  const isView = ({ to }: Relationship): boolean => catalogue.tables.get(to)?.isView === true;
  const named = all.filter((each) => isNamed(each, relation, hint, isView(each)));
  // A function that was written for it counts more than what was found out.
  const computed = named.filter(({ cardinality }) => cardinality === 'computed');
  const found = computed.length > 0 ? computed : named;
  const [first, second] = found;
  if (first === undefined) throw missing(all, schema, nameOf(from), embed);
  if (second !== undefined) throw ambiguous(found, nameOf(from), relation);
  return first;
}

function isNamed(each: Relationship, relation: string, hint: string | undefined, toView: boolean): boolean {
  const { constraint, cardinality, columns, to, from, isReferencing, junction } = each;
  if (cardinality === 'computed') return constraint === relation;
  const [here, there] = (columns.length === 1 ? columns[0] : undefined) ?? [];
  const byTable = nameOf(to) === relation;
  if (from === to && junction === undefined) {
    // One key is two relationships: the table's name means the rows that lead here, the column's the row it leads to.
    if (hint === undefined) return isReferencing ? here === relation || constraint === relation : byTable;
    return byTable && !isReferencing && there === hint;
  }
  // A key is named by itself or by its column; what views show of it has the same names, and is not meant.
  if (hint === undefined)
    return byTable || (!toView && junction === undefined && (constraint === relation || here === relation));
  if (!byTable) return false;
  if (junction !== undefined)
    return nameOf(junction.table) === hint || constraint === hint || junction.otherConstraint === hint;
  return constraint === hint || here === hint || there === hint;
}

function missing(all: readonly Relationship[], schema: string, from: string, { relation, hint }: Embed): RestError {
  const near = closest(
    relation,
    all.map(({ to }) => nameOf(to)),
  );
  const withHint = hint === undefined ? '' : ` using the hint '${hint}'`;
  return new RestError(
    400,
    'PGRST200',
    `Could not find a relationship between '${from}' and '${relation}' in the schema cache`,
    {
      details: `Searched for a foreign key relationship between '${from}' and '${relation}'${withHint} in the schema '${schema}', but no matches were found.`,
      hint: near === undefined || near === relation ? null : `Perhaps you meant '${near}' instead of '${relation}'.`,
    },
  );
}

const cardinalities = ['one-to-many', 'many-to-one', 'one-to-one', 'many-to-many'];

/** Orders relationships as PostgREST lists them: by cardinality, then by constraint and columns, or by junction. */
function compareRelationships(one: Relationship, other: Relationship): number {
  const keyOfRelationship = ({ cardinality, columns, constraint, from, isReferencing, junction, to }: Relationship) => [
    to,
    String(from === to),
    String(cardinalities.indexOf(cardinality)),
    junction?.table ?? '',
    constraint,
    junction?.otherConstraint ?? '',
    ...(junction === undefined ? columns : [...junction.near, ...junction.far]).flat(),
    String(!isReferencing),
  ];
  const [first, second] = [keyOfRelationship(one), keyOfRelationship(other)];
  const index = first.findIndex((part, place) => part !== second[place]);
  return index < 0 ? 0 : (first[index] ?? '') < (second[index] ?? '') ? -1 : 1;
}

function ambiguous(all: readonly Relationship[], from: string, relation: string): RestError {
  const found = all.toSorted(compareRelationships);
  const ways = found.map((each) => hintOf(each, relation));
  return new RestError(
    300,
    'PGRST201',
    `Could not embed because more than one relationship was found for '${from}' and '${relation}'`,
    {
      details: found.map((each) => ({
        cardinality: each.cardinality,
        embedding: `${nameOf(each.from)} with ${nameOf(each.to)}`,
        relationship: describe(each),
      })),
      hint: `Try changing '${relation}' to one of the following: ${ways.map((way) => `'${way}'`).join(', ')}. Find the desired relationship in the 'details' key.`,
    },
  );
}

function hintOf({ constraint, junction, to }: Relationship, relation: string): string {
  return `${relation === constraint ? nameOf(to) : relation}!${junction === undefined ? constraint : nameOf(junction.table)}`;
}

function describe({ constraint, columns, from, to, junction }: Relationship): string {
  const names = (all: readonly string[]): string => all.join(', ');
  if (junction !== undefined) {
    const near = `${constraint}(${names(junction.near.map(([, column]) => column))})`;
    const far = `${junction.otherConstraint}(${names(junction.far.map(([column]) => column))})`;
    return `${nameOf(junction.table)} using ${near} and ${far}`;
  }
  return `${constraint} using ${nameOf(from)}(${names(columns.map(([here]) => here))}) and ${nameOf(to)}(${names(columns.map(([, there]) => there))})`;
}

function schemaOf(key: string): string {
  return key.slice(0, key.indexOf('\n'));
}

function nameOf(key: string): string {
  return key.slice(schemaOf(key).length + 1);
}

/** The table of this name, with a guess at what was meant. @throws RestError PGRST205 */
export function findTable(catalogue: Catalogue, schema: string, name: string): string {
  const key = keyOf(schema, name);
  if (catalogue.tables.has(key)) return key;
  const names = [...catalogue.tables.values()].filter((table) => table.schema === schema).map((table) => table.name);
  const near = closest(name, names);
  throw new RestError(404, 'PGRST205', `Could not find the table '${schema}.${name}' in the schema cache`, {
    hint: near === undefined ? null : `Perhaps you meant the table '${schema}.${near}'`,
  });
}
