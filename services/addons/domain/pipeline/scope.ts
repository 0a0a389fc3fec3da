import type { StreamAddon } from '../stream.ts';
import type { Wanted } from './title-request.ts';

/** What a rule is about; empty lists limit nothing. */
export interface RuleScope {
  readonly enabled?: boolean | null | undefined;
  readonly requestTypes?: readonly string[] | null | undefined;
  readonly addons?: readonly string[] | null | undefined;
}

/** Whether a rule is switched on for what is asked. */
export function isAboutRequest(rule: RuleScope | null | undefined, { type, anime }: Wanted): boolean {
  if (rule?.enabled !== true) return false;
  const types = rule.requestTypes ?? [];
  return types.length === 0 || types.includes(type) || (anime && types.includes('anime'));
}

/** Whether a rule is about the streams of this addon. */
export function isAboutAddon(rule: RuleScope | null | undefined, addon: StreamAddon): boolean {
  const ids = rule?.addons ?? [];
  return ids.length === 0 || isOneOf(addon, new Set(ids));
}

/** Whether an addon is among those that a configuration names by their ids. */
export function isOneOf({ instanceId }: StreamAddon, ids: ReadonlySet<string>): boolean {
  return ids.has(instanceId) || ids.has(instanceId.slice(0, -4));
}
