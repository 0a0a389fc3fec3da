import * as m from '#messages/data-connect';
import { formatList } from '../../../../../messages/format.ts';
import type { DataPolicy } from '../../../../../services/contracts/data/rows.ts';

/** Returns a condition that restricts rows; null for none and `true`. */
export function toRestriction(text: string | null): string | null {
  return text === 'true' ? null : text;
}

/**
 * Describes a policy. Ends with a colon if its condition follows: `Everyone can read rows that match this condition:`.
 */
export function describePolicy({ command, roles, isPermissive, ...expressions }: Omit<DataPolicy, 'name'>): string {
  const [condition, check] = [toRestriction(expressions.condition), toRestriction(expressions.check)];
  const values = { roles: formatRoles(roles), command };
  if (condition === null && check === null) return isPermissive ? m.mayUseAllRows(values) : m.itRestrictsNothing();
  if (condition === null) {
    if (command !== 'INSERT') return m.mayUseAllRowsAndWrite(values);
    return isPermissive ? m.mayAddRows(values) : m.mayOnlyAddRows(values);
  }
  // PostgreSQL also checks written rows against the condition if the policy has no separate check.
  const isCheckedTwice = expressions.check === null ? ['ALL', 'UPDATE'].includes(command) : condition === check;
  if (isCheckedTwice) return isPermissive ? m.mayUseRowsTwice(values) : m.mayOnlyUseRowsTwice(values);
  return isPermissive ? m.mayUseRows(values) : m.mayOnlyUseRows(values);
}

function formatRoles(roles: readonly string[]): string {
  const isEveryone = roles.length === 0 || (roles.includes('anon') && roles.includes('authenticated'));
  if (isEveryone) return m.role({ role: 'public' });
  return formatList(roles.map((role, index) => (index === 0 ? m.role({ role }) : m.furtherRole({ role }))));
}
