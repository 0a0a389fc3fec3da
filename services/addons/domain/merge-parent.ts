import { findOwn } from '../../contracts/find-own.ts';
import type { AddonConfig } from './config.ts';
import { isRecord } from '../../contracts/is-record.ts';

/** Returns the section of a configuration that a field belongs to; `misc` by default. */
function getSection(member: string): string {
  if (member === 'presets' || member === 'services' || member === 'formatter' || member === 'proxy') return member;
  if (member === 'sortCriteria' || member.startsWith('preferred')) return 'sorting';
  if (
    /^(?:excluded?|included?|required|size$|bitrate$|seederRange|deduplicator$|resultLimits$|\w+Matching$)/.test(member)
  )
    return 'filters';
  return member.startsWith('addon') ? 'branding' : 'misc';
}

const notInherited = new Set(['uuid', 'parentConfig', 'accessKey', 'addonPassword']);

/**
 * Merges a configuration with its parent. Each section uses a strategy: `inherit` uses the parent, `extend` both and
 * `override` the child. Without a strategy the child has priority and the parent supplies empty fields.
 */
export function mergeParentConfig(parent: AddonConfig, child: AddonConfig): AddonConfig {
  const strategies = child.parentConfig?.mergeStrategies ?? {};
  const merged: Record<string, unknown> = {};
  for (const member of new Set([...Object.keys(parent), ...Object.keys(child)])) {
    const [parentValue, childValue] = [parent[member], child[member]];
    if (notInherited.has(member)) {
      if (childValue !== undefined) merged[member] = childValue;
      continue;
    }
    const strategy = findOwn(strategies, getSection(member));
    if (strategy === 'inherit') merged[member] = parentValue ?? childValue;
    else if (strategy === 'override') merged[member] = childValue;
    else if (strategy === 'extend') merged[member] = extendValue(parentValue, childValue);
    else merged[member] = isEmpty(childValue) ? parentValue : childValue;
  }
  return { ...(merged as AddonConfig), presets: (merged['presets'] as AddonConfig['presets'] | undefined) ?? [] };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function extendValue(parentValue: unknown, childValue: unknown): unknown {
  if (isEmpty(childValue)) return parentValue;
  if (isEmpty(parentValue)) return childValue;
  if (Array.isArray(parentValue) && Array.isArray(childValue)) {
    const childKeys = new Set(childValue.map(getItemKey));
    return [...childValue, ...parentValue.filter((item) => !childKeys.has(getItemKey(item)))] as unknown[];
  }
  return isRecord(parentValue) && isRecord(childValue) ? { ...parentValue, ...childValue } : childValue;
}

/** Returns the identity of a list item. Addons and services with the same ID are one item. */
function getItemKey(item: unknown): string {
  if (isRecord(item)) {
    const id = item['instanceId'] ?? item['id'] ?? item['key'];
    if (typeof id === 'string') return id;
  }
  return JSON.stringify(item);
}
