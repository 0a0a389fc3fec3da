import { RestError } from '../errors.ts';
import type { Field } from '../parse/fields.ts';
import type { Condition, Filter, Operation } from '../parse/filters.ts';
import type { Column } from '../schema/catalogue.ts';
import { toArrayLiteral, quoteLiteral, quote, type Values } from './sql.ts';

/** Table that conditions refer to, with the embeds that can be tested for absence. */
export interface Subject {
  /** Quoted reference of the table. */
  readonly reference: string;
  /** Known columns; may be empty. */
  readonly columns: ReadonlyMap<string, Column>;
  /** Row expression of the table's type, when the reference is only a record. */
  readonly row?: string | undefined;
  readonly schema?: string | undefined;
  /** Returns an expression that is null when the embed is empty; undefined for an unknown embed. */
  embed(name: string): string | undefined;
}

const isTests = {
  null: 'IS NULL',
  not_null: 'IS NOT NULL',
  true: 'IS TRUE',
  false: 'IS FALSE',
  unknown: 'IS UNKNOWN',
} as const;

/** Joins conditions by AND; returns undefined when there are none. */
export function buildWhere(conditions: readonly Condition[], subject: Subject, values: Values): string | undefined {
  if (conditions.length === 0) return undefined;
  return conditions.map((condition) => buildCondition(condition, subject, values)).join(' AND ');
}

function buildCondition(condition: Condition, subject: Subject, values: Values): string {
  if (condition.kind === 'filter') return buildFilter(condition, subject, values);
  const all = condition.children.map((child) => buildCondition(child, subject, values));
  return `${condition.not ? 'NOT ' : ''}(${all.join(condition.join === 'and' ? ' AND ' : ' OR ')})`;
}

function buildFilter({ field, not, operation }: Filter, subject: Subject, values: Values): string {
  const embed = field.path.length === 0 && !subject.columns.has(field.name) ? subject.embed(field.name) : undefined;
  if (embed !== undefined) return buildEmbedTest(field.name, embed, not, operation);
  const text = buildOperation(buildField(field, subject), field, operation, subject, values);
  return not ? `NOT (${text})` : text;
}

function buildEmbedTest(name: string, expression: string, not: boolean, operation: Operation): string {
  if (operation.kind !== 'is' || (operation.test !== 'null' && operation.test !== 'not_null')) {
    throw new RestError(400, 'PGRST120', `Bad operator on the '${name}' embedded resource`, {
      details: `Only is null or not is null filters are allowed on embedded resources`,
    });
  }
  const isNull = (operation.test === 'null') !== not;
  return `${expression} IS ${isNull ? 'NOT DISTINCT' : 'DISTINCT'} FROM NULL`;
}

/** Builds the expression of a column, or of a JSON path in it. */
export function buildField({ name, path }: Field, { reference, columns, row, schema }: Subject): string {
  const isComputed = row !== undefined && schema !== undefined && !columns.has(name);
  const column = isComputed ? `${quote(schema)}.${quote(name)}(${row})` : `${reference}.${quote(name)}`;
  if (path.length === 0) return column;
  const type = columns.get(name)?.baseType;
  // An unknown type may be a composite one, whose fields are reached in the same way.
  const base = type === 'json' || type === 'jsonb' ? column : `to_jsonb(${column})`;
  const steps = path.map(
    ({ asText, key }) => `${asText ? '->>' : '->'}${typeof key === 'number' ? String(key) : quoteLiteral(key)}`,
  );
  return `(${base}${steps.join('')})`;
}

function buildOperation(
  expression: string,
  field: Field,
  operation: Operation,
  subject: Subject,
  values: Values,
): string {
  // A domain may have a function that parses values of clients.
  const parse = field.path.length > 0 ? undefined : subject.columns.get(field.name)?.representation?.fromText;
  const bindValue = (value: string): string =>
    parse === undefined ? values.bind(value) : `${parse}(${values.bind(value, 'text')})`;
  const bindList = (value: string): string =>
    parse === undefined
      ? values.bind(value)
      : `ARRAY(SELECT ${parse}(pgrst_each) FROM unnest(${values.bind(value, 'text[]')}) AS pgrst_each)`;
  switch (operation.kind) {
    case 'is':
      return `${expression} ${isTests[operation.test]}`;
    case 'in':
      // An empty list matches nothing.
      return `${expression} = ANY (${bindList(toArrayLiteral(operation.values))})`;
    case 'search': {
      const config = operation.config === undefined ? '' : `${values.bind(operation.config, 'regconfig')}, `;
      return `${toSearchVector(expression, field, subject, config)} @@ ${operation.toQuery}(${config}${values.bind(operation.value)})`;
    }
    case 'compare':
      if (operation.quantifier === undefined)
        return `${expression} ${operation.operator} ${bindValue(operation.value)}`;
      return `${expression} ${operation.operator} ${operation.quantifier.toUpperCase()} (${bindList(operation.value)})`;
  }
}

/** Converts text and JSON columns to a text search vector. */
function toSearchVector(expression: string, field: Field, { columns }: Subject, config: string): string {
  const type =
    field.path.length > 0 ? (field.path.at(-1)?.asText === true ? 'text' : 'jsonb') : columns.get(field.name)?.baseType;
  if (type === undefined || type === 'tsvector') return expression;
  return `to_tsvector(${config}${expression})`;
}
