import { parseJson } from '../../../../../../services/contracts/parse-json.ts';
import type { DataColumn } from '../../../../../../services/contracts/data/rows.ts';

/** Control that edits values of a column. */
type EditorKind =
  'choice' | 'flag' | 'reference' | 'json' | 'array' | 'long' | 'number' | 'date' | 'timestamp' | 'line';

/** Returns the control for a column. */
export function getEditorKind({
  type,
  choices,
  reference,
}: Pick<DataColumn, 'type' | 'choices' | 'reference'>): EditorKind {
  if (reference !== null) return 'reference';
  if (choices.length > 0) return 'choice';
  if (type === 'boolean') return 'flag';
  if (type === 'json' || type === 'jsonb') return 'json';
  if (type.endsWith('[]')) return 'array';
  if (type === 'text' || type === 'xml') return 'long';
  if (type === 'date') return 'date';
  if (type.startsWith('timestamp')) return 'timestamp';
  return /^(?:smallint|integer|bigint|numeric|real|double)/.test(type) ? 'number' : 'line';
}

/** Checks that a key press may start editing with its character, which a selection or a list cannot take. */
export function acceptsTyping(kind: EditorKind): boolean {
  return kind !== 'choice' && kind !== 'flag';
}

/** Checks that a text is JSON. Numbers are not converted, so that large ones stay exact. */
export function isJson(text: string): boolean {
  return parseJson(text) !== undefined;
}

const localTime = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' });

/** Converts a value of PostgreSQL to that of a date picker; empty if the picker cannot show it. */
export function toPickerValue(text: string, type: string): string {
  if (type === 'date') return /^\d{4}-\d\d-\d\d$/.test(text) ? text : '';
  const time = Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
  return Number.isNaN(time) ? '' : localTime.format(time).replace(' ', 'T');
}

/** Converts the value of a date picker to PostgreSQL's format; times with a time zone get the one of the browser. */
export function fromPickerValue(value: string, type: string): string {
  const text = value.replace('T', ' ');
  if (type === 'date' || !type.includes('with time zone')) return text;
  const minutes = -new Date(value).getTimezoneOffset();
  const pad = (count: number): string => String(count).padStart(2, '0');
  const absolute = Math.abs(minutes);
  return `${text}${minutes < 0 ? '-' : '+'}${pad(Math.floor(absolute / 60))}:${pad(absolute % 60)}`;
}

/** Attributes of a control that connect it with its label, its description and its error. */
export interface FieldAttributes {
  readonly id: string;
  readonly 'aria-label'?: string;
  readonly 'aria-describedby'?: string | undefined;
  readonly 'aria-invalid'?: 'true' | undefined;
}
