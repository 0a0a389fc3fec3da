import type { DataPolicy } from '../../../../../services/contracts/data/rows.ts';

const roleLabels: Readonly<Record<string, string>> = {
  authenticated: 'Whoever is signed in',
  anon: 'Whoever is not signed in',
  public: 'Everybody',
  service_role: 'Whoever has the service key',
};
const commandVerbs: Readonly<Record<string, string>> = {
  ALL: 'read and change',
  SELECT: 'read',
  INSERT: 'add',
  UPDATE: 'change',
  DELETE: 'remove',
};

/** Returns a condition that restricts rows; null for none and `true`. */
export function toRestriction(text: string | null): string | null {
  return text === 'true' ? null : text;
}

/**
 * Describes a policy. Ends with a colon if its condition follows: `Users may read rows where this is true:`.
 */
export function describePolicy({ command, roles, isPermissive, ...expressions }: Omit<DataPolicy, 'name'>): string {
  const [condition, check] = [toRestriction(expressions.condition), toRestriction(expressions.check)];
  const may = `${formatRoles(roles)} may ${commandVerbs[command] ?? command.toLowerCase()}`;
  if (condition === null && check === null) return isPermissive ? `${may} all rows.` : 'It restricts nothing.';
  const qualifier = isPermissive ? '' : ' only';
  if (condition === null) {
    return command === 'INSERT'
      ? `${may} rows${qualifier} that fit this:`
      : `${may} all rows; what is written must fit this:`;
  }
  // PostgreSQL also checks written rows against the condition if the policy has no separate check.
  const isCheckedTwice = expressions.check === null ? ['ALL', 'UPDATE'].includes(command) : condition === check;
  return `${may} rows${qualifier} where this is true${isCheckedTwice ? ', before and after a change' : ''}:`;
}

function formatRoles(roles: readonly string[]): string {
  const isEveryone = roles.length === 0 || (roles.includes('anon') && roles.includes('authenticated'));
  if (isEveryone) return 'Everybody';
  const [first = '', ...others] = roles.map((role) => roleLabels[role] ?? `The role ${role}`);
  return [first, ...others.map((name) => name.slice(0, 1).toLowerCase() + name.slice(1))].join(' and ');
}
