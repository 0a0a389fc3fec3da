import { refuse } from './refusals.ts';

const prioritiesByName: Readonly<Record<string, number>> = {
  '1': 1,
  min: 1,
  '2': 2,
  low: 2,
  '3': 3,
  default: 3,
  '4': 4,
  high: 4,
  '5': 5,
  max: 5,
  urgent: 5,
};

export const defaultPriority = 3;

/**
 * Parses a priority; undefined for empty text.
 *
 * @throws Problem 40007
 */
export function parsePriority(text: string): number | undefined {
  const name = text.trim().toLowerCase();
  if (name === '') return undefined;
  const priority = Object.hasOwn(prioritiesByName, name) ? prioritiesByName[name] : undefined;
  if (priority === undefined) throw refuse('priority_invalid');
  return priority;
}
