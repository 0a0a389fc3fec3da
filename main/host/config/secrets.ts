import { isDeepStrictEqual } from 'node:util';
import { RedactedSecret } from '../../../services/contracts/control/settings.ts';
import { findElement, containsSecret, isSecret, findProperty, type SchemaNode } from './json-schema.ts';
import { toRecord, isRecord } from '../../../services/contracts/is-record.ts';

/** Secret in an exported file, sealed by the vault of the exporting host. */
export interface SealedSecret {
  readonly sealed: string;
}

export function isSealed(value: unknown): value is SealedSecret {
  return isRecord(value) && typeof value['sealed'] === 'string' && Object.keys(value).length === 1;
}

/** Returns the value with each secret replaced by `replace`; undefined removes the property. */
export function replaceSecrets(
  value: unknown,
  node: SchemaNode,
  replace: (secret: unknown, path: readonly (string | number)[]) => unknown,
  path: readonly (string | number)[] = [],
): unknown {
  if (isSecret(node)) return replace(value, path);
  if (Array.isArray(value)) {
    return value.map((each, index) => replaceSecrets(each, findElement(node, index), replace, [...path, index]));
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => [
    name,
    replaceSecrets(each, findProperty(node, name), replace, [...path, name]),
  ]);
  return Object.fromEntries(entries.filter(([, each]) => each !== undefined));
}

/** Returns the value with redacted secrets, for pages. */
export function redactSecrets(value: unknown, node: SchemaNode): unknown {
  return replaceSecrets(value, node, (secret): RedactedSecret => ({
    set: secret !== undefined && secret !== null && secret !== '',
  }));
}

/**
 * Restores the secrets of `current` in a value that a page sends with redacted ones. In a list, an element that is
 * otherwise unchanged gets its own secret back at any index; a single changed one gets that of the single remaining
 * element. Uncertain cases are not guessed: `lost` is called with the path of the secret.
 */
export function restoreSecrets(
  value: unknown,
  current: unknown,
  node: SchemaNode,
  onLost: (path: readonly (string | number)[]) => void,
  path: readonly (string | number)[] = [],
): unknown {
  if (!containsSecret(node)) return value;
  if (isSecret(node)) {
    const hidden = RedactedSecret.safeParse(value);
    if (!hidden.success) return value;
    if (hidden.data.set && current === undefined) onLost(path);
    return current;
  }
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    const remaining: unknown[] = Array.isArray(current) ? [...current] : [];
    const restored = list.map((each, index) => {
      const element = findElement(node, index);
      const path = remaining.findIndex((candidate) => isDeepStrictEqual(redactSecrets(candidate, element), each));
      return path === -1 ? undefined : { value: remaining.splice(path, 1)[0] };
    });
    const open = restored.filter((each) => each === undefined).length;
    const onlySecret = open === 1 && remaining.length === 1 ? remaining[0] : undefined;
    return restored.map((matches, index) =>
      matches === undefined
        ? restoreSecrets(list[index], onlySecret, findElement(node, index), onLost, [...path, index])
        : matches.value,
    );
  }
  if (!isRecord(value)) return value;
  const before = toRecord(current);
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => [
    name,
    restoreSecrets(each, Object.hasOwn(before, name) ? before[name] : undefined, findProperty(node, name), onLost, [
      ...path,
      name,
    ]),
  ]);
  return Object.fromEntries(entries.filter(([, each]) => each !== undefined));
}
