import type { Catalogue, Column, Routine, Table } from '../postgrest-api/schema/catalogue.ts';

/** Builds the TypeScript types of schemas in the shape that `createClient<Database>` of supabase-js takes. */
export function buildTypeScriptTypes(catalogue: Catalogue, schemas: readonly string[]): string {
  const lines = [
    'export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];',
    '',
    'export type Database = {',
  ];
  for (const schema of schemas) {
    const tables = [...catalogue.tables.values()].filter((table) => table.schema === schema);
    const routines = [...catalogue.routines.values()].flatMap((enumColumns) =>
      enumColumns.filter((each) => each.schema === schema).slice(0, 1),
    );
    const enums = getEnums(tables);
    lines.push(`  ${toPropertyKey(schema)}: {`);
    lines.push(
      ...buildSection(
        'Tables',
        tables.filter(({ isView }) => !isView).flatMap((table) => buildTable(catalogue, table)),
      ),
    );
    lines.push(
      ...buildSection(
        'Views',
        tables.filter(({ isView }) => isView).flatMap((table) => buildTable(catalogue, table)),
      ),
    );
    lines.push(
      ...buildSection(
        'Functions',
        routines.flatMap((routine) => buildRoutine(catalogue, routine)),
      ),
    );
    lines.push(
      ...buildSection(
        'Enums',
        [...enums].map(([name, values]) => `      ${toPropertyKey(name)}: ${toUnionType(values)};`),
      ),
    );
    lines.push(...buildSection('CompositeTypes', []), '  };');
  }
  return `${[...lines, '};'].join('\n')}\n`;
}

function buildSection(name: string, lines: readonly string[]): string[] {
  // An empty section must not accept any key.
  return lines.length === 0 ? [`    ${name}: { [_ in never]: never };`] : [`    ${name}: {`, ...lines, '    };'];
}

function buildTable(catalogue: Catalogue, table: Table): string[] {
  const columns = [...table.columns.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const body = (line: (column: Column) => string): string[] => columns.map((column) => `          ${line(column)}`);
  const relationships = (catalogue.relationships.get(`${table.schema}\n${table.name}`) ?? []).filter(
    ({ isReferencing }) => isReferencing,
  );
  return [
    `      ${toPropertyKey(table.name)}: {`,
    '        Row: {',
    ...body((column) => `${toPropertyKey(column.name)}: ${columnType(column)};`),
    '        };',
    '        Insert: {',
    ...body(
      (column) =>
        `${toPropertyKey(column.name)}${isRequiredOnInsert(column) ? '' : '?'}: ${column.isGenerated ? 'never' : columnType(column)};`,
    ),
    '        };',
    '        Update: {',
    ...body((column) => `${toPropertyKey(column.name)}?: ${column.isGenerated ? 'never' : columnType(column)};`),
    '        };',
    '        Relationships: [',
    ...relationships.flatMap(({ constraint, columns: pairs, cardinality, to }) => [
      '          {',
      `            foreignKeyName: ${JSON.stringify(constraint)};`,
      `            columns: [${pairs.map(([column]) => JSON.stringify(column)).join(', ')}];`,
      `            isOneToOne: ${cardinality === 'one-to-one'};`,
      `            referencedRelation: ${JSON.stringify(to.slice(to.indexOf('\n') + 1))};`,
      `            referencedColumns: [${pairs.map(([, referencedColumn]) => JSON.stringify(referencedColumn)).join(', ')}];`,
      '          },',
    ]),
    '        ];',
    '      };',
  ];
}

function buildRoutine(catalogue: Catalogue, routine: Routine): string[] {
  const table = routine.table === undefined ? undefined : catalogue.tables.get(routine.table);
  const args = routine.arguments
    .filter(({ name }) => name !== '')
    .map(({ name, type, isRequired }) => `${toPropertyKey(name)}${isRequired ? '' : '?'}: ${toTypeScriptType(type)}`);
  const resultType =
    routine.returns === 'void'
      ? 'undefined'
      : table !== undefined
        ? rowTypeReference(table)
        : routine.returns === 'composite'
          ? 'Record<string, unknown>'
          : toTypeScriptType(routine.returnType);
  return [
    `      ${toPropertyKey(routine.name)}: {`,
    `        Args: ${args.length === 0 ? 'Record<PropertyKey, never>' : `{ ${args.join('; ')} }`};`,
    `        Returns: ${routine.isSet ? `${resultType}[]` : resultType};`,
    '      };',
  ];
}

function rowTypeReference({ schema, name, isView }: Table): string {
  return `Database[${JSON.stringify(schema)}]['${isView ? 'Views' : 'Tables'}'][${JSON.stringify(name)}]['Row']`;
}

function isRequiredOnInsert(column: Column): boolean {
  return column.isRequired && !column.isGenerated;
}

function columnType(column: Column): string {
  const type = column.enumValues.length > 0 ? toUnionType(column.enumValues) : toTypeScriptType(column.baseType);
  return column.isNotNull || type === 'Json' ? type : `${type} | null`;
}

function toTypeScriptType(type: string): string {
  if (type.endsWith('[]')) return `${toTypeScriptType(type.slice(0, -2))}[]`;
  if (/^(?:smallint|integer|bigint|numeric|real|double precision|oid)$/.test(type)) return 'number';
  if (type === 'boolean') return 'boolean';
  if (type === 'json' || type === 'jsonb') return 'Json';
  if (/^(?:text|uuid|character|citext|date|time|timestamp|interval|bytea|inet|cidr|name|bpchar|"char")/.test(type))
    return 'string';
  return type === 'void' ? 'undefined' : 'unknown';
}

function getEnums(tables: readonly Table[]): ReadonlyMap<string, readonly string[]> {
  const enumColumns = tables
    .flatMap(({ columns }) => [...columns.values()])
    .filter(({ enumValues }) => enumValues.length > 0);
  return new Map(
    enumColumns.map(({ baseType, enumValues }) => [baseType.replace(/^.*\./, '').replaceAll('"', ''), enumValues]),
  );
}

function toUnionType(values: readonly string[]): string {
  return values.map((value) => JSON.stringify(value)).join(' | ');
}

function toPropertyKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
