import { findOwn } from '../../contracts/find-own.ts';
import type { AddonConfig } from './config.ts';

/** Returns the section of a configuration that a field belongs to; `misc` by default. */
function sectionOf(member: string): string {
  if (member === 'presets' || member === 'services' || member === 'formatter' || member === 'proxy') return member;
  if (member === 'sortCriteria' || member.startsWith('preferred')) return 'sorting';
  if (
    /^(?:excluded?|included?|required|size$|bitrate$|seederRange|deduplicator$|resultLimits$|\w+Matching$)/.test(member)
  )
    return 'filters';
  return member.startsWith('addon') ? 'branding' : 'misc';
}

const ownAlways = new Set(['uuid', 'parentConfig', 'accessKey', 'addonPassword']);

/**
 * Merges a configuration with its parent. Each section uses a strategy: `inherit` uses the parent, `extend` both and
 * `override` the child. Without a strategy the child has priority and the parent supplies empty fields.
 */
export function mergeParent(parent: AddonConfig, child: AddonConfig): AddonConfig {
  const strategies = child.parentConfig?.mergeStrategies ?? {};
  const merged: Record<string, unknown> = {};
  for (const member of new Set([...Object.keys(parent), ...Object.keys(child)])) {
    const [theirs, ours] = [parent[member], child[member]];
    if (ownAlways.has(member)) {
      if (ours !== undefined) merged[member] = ours;
      continue;
    }
    const strategy = findOwn(strategies, sectionOf(member));
    if (strategy === 'inherit') merged[member] = theirs ?? ours;
    else if (strategy === 'override') merged[member] = ours;
    else if (strategy === 'extend') merged[member] = extended(theirs, ours);
    else merged[member] = saysNothing(ours) ? theirs : ours;
  }
  return { ...(merged as AddonConfig), presets: (merged['presets'] as AddonConfig['presets'] | undefined) ?? [] };
}

function saysNothing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function extended(theirs: unknown, ours: unknown): unknown {
  if (saysNothing(ours)) return theirs;
  if (saysNothing(theirs)) return ours;
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    const known = new Set(ours.map(identity));
    return [...ours, ...theirs.filter((item) => !known.has(identity(item)))] as unknown[];
  }
  return isRecord(theirs) && isRecord(ours) ? { ...theirs, ...ours } : ours;
}

/** Returns the identity of a list item. Addons and services with the same ID are one item. */
function identity(item: unknown): string {
  if (isRecord(item)) {
    const id = item['instanceId'] ?? item['id'] ?? item['key'];
    if (typeof id === 'string') return id;
  }
  return JSON.stringify(item);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
