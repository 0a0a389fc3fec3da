import type { StreamAddon } from '../stream.ts';
import type { TitleRequest } from '../title-request.ts';

/** Scope of a rule. Empty lists do not limit it. */
export interface RuleScope {
  readonly enabled?: boolean | null | undefined;
  readonly requestTypes?: readonly string[] | null | undefined;
  readonly addons?: readonly string[] | null | undefined;
}

/** Returns true when a rule is enabled for a request. */
export function appliesToRequest(rule: RuleScope | null | undefined, { type, anime }: TitleRequest): boolean {
  if (rule?.enabled !== true) return false;
  const types = rule.requestTypes ?? [];
  return types.length === 0 || types.includes(type) || (anime && types.includes('anime'));
}

/** Returns true when a rule applies to the streams of an addon. */
export function appliesToAddon(rule: RuleScope | null | undefined, addon: StreamAddon): boolean {
  const ids = rule?.addons ?? [];
  return ids.length === 0 || includesAddon(addon, new Set(ids));
}

/** Returns true when a list of IDs contains the addon. */
export function includesAddon({ instanceId }: StreamAddon, ids: ReadonlySet<string>): boolean {
  return ids.has(instanceId) || ids.has(instanceId.slice(0, -4));
}
