import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { parseProtectionOptions, ProtectionOptions } from '../protection/protections.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { ProtectionRow } from '../store/repository-relations.ts';
import { formatTime } from '../wire/time.ts';
import { readJsonBody, created, noContent, ok, optional, signedInRoute, type Call, type Route } from './call.ts';
import { getRepositoryName } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'accessControl' | 'pushControl'>;

const partial = Object.fromEntries(
  Object.entries(ProtectionOptions.shape).map(([name, schema]) => [name, optional(schema.unwrap())]),
);
const body = z.object({ rule_name: optional(z.string()), branch_name: optional(z.string()), ...partial });

/** Builds the routes of protected branches. */
export function protectionRoutes(deps: Dependencies): readonly Route[] {
  const { lookup } = deps.accessControl;
  const { protections } = deps.pushControl;
  const base = '/repos/:owner/:repo/branch_protections';
  const getAdministered = (call: Call) => lookup.require(call.caller, getRepositoryName(call), 'admin');
  const getProtection = async (call: Call): Promise<ProtectionRow> => {
    const row = await protections.find((await getAdministered(call)).id, call.params['name'] ?? '');
    if (row === undefined) throw buildNotFoundProblem();
    return row;
  };
  return [
    signedInRoute('GET', base, 'repository', async (call) =>
      ok((await protections.list((await getAdministered(call)).id)).map(protectionJson)),
    ),
    signedInRoute('POST', base, 'repository', async (call) => {
      const repository = await getAdministered(call);
      const { rule_name, branch_name, ...input } = await readJsonBody(call, body);
      const rule = rule_name === undefined || rule_name === '' ? (branch_name ?? '') : rule_name;
      if (rule === '') throw new Problem('git.invalid', 422, 'both rule_name and branch_name are empty');
      return created(protectionJson(await protections.create(repository.id, rule, mergeOptions({}, input))));
    }),
    signedInRoute('GET', `${base}/*name`, 'repository', async (call) => ok(protectionJson(await getProtection(call)))),
    signedInRoute('PATCH', `${base}/*name`, 'repository', async (call) => {
      const row = await getProtection(call);
      const { rule_name: _rule, branch_name: _branch, ...input } = await readJsonBody(call, body);
      return ok(protectionJson(await protections.change(row, mergeOptions(parseProtectionOptions(row), input))));
    }),
    signedInRoute('DELETE', `${base}/*name`, 'repository', async (call) => {
      await protections.remove(await getProtection(call));
      return noContent;
    }),
  ];
}

function mergeOptions(before: object, input: object): ProtectionOptions {
  const present = Object.entries(input).filter(([, value]) => value !== undefined);
  return ProtectionOptions.parse({ ...before, ...Object.fromEntries(present) });
}

/** Converts a rule to JSON. Options that are not enforced (teams, signatures, file patterns) are listed as disabled. */
function protectionJson(row: ProtectionRow) {
  const isPattern = /[*?[{]/.test(row.rule);
  return {
    branch_name: isPattern ? '' : row.rule,
    rule_name: row.rule,
    priority: row.id,
    ...parseProtectionOptions(row),
    push_whitelist_teams: [],
    force_push_allowlist_teams: [],
    merge_whitelist_teams: [],
    approvals_whitelist_teams: [],
    require_signed_commits: false,
    protected_file_patterns: '',
    unprotected_file_patterns: '',
    created_at: formatTime(row.created_at),
    updated_at: formatTime(row.updated_at),
  };
}
