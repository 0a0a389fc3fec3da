import { RestError } from '../errors.ts';
import type { Query, Scope } from '../parse/query.ts';
import { pathSeparator } from '../parse/query.ts';
import type { Embed, SelectItem } from '../parse/select.ts';
import { toTableKey, type Catalogue, type Relationship, type Table } from '../schema/catalogue.ts';
import { findRelationship } from './relationships.ts';

/** Table to read, with its embeds. */
export interface ReadNode {
  /** Undefined for function results that belong to no table. */
  readonly table: Table | undefined;
  readonly items: readonly SelectItem[];
  readonly scope: Scope;
  readonly embeds: readonly EmbedNode[];
}

export interface EmbedNode extends ReadNode {
  readonly embed: Embed;
  readonly relationship: Relationship;
  /** Name in the response. */
  readonly name: string;
  readonly isMany: boolean;
}

const emptyScope: Scope = { conditions: [], order: [], limit: undefined, offset: undefined };

/**
 * Resolves all embeds of a request.
 *
 * @param key key of the table to read
 * @throws RestError PGRST108 for filters of an embed that is not selected
 */
export function planTree(
  catalogue: Catalogue,
  schema: string,
  name: string,
  key: string | undefined,
  query: Query,
): ReadNode {
  const used = new Set<string>();
  const node = (table: string | undefined, items: readonly SelectItem[], path: readonly string[]): ReadNode => {
    const scope = query.scopes.get(path.join(pathSeparator)) ?? emptyScope;
    used.add(path.join(pathSeparator));
    const selected = items.filter((item) => item.kind === 'embed');
    const names = new Set(selected.map(getEmbedName));
    const embeds = selected.map((item) => embedNode(table, item, path, names));
    return { table: table === undefined ? undefined : catalogue.tables.get(table), items, scope, embeds };
  };
  const embedNode = (
    table: string | undefined,
    embed: Embed,
    path: readonly string[],
    names: ReadonlySet<string>,
  ): EmbedNode => {
    const relationship = findRelationship(catalogue, schema, table ?? toTableKey(schema, name), embed);
    const outputName = getEmbedName(embed);
    // Filters may refer to an embed by its alias, or by its table unless that is the name of another embed.
    const byAlias = [...path, outputName];
    const isAmbiguous = outputName !== embed.relation && names.has(embed.relation);
    const embedPath = isAmbiguous || hasScope(query, byAlias) ? byAlias : [...path, embed.relation];
    const { cardinality, routine } = relationship;
    return {
      ...node(relationship.to, embed.items, embedPath),
      embed,
      relationship,
      name: outputName,
      isMany:
        cardinality === 'one-to-many' ||
        cardinality === 'many-to-many' ||
        (cardinality === 'computed' && routine?.returnsOne === false),
    };
  };
  const root = node(
    key,
    query.select === undefined || query.select.length === 0 ? [{ kind: 'star' }] : query.select,
    [],
  );
  for (const path of query.scopes.keys()) {
    if (used.has(path)) continue;
    const [missing = ''] = path
      .split(pathSeparator)
      .filter((_, index, all) => !used.has(all.slice(0, index + 1).join(pathSeparator)));
    throw new RestError(400, 'PGRST108', `'${missing}' is not an embedded resource in this request`, {
      hint: `Verify that '${missing}' is included in the 'select' query parameter.`,
    });
  }
  return root;
}

/** Returns the name of an embed in the response. */
function getEmbedName({ alias, relation }: Embed): string {
  return alias ?? relation;
}

function hasScope(query: Query, path: readonly string[]): boolean {
  const name = path.join(pathSeparator);
  return [...query.scopes.keys()].some((each) => each === name || each.startsWith(`${name}${pathSeparator}`));
}
