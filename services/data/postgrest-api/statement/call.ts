import type { Routine } from '../schema/catalogue.ts';
import { toArrayLiteral, quote, type Values } from './sql.ts';

/** Arguments of a function, as sent by the client. */
export type Arguments =
  /** JSON object whose keys are argument names. */
  | { readonly kind: 'object'; readonly json: string; readonly names: readonly string[] }
  /** Texts of the query string; a repeated parameter is a list. */
  | { readonly kind: 'texts'; readonly texts: ReadonlyMap<string, readonly string[]> }
  /** Entire body, for a function with one unnamed argument. */
  | { readonly kind: 'body'; readonly text: string };

/** Builds the call of a function; a scalar result is the column `pgrst_scalar`. */
export function buildCallStatement(routine: Routine, args: Arguments, values: Values): string {
  const name = `${quote(routine.schema)}.${quote(routine.name)}`;
  const { from, list } = buildArguments(routine, args, values);
  const call = `${name}(${list})`;
  if (routine.returns !== 'composite') {
    return `SELECT pgrst_call.pgrst_scalar FROM ${from}LATERAL (SELECT ${call} AS pgrst_scalar) AS pgrst_call`;
  }
  return `SELECT pgrst_call.* FROM ${from}LATERAL ${call} AS pgrst_call`;
}

function buildArguments(
  routine: Routine,
  args: Arguments,
  values: Values,
): { readonly from: string; readonly list: string } {
  if (args.kind === 'body') return { from: '', list: values.bind(args.text, routine.arguments[0]?.type) };
  if (args.kind === 'texts') {
    const list = routine.arguments.flatMap(({ name, type, isVariadic }) => {
      const texts = args.texts.get(name);
      if (texts === undefined) return [];
      const value = isVariadic ? toArrayLiteral(texts) : (texts.at(-1) ?? '');
      return [`${isVariadic ? 'VARIADIC ' : ''}${quote(name)} := ${values.bind(value, type)}`];
    });
    return { from: '', list: list.join(', ') };
  }
  const sentArguments = routine.arguments.filter(({ name }) => args.names.includes(name));
  if (sentArguments.length === 0) return { from: '', list: '' };
  const types = sentArguments.map(({ name, type }) => `${quote(name)} ${type}`);
  const list = sentArguments.map(
    ({ name, isVariadic }) => `${isVariadic ? 'VARIADIC ' : ''}${quote(name)} := pgrst_body.${quote(name)}`,
  );
  return {
    from: `json_to_record(${values.bind(args.json, 'json')}) AS pgrst_body(${types.join(', ')}), `,
    list: list.join(', '),
  };
}
