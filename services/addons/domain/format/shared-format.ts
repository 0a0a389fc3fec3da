import { toRecord } from '../../../contracts/is-record.ts';
import type { FormatTemplates } from './predefined.ts';
import { maxTemplateLength } from './template.ts';

/** Fields under which programs store the texts of a format, outermost first. */
const containers = ['userData', 'config', 'formatter', 'definitions', 'custom', 'definition'] as const;
const maxDepth = 6;

/**
 * Finds the texts of a format in shared JSON: the two texts themselves, a formatter of AIOStreams, or a configuration
 * that contains one. Returns undefined when there are none, or when they are too long.
 */
export function findSharedFormat(value: unknown, depth = 0): FormatTemplates | undefined {
  const { name, description, ...fields } = toRecord(value);
  for (const container of depth < maxDepth ? containers : []) {
    const format = fields[container] === undefined ? undefined : findSharedFormat(fields[container], depth + 1);
    if (format !== undefined) return format;
  }
  if (typeof name !== 'string' || typeof description !== 'string') return undefined;
  const isTooLong = name.length > maxTemplateLength || description.length > maxTemplateLength;
  return isTooLong ? undefined : { name, description };
}
