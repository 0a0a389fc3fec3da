import type { DataPolicy } from '../../../../services/contracts/data/rows.ts';

const people: Readonly<Record<string, string>> = {
  authenticated: 'Whoever is signed in',
  anon: 'Whoever is not signed in',
  public: 'Everybody',
  service_role: 'Whoever has the service key',
};
const deeds: Readonly<Record<string, string>> = {
  ALL: 'read and change',
  SELECT: 'read',
  INSERT: 'add',
  UPDATE: 'change',
  DELETE: 'remove',
};

/** A condition that says something: none and `true` let everything through. */
export function conditionOf(text: string | null): string | null {
  return text === 'true' ? null : text;
}

/** Who a policy lets do what, with a colon where its condition follows: `Whoever is signed in may read rows where this is true:`. */
export function allowed({ command, roles, isPermissive, ...given }: Omit<DataPolicy, 'name'>): string {
  const [condition, check] = [conditionOf(given.condition), conditionOf(given.check)];
  const may = `${whoOf(roles)} may ${deeds[command] ?? command.toLowerCase()}`;
  if (condition === null && check === null) return isPermissive ? `${may} all rows.` : 'It restricts nothing.';
  const only = isPermissive ? '' : ' only';
  if (condition === null) {
    return command === 'INSERT'
      ? `${may} rows${only} that fit this:`
      : `${may} all rows; what is written must fit this:`;
  }
  // PostgreSQL asks the condition of what is written, too, where no other is given for that.
  const both = given.check === null ? ['ALL', 'UPDATE'].includes(command) : condition === check;
  return `${may} rows${only} where this is true${both ? ', before and after a change' : ''}:`;
}

function whoOf(roles: readonly string[]): string {
  const all = roles.length === 0 || (roles.includes('anon') && roles.includes('authenticated'));
  if (all) return 'Everybody';
  const [first = '', ...others] = roles.map((role) => people[role] ?? `The role ${role}`);
  return [first, ...others.map((name) => name.slice(0, 1).toLowerCase() + name.slice(1))].join(' and ');
}
