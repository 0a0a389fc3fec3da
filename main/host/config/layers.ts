import type { z } from 'zod';
import type { SettingsOrigin, SettingsProblem } from '../../../services/contracts/control/settings.ts';
import { coerce } from './coerce.ts';
import type { SettingsDocument } from './document.ts';
import { secretAt, unknownWithin } from './json-schema.ts';
import { reasonOf } from './reason.ts';
import { isSealed } from './secrets.ts';
import type { Field, Section } from './sections.ts';
import { spelt } from './spelling.ts';

/** What the command line may set. */
export interface CommandLineSettings {
  /** The control listener's port. */
  readonly port?: number;
}

/** Everything above the file. */
export interface OuterLayers {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly commandLine: CommandLineSettings;
}

/** One section with all layers laid over each other. */
export interface ResolvedSection {
  readonly section: Section;
  /** Parsed: every field has a value. */
  readonly values: Readonly<Record<string, unknown>>;
  /** As it was given, only what was set and could be used. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly origins: Readonly<Record<string, SettingsOrigin>>;
}

export interface Resolved {
  readonly sections: ReadonlyMap<string, ResolvedSection>;
  readonly problems: readonly SettingsProblem[];
  readonly warnings: readonly SettingsProblem[];
}

interface Candidate {
  readonly value: unknown;
  readonly origin: SettingsOrigin;
}

const noSuchSetting = 'There is no such setting.';
const portFlag = { flag: '--port', path: 'services.control.port' };

/**
 * Lays default, file, environment and command line over each other. A value that its schema refuses is reported and
 * the next lower layer stands in for it, so that the rest can be used.
 */
export function resolveLayers(sections: readonly Section[], document: SettingsDocument, outer: OuterLayers): Resolved {
  const problems = [...document.problems];
  const warnings = [...document.warnings, ...unknownNames(sections, document), ...unknownVariables(sections, outer)];
  const report = (path: readonly PropertyKey[], message: string, origin: SettingsOrigin): void => {
    const steps = path.map((step) => (typeof step === 'number' ? step : String(step)));
    const line = origin.from === 'file' ? document.line(steps) : undefined;
    const found = { path: steps.join('.'), message: 'name' in origin ? `${origin.name}: ${message}` : message };
    if (problems.some((other) => other.path === found.path && other.message === found.message)) return;
    problems.push(line === undefined ? found : { ...found, line });
  };
  const resolved = sections.map((section) => {
    const inFile = section.id === 'host' ? document.content.host : (ownOf(document.content.services, section.id) ?? {});
    const candidates = new Map<string, Candidate[]>();
    for (const field of section.fields) candidates.set(field.name, layersOf(field, section, inFile, outer, report));
    return resolveSection(section, candidates, report);
  });
  return { sections: new Map(resolved.map((each) => [each.section.id, each])), problems, warnings };
}

type Report = (path: readonly PropertyKey[], message: string, origin: SettingsOrigin) => void;

/** What is given for a field, lowest first. */
function layersOf(
  field: Field,
  section: Section,
  inFile: Readonly<Record<string, unknown>>,
  outer: OuterLayers,
  report: Report,
): Candidate[] {
  const layers: Candidate[] = [];
  const take = (value: unknown, origin: SettingsOrigin): void => {
    const unknown = unknownWithin(value, field.place);
    for (const path of unknown) report([...section.path, field.name, ...path], noSuchSetting, origin);
    // Half of what somebody meant may be another thing, as a login is that lost its name.
    if (unknown.length === 0) layers.push({ value, origin });
  };
  const saved = ownOf(inFile, field.name);
  // `port:` with nothing behind it is a value taken out, not a value of the wrong type.
  if (saved !== undefined && (saved !== null || field.acceptsNull)) take(saved, { from: 'file' });

  const name = field.variables.find((variable) => isSet(outer.environment[variable], field));
  if (name !== undefined) {
    const origin: SettingsOrigin = { from: 'environment', name };
    const coerced = coerce(spelt(name, outer.environment[name] ?? ''), field.place);
    if ('value' in coerced) take(coerced.value, origin);
    else report([...section.path, field.name], coerced.reason, origin);
  }

  if (field.path === portFlag.path && outer.commandLine.port !== undefined) {
    layers.push({ value: outer.commandLine.port, origin: { from: 'command line', name: portFlag.flag } });
  }
  return layers;
}

function resolveSection(
  section: Section,
  candidates: ReadonlyMap<string, Candidate[]>,
  report: Report,
): ResolvedSection {
  for (;;) {
    const tops = section.fields.flatMap((field): [string, Candidate][] => {
      const top = candidates.get(field.name)?.at(-1);
      return top === undefined ? [] : [[field.name, top]];
    });
    const given = Object.fromEntries(tops.map(([name, { value }]) => [name, value]));
    const parsed = section.schema.safeParse(given);
    if (parsed.success) {
      const set = new Map(tops);
      const origins = section.fields.map(({ name }): [string, SettingsOrigin] => [
        name,
        set.get(name)?.origin ?? { from: 'default' },
      ]);
      return { section, values: parsed.data, given, origins: Object.fromEntries(origins) };
    }
    dropRefused(section, candidates, new Map(tops), parsed.error.issues, report);
  }
}

/** Takes away the values that the issues are about. Each call takes at least one, so resolving comes to an end. */
function dropRefused(
  section: Section,
  candidates: ReadonlyMap<string, Candidate[]>,
  tops: ReadonlyMap<string, Candidate>,
  issues: readonly z.core.$ZodIssue[],
  report: Report,
): void {
  const refused = new Set<string>();
  let whole: z.core.$ZodIssue | undefined;
  for (const issue of issues) {
    const field = section.fields.find(({ name }) => name === issue.path[0]);
    const top = field === undefined ? undefined : tops.get(field.name);
    if (field === undefined || top === undefined) {
      whole ??= issue;
      continue;
    }
    refused.add(field.name);
    const reason = isSealed(at(top.value, issue.path.slice(1)))
      ? 'It is sealed, which only "homeport config import" can open; export with --secrets to use it here.'
      : reasonOf(issue, field.secret && secretAt(field.place, issue.path.slice(1)));
    report([...section.path, ...issue.path], reason, top.origin);
  }
  if (refused.size === 0 && whole !== undefined) {
    // A rule about several fields at once. No single one can be blamed, so all that came from outside are taken away
    // first, and if the file contradicts itself the section falls back to its defaults.
    const reason = reasonOf(
      whole,
      section.fields.some((field) => field.secret),
    );
    const outer = [...tops].filter(([, { origin }]) => 'name' in origin);
    for (const [name, { origin }] of outer) {
      refused.add(name);
      report([...section.path, ...whole.path], reason, origin);
    }
    if (outer.length === 0) {
      report([...section.path, ...whole.path], reason, { from: 'file' });
      for (const layers of candidates.values()) layers.length = 0;
    }
  }
  for (const name of refused) candidates.get(name)?.pop();
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    const entries = typeof inner === 'object' && inner !== null ? Object.entries(inner) : [];
    return entries.find(([name]) => name === String(key))?.[1];
  }, value);
}

