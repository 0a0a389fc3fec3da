import type { Catalogue, Column, Routine, Table } from '../postgrest-api/schema/catalogue.ts';

/** TypeScript types of a schema in the shape that `createClient<Database>` takes. */
export function typescriptTypes(catalogue: Catalogue, schemas: readonly string[]): string {
  const lines = [
    'export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];',
    '',
    'export type Database = {',
  ];
  for (const schema of schemas) {
    const tables = [...catalogue.tables.values()].filter((table) => table.schema === schema);
    const routines = [...catalogue.routines.values()].flatMap((all) =>
      all.filter((each) => each.schema === schema).slice(0, 1),
    );
    const enums = enumsOf(tables);
    lines.push(`  ${key(schema)}: {`);
    lines.push(
      ...section(
        'Tables',
        tables.filter(({ isView }) => !isView).flatMap((table) => tableLines(catalogue, table)),
      ),
    );
    lines.push(
      ...section(
        'Views',
        tables.filter(({ isView }) => isView).flatMap((table) => tableLines(catalogue, table)),
      ),
    );
    lines.push(
      ...section(
        'Functions',
        routines.flatMap((routine) => routineLines(catalogue, routine)),
      ),
    );
    lines.push(
      ...section(
        'Enums',
        [...enums].map(([name, values]) => `      ${key(name)}: ${union(values)};`),
      ),
    );
    lines.push(...section('CompositeTypes', []), '  };');
  }
  return `${[...lines, '};'].join('\n')}\n`;
}

function section(name: string, lines: readonly string[]): string[] {
  // Without a member the type must take no name at all.
  return lines.length === 0 ? [`    ${name}: { [_ in never]: never };`] : [`    ${name}: {`, ...lines, '    };'];
}

function tableLines(catalogue: Catalogue, table: Table): string[] {
  const columns = [...table.columns.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const body = (line: (column: Column) => string): string[] => columns.map((column) => `          ${line(column)}`);
  const relationships = (catalogue.relationships.get(`${table.schema}\n${table.name}`) ?? []).filter(
    ({ isReferencing }) => isReferencing,
  );
  return [
    `      ${key(table.name)}: {`,
    '        Row: {',
    ...body((column) => `${key(column.name)}: ${typed(column)};`),
    '        };',
    '        Insert: {',
    ...body(
      (column) => `${key(column.name)}${isNeeded(column) ? '' : '?'}: ${column.isGenerated ? 'never' : typed(column)};`,
    ),
    '        };',
    '        Update: {',
    ...body((column) => `${key(column.name)}?: ${column.isGenerated ? 'never' : typed(column)};`),
    '        };',
    '        Relationships: [',
    ...relationships.flatMap(({ constraint, columns: pairs, cardinality, to }) => [
      '          {',
      `            foreignKeyName: ${JSON.stringify(constraint)};`,
      `            columns: [${pairs.map(([here]) => JSON.stringify(here)).join(', ')}];`,
      `            isOneToOne: ${cardinality === 'one-to-one'};`,
      `            referencedRelation: ${JSON.stringify(to.slice(to.indexOf('\n') + 1))};`,
      `            referencedColumns: [${pairs.map(([, there]) => JSON.stringify(there)).join(', ')}];`,
      '          },',
    ]),
    '        ];',
    '      };',
  ];
}

function routineLines(catalogue: Catalogue, routine: Routine): string[] {
  const table = routine.table === undefined ? undefined : catalogue.tables.get(routine.table);
  const args = routine.arguments
    .filter(({ name }) => name !== '')
    .map(({ name, type, isRequired }) => `${key(name)}${isRequired ? '' : '?'}: ${typeOf(type)}`);
  const one =
    routine.returns === 'void'
      ? 'undefined'
      : table !== undefined
        ? `Database[${JSON.stringify(table.schema)}]['${table.isView ? 'Views' : 'Tables'}'][${JSON.stringify(table.name)}]['Row']`
        : routine.returns === 'composite'
          ? 'Record<string, unknown>'
          : typeOf(routine.returnType);
  return [
    `      ${key(routine.name)}: {`,
    `        Args: ${args.length === 0 ? 'Record<PropertyKey, never>' : `{ ${args.join('; ')} }`};`,
    `        Returns: ${routine.isSet ? `${one}[]` : one};`,
    '      };',
  ];
}

function isNeeded(column: Column): boolean {
  return column.isRequired && !column.isGenerated;
}

function typed(column: Column): string {
  const type = column.enumValues.length > 0 ? union(column.enumValues) : typeOf(column.baseType);
  return column.isNotNull || type === 'Json' ? type : `${type} | null`;
}

function typeOf(type: string): string {
  if (type.endsWith('[]')) return `${typeOf(type.slice(0, -2))}[]`;
  if (/^(?:smallint|integer|bigint|numeric|real|double precision|oid)$/.test(type)) return 'number';
  if (type === 'boolean') return 'boolean';
  if (type === 'json' || type === 'jsonb') return 'Json';
  if (/^(?:text|uuid|character|citext|date|time|timestamp|interval|bytea|inet|cidr|name|bpchar|"char")/.test(type))
    return 'string';
  return type === 'void' ? 'undefined' : 'unknown';
}

function enumsOf(tables: readonly Table[]): ReadonlyMap<string, readonly string[]> {
  const all = tables.flatMap(({ columns }) => [...columns.values()]).filter(({ enumValues }) => enumValues.length > 0);
  return new Map(
    all.map(({ baseType, enumValues }) => [baseType.replace(/^.*\./, '').replaceAll('"', ''), enumValues]),
  );
}

function union(values: readonly string[]): string {
  return values.map((value) => JSON.stringify(value)).join(' | ');
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
