import * as m from '#messages/downloads-problems';
import { ignoredWithoutEffect, ignoredWithReason, refusedOptions } from './option-names.ts';
import {
  findEntries,
  downloadOnlyOptions,
  listOnlyOptions,
  rules,
  settingsOnlyRules,
  type Rule,
} from './option-rules.ts';
import { findIgnoredPostprocessors, readPostprocessors } from './postprocessors.ts';
import { findTemplateProblem } from './template.ts';

/** Options of the extractor by the names of its Python interface, as in MeTube. */
export type Options = Readonly<Record<string, unknown>>;

/** Source of an option: some are allowed only in the settings. */
export type OptionSource = 'settings' | 'request';

/** Purpose of a run of the extractor. */
export type Purpose = 'probe' | 'download';

/** Options that are evaluated here instead of becoming arguments. */
const evaluatedOptions: ReadonlySet<string> = new Set(['outtmpl', 'cookiefile']);

/** Explains why the options of a request are refused, naming the first invalid one; undefined when they are valid. */
export function findOptionsProblem(options: unknown): string | undefined {
  const entries = findEntries(options);
  if (entries === undefined) return 'must be an object';
  for (const [name, value] of entries) {
    const rule = findRule(name, 'request');
    if (rule !== undefined && value !== null && rule(value) === undefined) return `"${name}" cannot be that`;
    const unset = value === null && findRule(name, 'settings') !== undefined;
    if (rule === undefined && !unset && !ignoredWithoutEffect.has(name)) {
      return `"${name.slice(0, 60)}" is not an option that may be set`;
    }
  }
  return undefined;
}

/** Option of the settings that has no effect. */
export interface IgnoredOption {
  readonly option: string;
  readonly reason: string;
  /** True when the user relies on it: the value is not understood or the option is refused. */
  readonly isRelevant: boolean;
}

/** Lists the options of the settings that have no effect, with the reasons. None of them prevents downloads. */
export function findIgnoredOptions(options: Options): readonly IgnoredOption[] {
  return Object.entries(options).flatMap(([name, value]) => toIgnoredOptions(name, value));
}

function toIgnoredOptions(name: string, value: unknown): readonly IgnoredOption[] {
  const option = name.slice(0, 60);
  if (value === null || (evaluatedOptions.has(name) && name !== 'outtmpl')) return [];
  if (name === 'outtmpl') return isTemplate(value) ? [] : [{ option, reason: m.valueNotSupported(), isRelevant: true }];
  if (name === 'postprocessors') {
    return [
      ...findIgnoredPostprocessors(value).map((key) => ({
        option: key,
        reason: m.stepIgnored(),
        isRelevant: false,
      })),
      ...readPostprocessors(value).notUnderstood.map((key) => ({
        option: key,
        reason: m.valueNotSupported(),
        isRelevant: true,
      })),
    ];
  }
  const rule = findRule(name, 'settings');
  if (rule !== undefined)
    return rule(value) === undefined ? [{ option, reason: m.valueNotSupported(), isRelevant: true }] : [];
  if (refusedOptions.has(name)) return [{ option, reason: m.optionUnsafe(), isRelevant: true }];
  return [
    {
      option,
      reason: (ignoredWithoutEffect.get(name) ?? ignoredWithReason.get(name) ?? m.optionUnknown)(),
      isRelevant: false,
    },
  ];
}

/** Converts validated options into command line arguments. An option with the value null is not set. */
export function buildOptionArguments(options: Options, purpose: Purpose = 'download'): readonly string[] {
  const excluded = purpose === 'probe' ? downloadOnlyOptions : listOnlyOptions;
  const set = Object.entries(options).filter(([name, value]) => value !== null && !excluded.has(name));
  // Post-processors come last: one that embeds a picture overrides the option to keep it as a file.
  const sorted = set.toSorted(
    ([first], [second]) => Number(first === 'postprocessors') - Number(second === 'postprocessors'),
  );
  return sorted.flatMap(([name, value]) =>
    name === 'postprocessors' ? readPostprocessors(value).args : (findRule(name, 'settings')?.(value) ?? []),
  );
}

/** Returns whether the options may skip a download. */
export function maySkip(options: Options): boolean {
  return Object.entries(options).some(([name, value]) => value !== null && downloadOnlyOptions.has(name));
}

/**
 * Returns the file name template of the options; undefined without a valid one. Absolute templates must be inside of
 * one of the `roots`: the download folder, or MeTube's.
 */
export function findTemplate(options: Options, roots: readonly string[]): string | undefined {
  const value = options['outtmpl'];
  const templates = typeof value === 'string' ? { default: value } : Object.fromEntries(findEntries(value) ?? []);
  const template: unknown = templates['default'];
  if (typeof template !== 'string') return undefined;
  const root = roots.map((each) => each.replace(/\/*$/, '/')).find((each) => template.startsWith(each));
  const relative = root === undefined ? template : template.slice(root.length);
  return findTemplateProblem(relative) === undefined ? relative : undefined;
}

/** Returns whether a value contains a template, as text or by file type. */
function isTemplate(value: unknown): boolean {
  return typeof value === 'string' || typeof findEntries(value)?.find(([name]) => name === 'default')?.[1] === 'string';
}

function findRule(name: string, source: OptionSource): Rule | undefined {
  if (Object.hasOwn(rules, name)) return rules[name];
  return source === 'settings' && Object.hasOwn(settingsOnlyRules, name) ? settingsOnlyRules[name] : undefined;
}
