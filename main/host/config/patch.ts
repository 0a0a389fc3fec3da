import * as m from '#messages/config-problems';
import { isDeepStrictEqual } from 'node:util';
import type { Document } from 'yaml';
import { Problem } from '../../../services/contracts/problem.ts';
import { RedactedSecret, type SettingsProblem } from '../../../services/contracts/control/settings.ts';
import { setField } from './document.ts';
import type { ResolvedSection } from './layers.ts';
import { isSecret, findUnknown } from './json-schema.ts';
import { restoreSecrets } from './secrets.ts';
import type { Field } from './sections.ts';
import { writtenValue } from './settings.ts';

/**
 * Writes a client's change of one section into the document. Null restores the default (unless null is a value of the
 * field); a redacted secret is unchanged.
 * @throws Problem `config.invalid` (422) for unknown fields, `config.locked` (409) for those set from outside.
 */
export function applyPatch(yaml: Document, resolved: ResolvedSection, patch: Readonly<Record<string, unknown>>): void {
  const { section, origins } = resolved;
  const invalid: SettingsProblem[] = [];
  const locked: { readonly field: Field; readonly name: string }[] = [];
  const accepted: (() => void)[] = [];

  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    const field = section.fields.find((each) => each.name === name);
    if (field === undefined) {
      invalid.push({ path: [...section.path, name].join('.'), message: m.settingUnknown() });
      continue;
    }
    if (isSecret(field.place) && RedactedSecret.safeParse(value).success) continue;
    for (const path of findUnknown(value, field.place)) {
      invalid.push({ path: [field.path, ...path].join('.'), message: m.settingUnknown() });
    }
    const current = writtenValue(resolved, name);
    const next = restoreSecrets(value, current, field.place, (path) => {
      invalid.push({ path: [field.path, ...path].join('.'), message: m.secretAgain() });
    });
    const origin = origins[name];
    if (origin !== undefined && 'name' in origin) {
      if (!isDeepStrictEqual(next, current)) locked.push({ field, name: origin.name });
      continue;
    }
    accepted.push(() => setField(yaml, section.path, name, next === null && !field.acceptsNull ? undefined : next));
  }

  if (invalid.length > 0) throw invalidSettings(invalid);
  const [first] = locked;
  if (first !== undefined) {
    throw new Problem('config.locked', 409, m.settingLocked({ title: first.field.title, name: first.name }), {
      fields: Object.fromEntries(locked.map(({ field, name }) => [field.path, m.lockedBy({ name })])),
    });
  }
  for (const accept of accepted) accept();
}

/**
 * Refuses a change that makes the changed fields of the file invalid, or that causes any new problem (such as with
 * overriding values). Existing problems elsewhere do not prevent a change.
 * @throws Problem `config.invalid` (422).
 */
export function refuseNewProblems(
  before: readonly SettingsProblem[],
  after: readonly SettingsProblem[],
  inFile: readonly SettingsProblem[],
  touched: readonly string[],
): void {
  const isTouched = ({ path }: SettingsProblem): boolean =>
    touched.some((each) => path === each || path.startsWith(`${each}.`) || each.startsWith(`${path}.`));
  const isNew = ({ path, message }: SettingsProblem): boolean =>
    !before.some((old) => old.path === path && old.message === message);
  const problems = [...inFile.filter(isTouched), ...after.filter(isNew)];
  if (problems.length > 0) throw invalidSettings(problems);
}

/** Builds the Problem `config.invalid` (422): the first problem as detail, all of them as fields. */
export function invalidSettings(problems: readonly SettingsProblem[]): Problem {
  const [first] = problems;
  const detail = first === undefined ? m.settingsInvalid() : m.withPath({ path: first.path, reason: first.message });
  return new Problem('config.invalid', 422, detail, {
    fields: Object.fromEntries(problems.map(({ path, message }) => [path, message])),
  });
}
