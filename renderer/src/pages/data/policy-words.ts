import type { DataPolicy } from '../../../../services/contracts/data/rows.ts';

const people: Readonly<Record<string, string>> = {
  authenticated: 'Whoever is signed in',
  anon: 'Whoever is not signed in',
  public: 'Everybody',
  service_role: 'Whoever has the service key',
};
const deeds: Readonly<Record<string, string>> = {
  ...{ ALL: 'read and change', SELECT: 'read', INSERT: 'add', UPDATE: 'change' },
  DELETE: 'remove',
};

/** Who a policy lets do what, with a colon where its condition follows: `Whoever is signed in may read rows where this is true:`. */
export function allowed({ command, roles, isPermissive, condition, check }: Omit<DataPolicy, 'name'>): string {
  const who = roles.length === 0 ? 'Everybody' : roles.map((role) => people[role] ?? `The role ${role}`).join(', ');
  const may = `${who} may ${deeds[command] ?? command.toLowerCase()}`;
  const isFree = (text: string | null): boolean => text === null || text === 'true';
  if (isFree(condition) && isFree(check)) return `${may} all rows.`;
  const only = isPermissive ? '' : ' only';
  if (condition === null) return `${may} rows${only} that fit this:`;
  return `${may} rows${only} where this is true${condition === check ? ', before and after a change' : ''}:`;
}
