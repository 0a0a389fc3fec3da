import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { optionsOf, ProtectionOptions } from '../protection/protections.ts';
import { unknown } from '../repositories/lookup.ts';
import type { ProtectionRow } from '../store/rest.ts';
import { timeOf } from '../wire/time.ts';
import { bodyOf, created, noContent, ok, optional, type Call, type Route } from './call.ts';
import { named, type RestParts } from './api-dependencies.ts';

const partial = Object.fromEntries(
  Object.entries(ProtectionOptions.shape).map(([name, schema]) => [name, optional(schema.unwrap())]),
);
const body = z.object({ rule_name: optional(z.string()), branch_name: optional(z.string()), ...partial });

/** Protected branches. */
export function protectionRoutes({ lookup, protections }: RestParts): readonly Route[] {
  const base = '/repos/:owner/:repo/branch_protections';
  const repositoryOf = (call: Call) => lookup.need(call.visitor, named(call), 'admin');
  const one = async (call: Call): Promise<ProtectionRow> => {
    const row = await protections.find((await repositoryOf(call)).id, call.params['name'] ?? '');
    if (row === undefined) throw unknown();
    return row;
  };
  return [
    {
      method: 'GET',
      path: base,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => ok((await protections.list((await repositoryOf(call)).id)).map(protectionJson)),
    },
    {
      method: 'POST',
      path: base,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const repository = await repositoryOf(call);
        const { rule_name, branch_name, ...asked } = await bodyOf(call, body);
        const rule = rule_name === undefined || rule_name === '' ? (branch_name ?? '') : rule_name;
        if (rule === '') throw new Problem('git.invalid', 422, 'both rule_name and branch_name are empty');
        return created(protectionJson(await protections.create(repository.id, rule, merged({}, asked))));
      },
    },
    {
      method: 'GET',
      path: `${base}/*name`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => ok(protectionJson(await one(call))),
    },
    {
      method: 'PATCH',
      path: `${base}/*name`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const row = await one(call);
        const { rule_name: _rule, branch_name: _branch, ...asked } = await bodyOf(call, body);
        return ok(protectionJson(await protections.change(row, merged(optionsOf(row), asked))));
      },
    },
    {
      method: 'DELETE',
      path: `${base}/*name`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        await protections.remove(await one(call));
        return noContent;
      },
    },
  ];
}

function merged(before: object, asked: object): ProtectionOptions {
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  return ProtectionOptions.parse({ ...before, ...Object.fromEntries(given) });
}

/** A rule as the peer shows it; what is not enforced here (teams, signatures, patterns of files) is shown as switched off. */
function protectionJson(row: ProtectionRow) {
  const isPattern = /[*?[{]/.test(row.rule);
  return {
    branch_name: isPattern ? '' : row.rule,
    rule_name: row.rule,
    priority: row.id,
    ...optionsOf(row),
    push_whitelist_teams: [],
    force_push_allowlist_teams: [],
    merge_whitelist_teams: [],
    approvals_whitelist_teams: [],
    require_signed_commits: false,
    protected_file_patterns: '',
    unprotected_file_patterns: '',
    created_at: timeOf(row.created_at),
    updated_at: timeOf(row.updated_at),
  };
}
