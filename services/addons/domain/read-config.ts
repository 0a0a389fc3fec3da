import { Problem } from '../../contracts/problem.ts';
import { AddonConfig, configProblem, peerWords } from './config.ts';

const deepest = 32;
/** Keys by which an object could be made something else than it is. */
const refusedKeys = new Set(['__proto__', 'constructor', 'prototype']);

/** A configuration out of JSON text. @throws Problem `addons.invalid_config` (400) */
export function parseConfig(text: string): AddonConfig {
  let value: unknown;
  try {
    value = JSON.parse(text, (key, inner: unknown) => (refusedKeys.has(key) ? undefined : inner));
  } catch (cause) {
    throw invalid('The configuration is not JSON.', cause);
  }
  return readConfig(value);
}

/** A configuration out of a parsed body. @throws Problem `addons.invalid_config` (400) */
export function readConfig(value: unknown): AddonConfig {
  if (isTooDeep(value)) throw invalid('The configuration is nested too deep.');
  const read = AddonConfig.safeParse(value, peerWords);
  if (!read.success) throw invalid(configProblem(read.error), read.error);
  const ids = new Set<string>();
  for (const { instanceId } of read.data.presets) {
    if (ids.has(instanceId)) throw invalid(`Two addons have the instance id ${instanceId}.`);
    ids.add(instanceId);
  }
  return read.data;
}

/**
 * A configuration out of an address: Base64 or base64url of its JSON. A `+` that a query decoder made a space is one again.
 * @throws Problem `addons.invalid_config` (400)
 */
export function decodeConfig(encoded: string): AddonConfig {
  const standard = encoded.replaceAll(' ', '+').replaceAll('-', '+').replaceAll('_', '/');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(standard)) throw invalid('The configuration in the address cannot be read.');
  return parseConfig(Buffer.from(standard, 'base64').toString('utf8'));
}

function isTooDeep(root: unknown): boolean {
  const pending: { value: object; depth: number }[] = [];
  if (typeof root === 'object' && root !== null) pending.push({ value: root, depth: 1 });
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.depth > deepest) return true;
    for (const inner of Object.values(next.value) as unknown[])
      if (typeof inner === 'object' && inner !== null) pending.push({ value: inner, depth: next.depth + 1 });
  }
  return false;
}

function invalid(detail: string, cause?: unknown): Problem {
  return new Problem('addons.invalid_config', 400, detail, { cause });
}
