import * as m from '#messages/validation';
import { formatExpected } from '../runtime/plain-issues.ts';
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
  const expected: (() => string)[] = [];

  if (types.has('null') && trimmed === 'null') return { value: null };
  if (types.has('number') || types.has('integer')) {
    if (number.test(trimmed)) return { value: Number(trimmed) };
    expected.push(types.has('number') ? m.typeNumber : m.typeInteger);
  }
  if (types.has('boolean')) {
    const lowerCase = trimmed.toLowerCase();
    if (Object.hasOwn(parseList, lowerCase)) return { value: parseList[lowerCase] };
    expected.push(m.typeBoolean);
  }
  if (types.has('array')) {
    const list = coerceList(trimmed, node);
    if ('value' in list) return list;
    expected.push(list.expected);
  }
  if (types.has('object')) {
    const object = parseJson(trimmed);
    if (object !== undefined) return { value: object };
    expected.push(m.typeJsonObject);
  }
  if (types.has('string') || expected.length === 0) return { value: text };
  return { reason: formatExpected(expected) };
}

function coerceList(text: string, node: SchemaNode): { readonly value: unknown } | { readonly expected: () => string } {
  if (text.startsWith('[')) {
    const list = parseJson(text);
    return list === undefined ? { expected: m.typeJsonList } : { value: list };
  }
  const element = findElement(node, 0);
  const types = getTypes(element);
  if (types.has('object') || types.has('array')) return { expected: m.typeJsonList };
  const values: unknown[] = [];
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const each = coerce(part.trim(), element);
    if ('reason' in each) return { expected: m.typeCommaList };
    values.push(each.value);
  }
  return { value: values };
}
