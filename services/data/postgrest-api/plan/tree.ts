import { RestError } from '../errors.ts';
import type { Query, Scope } from '../parse/query.ts';
import { pathSeparator } from '../parse/query.ts';
import type { Embed, SelectItem } from '../parse/select.ts';
import { keyOf, type Catalogue, type Relationship, type Table } from '../schema/catalogue.ts';
import { findRelationship } from './relationships.ts';

/** A table that is read, with what is embedded in its rows. */
export interface ReadNode {
  /** Undefined: columns of a function's result that belong to no table. */
  readonly table: Table | undefined;
  readonly items: readonly SelectItem[];
  readonly scope: Scope;
  readonly embeds: readonly EmbedNode[];
}

export interface EmbedNode extends ReadNode {
  readonly embed: Embed;
  readonly relationship: Relationship;
  /** As it is called in the answer. */
  readonly name: string;
  readonly isMany: boolean;
}

const nothing: Scope = { conditions: [], order: [], limit: undefined, offset: undefined };

/** Finds what each embed of a request is. `key` is the table that is read. @throws RestError */
export function planTree(
  catalogue: Catalogue,
  schema: string,
  name: string,
  key: string | undefined,
  query: Query,
): ReadNode {
  const used = new Set<string>();
  const node = (table: string | undefined, items: readonly SelectItem[], path: readonly string[]): ReadNode => {
    const scope = query.scopes.get(path.join(pathSeparator)) ?? nothing;
    used.add(path.join(pathSeparator));
    const embeds = items.flatMap((item) => (item.kind === 'embed' ? [embedNode(table, item, path)] : []));
    return { table: table === undefined ? undefined : catalogue.tables.get(table), items, scope, embeds };
  };
  const embedNode = (table: string | undefined, embed: Embed, path: readonly string[]): EmbedNode => {
    const relationship = findRelationship(catalogue, schema, table ?? keyOf(schema, name), embed);
    const called = embed.alias ?? embed.relation;
    // Filters may name it by its alias or by its table.
    const byAlias = [...path, called];
    const below = hasScope(query, byAlias) ? byAlias : [...path, embed.relation];
    const { cardinality, routine } = relationship;
    return {
      ...node(relationship.to, embed.items, below),
      embed,
      relationship,
      name: called,
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
      .filter((_, at, all) => !used.has(all.slice(0, at + 1).join(pathSeparator)));
    throw new RestError(400, 'PGRST108', `'${missing}' is not an embedded resource in this request`, {
      hint: `Verify that '${missing}' is included in the 'select' query parameter.`,
    });
  }
  return root;
}

function hasScope(query: Query, path: readonly string[]): boolean {
  const name = path.join(pathSeparator);
  return [...query.scopes.keys()].some((each) => each === name || each.startsWith(`${name}${pathSeparator}`));
}
