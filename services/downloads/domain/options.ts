import { harmless, notTaken, refused } from './option-names.ts';
import { entriesOf, forDownloadsAlone, forListsAlone, rules, rulesOfTheOwner, type Rule } from './option-rules.ts';
import { postprocessorsLeftOut, readPostprocessors } from './postprocessors.ts';
import { templateProblem } from './template.ts';

/** Options of the extractor by the names of its Python interface, as the peer's users write them down. */
export type Options = Readonly<Record<string, unknown>>;

/** Who asks for an option: some are for the owner of the settings alone. */
export type Asker = 'settings' | 'request';

/** What the extractor is run for. */
export type Purpose = 'probe' | 'download';

/** Read here, where others become arguments: the owner's template and cookies. */
const readHere: ReadonlySet<string> = new Set(['outtmpl', 'cookiefile']);

/** Why the options of a request cannot be used, naming the first that is wrong; undefined when they can. */
export function optionsProblem(options: unknown): string | undefined {
  const entries = entriesOf(options);
  if (entries === undefined) return 'must be an object';
  for (const [name, value] of entries) {
    const rule = ruleOf(name, 'request');
    if (rule !== undefined && value !== null && rule(value) === undefined) return `"${name}" cannot be that`;
    const unset = value === null && ruleOf(name, 'settings') !== undefined;
    if (rule === undefined && !unset && !harmless.has(name)) {
      return `"${name.slice(0, 60)}" is not an option that may be set`;
    }
  }
  return undefined;
}

/** An option of the owner's that has no effect. */
export interface LeftOut {
  readonly option: string;
  readonly reason: string;
  /** Its owner counts on it: it is not understood, or never done here. */
  readonly isMissed: boolean;
}

/** What of the owner's options has no effect, and why. None of them keeps downloads from working. */
export function optionsLeftOut(options: Options): readonly LeftOut[] {
  return Object.entries(options).flatMap(([name, value]) => leftOutOf(name, value));
}

function leftOutOf(name: string, value: unknown): readonly LeftOut[] {
  const option = name.slice(0, 60);
  if (value === null || (readHere.has(name) && name !== 'outtmpl')) return [];
  if (name === 'outtmpl') return isTemplate(value) ? [] : [{ option, reason: notUnderstood, isMissed: true }];
  if (name === 'postprocessors') {
    return [
      ...postprocessorsLeftOut(value).map((key) => ({
        option: key,
        reason: 'this step is not taken',
        isMissed: false,
      })),
      ...readPostprocessors(value).notUnderstood.map((key) => ({ option: key, reason: notUnderstood, isMissed: true })),
    ];
  }
  const rule = ruleOf(name, 'settings');
  if (rule !== undefined) return rule(value) === undefined ? [{ option, reason: notUnderstood, isMissed: true }] : [];
  if (refused.has(name)) return [{ option, reason: 'it would run a program or lead files elsewhere', isMissed: true }];
  return [{ option, reason: harmless.get(name) ?? notTaken.get(name) ?? 'it is not known here', isMissed: false }];
}

const notUnderstood = 'its value is not understood';

/** The options as arguments of the extractor's command line, for checked ones. What is null is not set. */
export function optionArguments(options: Options, purpose: Purpose = 'download'): readonly string[] {
  const without = purpose === 'probe' ? forDownloadsAlone : forListsAlone;
  const found = Object.entries(options).filter(([name, value]) => value !== null && !without.has(name));
  // Steps have the last word: one that puts a picture into the file takes back that it lies beside it.
  const sorted = found.toSorted(
    ([one], [other]) => Number(one === 'postprocessors') - Number(other === 'postprocessors'),
  );
  return sorted.flatMap(([name, value]) =>
    name === 'postprocessors' ? readPostprocessors(value).args : (ruleOf(name, 'settings')?.(value) ?? []),
  );
}

/** Whether the extractor may find nothing to do, and say why. */
export function maySkip(options: Options): boolean {
  return Object.entries(options).some(([name, value]) => value !== null && forDownloadsAlone.has(name));
}

/**
 * The owner's own template of file names; undefined where he names none that can be used. Absolute ones may lie below one
 * of the `roots`: the download folder, here or where the peer had it.
 */
export function templateIn(options: Options, roots: readonly string[]): string | undefined {
  const given = options['outtmpl'];
  const named = typeof given === 'string' ? { default: given } : Object.fromEntries(entriesOf(given) ?? []);
  const template: unknown = named['default'];
  if (typeof template !== 'string') return undefined;
  const root = roots.map((each) => each.replace(/\/*$/, '/')).find((each) => template.startsWith(each));
  const relative = root === undefined ? template : template.slice(root.length);
  return templateProblem(relative) === undefined ? relative : undefined;
}

/** Whether it names a template, as text or by kind of file. */
function isTemplate(value: unknown): boolean {
  return typeof value === 'string' || typeof entriesOf(value)?.find(([name]) => name === 'default')?.[1] === 'string';
}

function ruleOf(name: string, asker: Asker): Rule | undefined {
  if (Object.hasOwn(rules, name)) return rules[name];
  return asker === 'settings' && Object.hasOwn(rulesOfTheOwner, name) ? rulesOfTheOwner[name] : undefined;
}
