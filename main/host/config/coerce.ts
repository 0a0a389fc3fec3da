import { findElement, getTypes, type SchemaNode } from './json-schema.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';

/** Value of an environment variable's text, or the reason why it is invalid, which never repeats the text. */
export type Coerced = { readonly value: unknown } | { readonly reason: string };

const parseList: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  '1': true,
  false: false,
  no: false,
  off: false,
  '0': false,
};

const number = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Converts text to the type of the schema: numbers; true/false, yes/no, on/off, 1/0; comma lists; JSON for objects
 * and lists of them. When a schema allows several types, text is tried last. The schema itself checks the range.
 */
export function coerce(text: string, node: SchemaNode): Coerced {
  const types = getTypes(node);
  const trimmed = text.trim();
  const reasons: string[] = [];

  if (types.has('null') && trimmed === 'null') return { value: null };
  if (types.has('number') || types.has('integer')) {
    if (number.test(trimmed)) return { value: Number(trimmed) };
    reasons.push(types.has('number') ? 'a number' : 'a whole number');
  }
  if (types.has('boolean')) {
    const lowerCase = trimmed.toLowerCase();
    if (Object.hasOwn(parseList, lowerCase)) return { value: parseList[lowerCase] };
    reasons.push('true or false');
  }
  if (types.has('array')) {
    const list = coerceList(trimmed, node);
    if ('value' in list) return list;
    reasons.push(list.reason);
  }
  if (types.has('object')) {
    const object = parseJson(trimmed);
    if (object !== undefined) return { value: object };
    reasons.push('a JSON object');
  }
  if (types.has('string') || reasons.length === 0) return { value: text };
  return { reason: `Expected ${reasons.join(' or ')}.` };
}

function coerceList(text: string, node: SchemaNode): Coerced {
  if (text.startsWith('[')) {
    const list = parseJson(text);
    return list === undefined ? { reason: 'a JSON list' } : { value: list };
  }
  const element = findElement(node, 0);
  const types = getTypes(element);
  if (types.has('object') || types.has('array')) return { reason: 'a JSON list' };
  const values: unknown[] = [];
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const each = coerce(part.trim(), element);
    if ('reason' in each) return { reason: 'a comma list, each of the right type' };
    values.push(each.value);
  }
  return { value: values };
}
