import { RestError } from '../errors.ts';
import type { Embed } from '../parse/select.ts';
import { toTableKey, type Catalogue, type Relationship } from '../schema/catalogue.ts';
import { findClosestName } from './closest-name.ts';

/**
 * Finds the relationship of an embed.
 *
 * @throws RestError PGRST200 for none, PGRST201 (300) for several
 */
export function findRelationship(catalogue: Catalogue, schema: string, from: string, embed: Embed): Relationship {
  const { relation, hint } = embed;
  const candidates = (catalogue.relationships.get(from) ?? []).filter(
    ({ to }) => catalogue.tables.has(to) && getSchemaName(to) === schema,
  );
  const isView = ({ to }: Relationship): boolean => catalogue.tables.get(to)?.isView === true;
  const matches = candidates.filter((each) => isNamed(each, relation, hint, isView(each)));
  // Computed relationships take precedence over foreign keys.
  const computed = matches.filter(({ cardinality }) => cardinality === 'computed');
  const relationships = computed.length > 0 ? computed : matches;
  const [first, second] = relationships;
  if (first === undefined) throw createMissingError(candidates, schema, getTableName(from), embed);
  if (second !== undefined) throw createAmbiguousError(relationships, getTableName(from), relation);
  return first;
}

function isNamed(each: Relationship, relation: string, hint: string | undefined, toView: boolean): boolean {
  const { constraint, cardinality, columns, to, from, isReferencing, junction } = each;
  if (cardinality === 'computed') return constraint === relation;
  const [column, targetColumn] = (columns.length === 1 ? columns[0] : undefined) ?? [];
  const matchesTable = getTableName(to) === relation;
  if (from === to && junction === undefined) {
    // A self-reference has two relationships: the table name selects the referencing rows, the column name the
    // referenced row.
    if (hint === undefined) return isReferencing ? column === relation || constraint === relation : matchesTable;
    return matchesTable && !isReferencing && targetColumn === hint;
  }
  // Foreign keys can be named by constraint or column. Relationships of views have the same names and are not matched.
  if (hint === undefined)
    return matchesTable || (!toView && junction === undefined && (constraint === relation || column === relation));
  if (!matchesTable) return false;
  if (junction !== undefined)
    return getTableName(junction.table) === hint || constraint === hint || junction.otherConstraint === hint;
  return constraint === hint || column === hint || targetColumn === hint;
}

function createMissingError(
  candidates: readonly Relationship[],
  schema: string,
  from: string,
  { relation, hint }: Embed,
): RestError {
  const similarName = findClosestName(
    relation,
    candidates.map(({ to }) => getTableName(to)),
  );
  const withHint = hint === undefined ? '' : ` using the hint '${hint}'`;
  return new RestError(
    400,
    'PGRST200',
    `Could not find a relationship between '${from}' and '${relation}' in the schema cache`,
    {
      details:
        `Searched for a foreign key relationship between '${from}' and '${relation}'${withHint} in the schema ` +
        `'${schema}', but no matches were found.`,
      hint:
        similarName === undefined || similarName === relation
          ? null
          : `Perhaps you meant '${similarName}' instead of '${relation}'.`,
    },
  );
}

const cardinalities = ['one-to-many', 'many-to-one', 'one-to-one', 'many-to-many'];

/**
 * Compares relationships in the order that PostgREST lists them: by cardinality, then by constraint and columns, or by
 * junction.
 */
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
  const index = first.findIndex((part, index) => part !== second[index]);
  return index < 0 ? 0 : (first[index] ?? '') < (second[index] ?? '') ? -1 : 1;
}

function createAmbiguousError(candidates: readonly Relationship[], from: string, relation: string): RestError {
  const relationships = candidates.toSorted(compareRelationships);
  const hints = relationships.map((each) => buildHint(each, relation));
  return new RestError(
    300,
    'PGRST201',
    `Could not embed because more than one relationship was found for '${from}' and '${relation}'`,
    {
      details: relationships.map((each) => ({
        cardinality: each.cardinality,
        embedding: `${getTableName(each.from)} with ${getTableName(each.to)}`,
        relationship: describeRelationship(each),
      })),
      hint:
        `Try changing '${relation}' to one of the following: ${hints.map((hint) => `'${hint}'`).join(', ')}. ` +
        `Find the desired relationship in the 'details' key.`,
    },
  );
}

function buildHint({ constraint, junction, to }: Relationship, relation: string): string {
  return `${relation === constraint ? getTableName(to) : relation}!${junction === undefined ? constraint : getTableName(junction.table)}`;
}

function describeRelationship({ constraint, columns, from, to, junction }: Relationship): string {
  const names = (candidates: readonly string[]): string => candidates.join(', ');
  if (junction !== undefined) {
    const similarName = `${constraint}(${names(junction.near.map(([, column]) => column))})`;
    const far = `${junction.otherConstraint}(${names(junction.far.map(([column]) => column))})`;
    return `${getTableName(junction.table)} using ${similarName} and ${far}`;
  }
  const source = `${getTableName(from)}(${names(columns.map(([column]) => column))})`;
  const target = `${getTableName(to)}(${names(columns.map(([, targetColumn]) => targetColumn))})`;
  return `${constraint} using ${source} and ${target}`;
}

function getSchemaName(key: string): string {
  return key.slice(0, key.indexOf('\n'));
}

function getTableName(key: string): string {
  return key.slice(getSchemaName(key).length + 1);
}

/**
 * Finds a table by name; the error suggests a similar name.
 *
 * @throws RestError PGRST205
 */
export function findTable(catalogue: Catalogue, schema: string, name: string): string {
  const key = toTableKey(schema, name);
  if (catalogue.tables.has(key)) return key;
  const names = [...catalogue.tables.values()].filter((table) => table.schema === schema).map((table) => table.name);
  const similarName = findClosestName(name, names);
  throw new RestError(404, 'PGRST205', `Could not find the table '${schema}.${name}' in the schema cache`, {
    hint: similarName === undefined ? null : `Perhaps you meant the table '${schema}.${similarName}'`,
  });
}
