import {
  CompletionContext,
  type Completion,
  type CompletionResult,
  type CompletionSource,
} from '@codemirror/autocomplete';
import { PostgreSQL, schemaCompletionSource } from '@codemirror/lang-sql';
import { forceParsing } from '@codemirror/language';
import type { DataNames } from '../../../../../../services/contracts/data/sql.ts';
import { quoteIdentifier } from '../../owner-statement.ts';

/** Reserved words of PostgreSQL that are common as names. */
const reserved =
  /^(?:all|analyze|array|check|column|default|desc|end|from|group|limit|offset|order|primary|references|table|to|user|when|where|window)$/;

/** Quotes a name where PostgreSQL needs it. */
function toName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !reserved.test(name) ? name : quoteIdentifier(name);
}

type Columns = Completion[];

/** Maximum time in ms for parsing the text before a completion is looked up. */
const maxParsingMs = 200;

/** Builds the tables and columns for completion, by schema. */
function buildSchema({ tables }: Pick<DataNames, 'tables'>): Record<string, Record<string, Columns>> {
  const schemas: Record<string, Record<string, Columns>> = {};
  for (const { schema, name, columns } of tables) {
    const completions = columns.map((column): Completion => ({
      label: column.name,
      apply: toName(column.name),
      detail: column.type,
      type: 'property',
    }));
    schemas[schema] = { ...schemas[schema], [name]: completions };
  }
  return schemas;
}

/**
 * Builds the completion of tables, and of columns after a table or an alias. The editor parses only for some
 * milliseconds after each input, and aliases are not found in text that is not parsed yet, also after the cursor.
 */
export function buildTableSource(names: Pick<DataNames, 'tables'>): CompletionSource {
  const complete = schemaCompletionSource({
    dialect: PostgreSQL,
    schema: buildSchema(names),
    defaultSchema: 'public',
  });
  return (context) => {
    const { view, pos, explicit } = context;
    if (view === undefined) return complete(context);
    forceParsing(view, view.state.doc.length, maxParsingMs);
    return complete(new CompletionContext(view.state, pos, explicit, view));
  };
}

/** Builds the completion of columns without their table: those of the tables that the text names. */
export function buildColumnSource({
  tables,
}: Pick<DataNames, 'tables'>): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const word = context.matchBefore(/\w+/);
    const isQualified = context.matchBefore(/\.\w*/) !== null;
    if (isQualified || (word === null && !context.explicit)) return null;
    const identifiers = new Set(context.state.doc.toString().match(/\w+/g));
    const columns = tables.filter(({ name }) => identifiers.has(name)).flatMap((table) => table.columns);
    const options = columns.map(({ name, type }): Completion => ({
      label: name,
      apply: toName(name),
      detail: type,
      type: 'property',
      boost: 1,
    }));
    return { from: word?.from ?? context.pos, options, validFor: /^\w*$/ };
  };
}

/** Builds the completion of functions; those of `public` are named without their schema. */
export function buildFunctionSource({
  functions,
}: Pick<DataNames, 'functions'>): (context: CompletionContext) => CompletionResult | null {
  const options = functions.map(({ schema, name, arguments: parameters }): Completion => {
    const prefix = schema === 'public' ? '' : `${toName(schema)}.`;
    const label = `${schema === 'public' ? '' : `${schema}.`}${name}`;
    return { label, apply: `${prefix}${toName(name)}(`, detail: `(${parameters})`, type: 'function', boost: -1 };
  });
  return (context) => {
    const word = context.matchBefore(/[\w.]+/);
    if (word === null && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options, validFor: /^[\w.]*$/ };
  };
}