function unknownNames(sections: readonly Section[], { content, line }: SettingsDocument): SettingsProblem[] {
  const found: SettingsProblem[] = [];
  const warn = (path: readonly string[], message: string): void => {
    const at = line(path);
    found.push({ path: path.join('.'), message, ...(at === undefined ? {} : { line: at }) });
  };
  const check = (path: readonly string[], values: Readonly<Record<string, unknown>>): void => {
    const section = sections.find((each) => each.path.join('.') === path.join('.'));
    if (section === undefined) {
      warn(path, 'There is no such service; it is kept but has no effect.');
      return;
    }
    for (const name of Object.keys(values)) {
      if (!section.fields.some((field) => field.name === name)) {
        warn([...path, name], 'There is no such setting; it is kept but has no effect.');
      }
    }
  };
  check(['host'], content.host);
  for (const [id, values] of Object.entries(content.services)) check(['services', id], values);
  return found;
}

/** A misspelt HOMEPORT_PORT_… would otherwise go unnoticed until something listens on the wrong port. */
function unknownVariables(sections: readonly Section[], { environment }: OuterLayers): SettingsProblem[] {
  const known = new Set(sections.flatMap((section) => section.fields.flatMap((field) => field.variables)));
  return Object.keys(environment)
    .filter((name) => /^HOMEPORT_(PORT|ENABLED)_/.test(name) && !known.has(name) && isSet(environment[name]))
    .sort()
    .map((name) => ({ path: '', message: `${name}: there is no such service or listener; it has no effect.` }));
}

/**
 * An empty variable counts as not set: that is how compose files and unit files leave one out. It is set for a field for
 * which empty means something else than its default.
 */
function isSet(text: string | undefined, field?: Pick<Field, 'emptyIsSet'>): boolean {
  return text !== undefined && (text.trim() !== '' || field?.emptyIsSet === true);
}

function ownOf<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
