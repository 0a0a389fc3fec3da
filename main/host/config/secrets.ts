import { isDeepStrictEqual } from 'node:util';
import { RedactedSecret } from '../../../services/contracts/control/settings.ts';
import { elementOf, holdsSecret, isRecord, isSecret, propertyOf, type SchemaPlace } from './json-schema.ts';

/** A secret in an exported file, sealed by the vault of the host that wrote it. */
export interface SealedSecret {
  readonly sealed: string;
}

export function isSealed(value: unknown): value is SealedSecret {
  return isRecord(value) && typeof value['sealed'] === 'string' && Object.keys(value).length === 1;
}

/** The value with each secret in it passed through `replace`; where that answers undefined, the property is left out. */
export function replaceSecrets(
  value: unknown,
  place: SchemaPlace,
  replace: (secret: unknown, path: readonly (string | number)[]) => unknown,
  path: readonly (string | number)[] = [],
): unknown {
  if (isSecret(place)) return replace(value, path);
  if (Array.isArray(value)) {
    return value.map((each, index) => replaceSecrets(each, elementOf(place, index), replace, [...path, index]));
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => [
    name,
    replaceSecrets(each, propertyOf(place, name), replace, [...path, name]),
  ]);
  return Object.fromEntries(entries.filter(([, each]) => each !== undefined));
}

/** The value as pages may see it. */
export function hideSecrets(value: unknown, place: SchemaPlace): unknown {
  return replaceSecrets(value, place, (secret): RedactedSecret => ({
    set: secret !== undefined && secret !== null && secret !== '',
  }));
}

/**
 * Puts the secrets of `current` back into a value that a page sends with hidden ones. In a list, an element that is
 * otherwise unchanged gets its own secret back wherever it moved; a single changed one gets that of the single element
 * that is left over. Anything less certain is not guessed: `lost` is called with the place of the secret.
 */
export function restoreSecrets(
  value: unknown,
  current: unknown,
  place: SchemaPlace,
  lost: (path: readonly (string | number)[]) => void,
  path: readonly (string | number)[] = [],
): unknown {
  if (!holdsSecret(place)) return value;
  if (isSecret(place)) {
    const hidden = RedactedSecret.safeParse(value);
    if (!hidden.success) return value;
    if (hidden.data.set && current === undefined) lost(path);
    return current;
  }
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    const left: unknown[] = Array.isArray(current) ? [...current] : [];
    const restored = list.map((each, index) => {
      const element = elementOf(place, index);
      const at = left.findIndex((candidate) => isDeepStrictEqual(hideSecrets(candidate, element), each));
      return at === -1 ? undefined : { value: left.splice(at, 1)[0] };
    });
    const open = restored.filter((each) => each === undefined).length;
    const spare = open === 1 && left.length === 1 ? left[0] : undefined;
    return restored.map((found, index) =>
      found === undefined
        ? restoreSecrets(list[index], spare, elementOf(place, index), lost, [...path, index])
        : found.value,
    );
  }
  if (!isRecord(value)) return value;
  const before = isRecord(current) ? current : {};
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => [
    name,
    restoreSecrets(each, Object.hasOwn(before, name) ? before[name] : undefined, propertyOf(place, name), lost, [
      ...path,
      name,
    ]),
  ]);
  return Object.fromEntries(entries.filter(([, each]) => each !== undefined));
}
