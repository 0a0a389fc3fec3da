import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { quoteIdentifier } from './sql-names.ts';

/** Commands that a policy can apply to. */
export const policyCommands = ['ALL', 'SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;
/** Command that a policy applies to. */
export type PolicyCommand = (typeof policyCommands)[number];

const name = z.string().min(1).max(63);
const expression = z.string().trim().max(20_000).default('');

/** Parses a policy as entered in the editor. */
export const DataPolicyInput = z.object({
  name,
  isPermissive: z.boolean().default(true),
  command: z.enum(policyCommands).default('ALL'),
  /** Empty for all roles. */
  roles: z.array(name).max(100).default([]),
  /** `USING` expression; empty for none. */
  condition: expression,
  /** `WITH CHECK` expression; empty for none. */
  check: expression,
});
/** Policy as entered in the editor. */
export type DataPolicyInput = z.output<typeof DataPolicyInput>;

/** Input of the editor that a range of the statement comes from. */
export interface PolicyClause {
  readonly field: 'name' | 'roles' | 'condition' | 'check';
  /** Character range in the statement, from 0, end exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Tells whether PostgreSQL accepts a `USING` expression for the command. */
export const hasCondition = (command: PolicyCommand): boolean => command !== 'INSERT';

/** Tells whether PostgreSQL accepts a `WITH CHECK` expression for the command. */
export const hasCheck = (command: PolicyCommand): boolean => command !== 'SELECT' && command !== 'DELETE';

/**
 * Builds the `CREATE POLICY` statement and the ranges of its inputs. The pages show the same statement that the service
 * runs.
 *
 * @param table quoted name with schema
 */
export function buildPolicyStatement(
  table: string,
  policy: DataPolicyInput,
): { readonly text: string; readonly clauses: readonly PolicyClause[] } {
  let text = 'create policy ';
  const clauses: PolicyClause[] = [];
  const append = (part: string, field?: PolicyClause['field']): void => {
    if (field !== undefined) clauses.push({ field, start: text.length, end: text.length + part.length });
    text += part;
  };
  append(quoteIdentifier(policy.name), 'name');
  append(` on ${table}`);
  if (!policy.isPermissive) append('\n  as restrictive');
  append(`\n  for ${policy.command.toLowerCase()}`);
  if (policy.roles.length > 0) {
    append(' to ');
    append(policy.roles.map(quoteIdentifier).join(', '), 'roles');
  }
  // The parenthesis has its own line, because the expression may end with a comment.
  for (const { keyword, field, isAllowed } of expressionClauses) {
    if (!isAllowed(policy.command) || policy[field] === '') continue;
    append(`\n  ${keyword} (\n    `);
    append(policy[field], field);
    append('\n  )');
  }
  return { text, clauses };
}

const expressionClauses = [
  { keyword: 'using', field: 'condition', isAllowed: hasCondition },
  { keyword: 'with check', field: 'check', isAllowed: hasCheck },
] as const;

const done = z.object({ ok: z.literal(true) });
const tablePath = '/api/data/tables/:schema/:name';

/** Routes that change the row policies of a table. */
export const dataPoliciesApi = {
  roles: defineRoute({
    method: 'GET',
    path: '/api/data/policy-roles',
    summary: 'Lists the roles that a policy can apply to.',
    access: 'admin',
    reply: z.object({ roles: z.array(z.string()) }),
  }),
  create: defineRoute({
    method: 'POST',
    path: `${tablePath}/policies`,
    summary: 'Creates a policy.',
    access: 'admin',
    body: DataPolicyInput,
    reply: done,
  }),
  replace: defineRoute({
    method: 'PUT',
    path: `${tablePath}/policies/:policy`,
    summary: 'Replaces a policy in one transaction.',
    access: 'admin',
    body: DataPolicyInput,
    reply: done,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: `${tablePath}/policies/:policy`,
    summary: 'Deletes a policy.',
    access: 'admin',
    reply: done,
  }),
};
