import { Grant } from '../../../services/contracts/control/accounts.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';

interface GrantSources {
  /** Grants of the account. */
  readonly current: readonly Grant[];
  /** Grants that groups added at an earlier sign-in. */
  readonly formerlyAssigned: readonly Grant[];
  /** Grants of the current groups. */
  readonly assigned: readonly Grant[];
  /** Targets (`<service> <pattern>`) of grants that the settings declare. They are never removed here. */
  readonly declaredTargets: ReadonlySet<string>;
}

/**
 * Replaces the grants of former groups with those of the current ones. A grant that an administrator set for the same
 * resource takes precedence and stays.
 */
export function mergeProviderGrants({ current, formerlyAssigned, assigned, declaredTargets }: GrantSources): {
  readonly grants: readonly Grant[];
  /** Grants that come from the groups. */
  readonly assigned: readonly Grant[];
} {
  const former = new Set(formerlyAssigned.map(formatGrant));
  const own = current.filter((grant) => !former.has(formatGrant(grant)) || declaredTargets.has(formatTarget(grant)));
  const ownTargets = new Set(own.map(formatTarget));
  const added = assigned.filter((grant) => !ownTargets.has(formatTarget(grant)));
  return { grants: [...own, ...added], assigned: added };
}

/** Compares grants regardless of their order, which has no effect on rights. */
export function areSameGrants(one: readonly Grant[], other: readonly Grant[]): boolean {
  const texts = new Set(one.map(formatGrant));
  return one.length === other.length && other.every((grant) => texts.has(formatGrant(grant)));
}

/** Formats grants for the security log. */
export function formatGrantList(grants: readonly Grant[]): string {
  return grants.map(formatGrant).join(', ') || 'none';
}

/** Parses stored grants. */
export function parseGrants(text: string): readonly Grant[] {
  return Grant.array().parse(parseJson(text));
}

function formatGrant(grant: Grant): string {
  return `${formatTarget(grant)}: ${grant.permission}`;
}

function formatTarget({ service, resource }: Grant): string {
  return `${service} ${resource}`;
}
