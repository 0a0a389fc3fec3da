import * as m from '#messages/config-problems';
import type { z } from 'zod';
import type { SettingsOrigin, SettingsProblem } from '../../../services/contracts/control/settings.ts';
import { coerce } from './coerce.ts';
import { readDocumentProblem, type SettingsDocument } from './document.ts';
import { findSecret, findUnknown } from './json-schema.ts';
import { getReason } from './reason.ts';
import { isSealed } from './secrets.ts';
import type { Field, Section } from './sections.ts';
import { findSpelling } from './spelling.ts';

/** Settings from the command line. */
export interface CommandLineSettings {
  /** Port of the control listener. */
  readonly port?: number;
}

/** Layers above the file. */
export interface OuterLayers {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly commandLine: CommandLineSettings;
}

/** Section with all layers merged. */
export interface ResolvedSection {
  readonly section: Section;
  /** Parsed: every field has a value. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Original values, only those that were set and are valid. */
  readonly original: Readonly<Record<string, unknown>>;
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

const portFlag = { flag: '--port', path: 'services.control.port' };

/**
 * Merges defaults, file, environment and command line. A value that its schema refuses is reported and the next lower
 * layer applies, so that the rest can be used. Problems and warnings are in the current language.
 */
export function resolveLayers(sections: readonly Section[], document: SettingsDocument, outer: OuterLayers): Resolved {
  const problems = document.problems.map(readDocumentProblem);
  const warnings = [
    ...document.warnings.map(readDocumentProblem),
    ...unknownNames(sections, document),
    ...unknownVariables(sections, outer),
  ];
  const report = (path: readonly PropertyKey[], message: string, origin: SettingsOrigin): void => {
    const steps = path.map((step) => (typeof step === 'number' ? step : String(step)));
    const line = origin.from === 'file' ? document.line(steps) : undefined;
    const problem = {
      path: steps.join('.'),
      message: 'name' in origin ? m.fromVariable({ name: origin.name, reason: message }) : message,
    };
    if (problems.some((other) => other.path === problem.path && other.message === problem.message)) return;
    problems.push(line === undefined ? problem : { ...problem, line });
  };
  const resolved = sections.map((section) => {
    const inFile =
      section.id === 'host' ? document.content.host : (getOwnProperty(document.content.services, section.id) ?? {});
    const candidates = new Map<string, Candidate[]>();
    for (const field of section.fields) candidates.set(field.name, getLayers(field, section, inFile, outer, report));
    return resolveSection(section, candidates, report);
  });
  return { sections: new Map(resolved.map((each) => [each.section.id, each])), problems, warnings };
}

type Report = (path: readonly PropertyKey[], message: string, origin: SettingsOrigin) => void;

/** Returns the values of a field, lowest layer first. */
function getLayers(
  field: Field,
  section: Section,
  inFile: Readonly<Record<string, unknown>>,
  outer: OuterLayers,
  report: Report,
): Candidate[] {
  const layers: Candidate[] = [];
  const addLayer = (value: unknown, origin: SettingsOrigin): void => {
    const unknownPaths = findUnknown(value, field.place);
    for (const path of unknownPaths) report([...section.path, field.name, ...path], m.settingUnknown(), origin);
    // A partial value could mean something else, such as a login without its name.
    if (unknownPaths.length === 0) layers.push({ value, origin });
  };
  const saved = getOwnProperty(inFile, field.name);
  // `port:` without a value is a removed value, not a value of the wrong type.
  if (saved !== undefined && (saved !== null || field.acceptsNull)) addLayer(saved, { from: 'file' });

  const name = field.variables.find((variable) => isSet(outer.environment[variable], field));
  if (name !== undefined) {
    const origin: SettingsOrigin = { from: 'environment', name };
    const coerced = coerce(findSpelling(name, outer.environment[name] ?? ''), field.place);
    if ('value' in coerced) addLayer(coerced.value, origin);
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
    const originalValues = Object.fromEntries(tops.map(([name, { value }]) => [name, value]));
    const parsed = section.schema.safeParse(originalValues);
    if (parsed.success) {
      const set = new Map(tops);
      const origins = section.fields.map(({ name }): [string, SettingsOrigin] => [
        name,
        set.get(name)?.origin ?? { from: 'default' },
      ]);
      return { section, values: parsed.data, original: originalValues, origins: Object.fromEntries(origins) };
    }
    dropRefused(section, candidates, new Map(tops), parsed.error.issues, report);
  }
}

/** Removes the values that the issues are about. Each call removes at least one, so the resolution terminates. */
function dropRefused(
  section: Section,
  candidates: ReadonlyMap<string, Candidate[]>,
  tops: ReadonlyMap<string, Candidate>,
  issues: readonly z.core.$ZodIssue[],
  report: Report,
): void {
  const refused = new Set<string>();
  let sectionIssue: z.core.$ZodIssue | undefined;
  for (const issue of issues) {
    const field = section.fields.find(({ name }) => name === issue.path[0]);
    const top = field === undefined ? undefined : tops.get(field.name);
    if (field === undefined || top === undefined) {
      sectionIssue ??= issue;
      continue;
    }
    refused.add(field.name);
    const reason = isSealed(getValue(top.value, issue.path.slice(1)))
      ? m.sealedInFile()
      : getReason(issue, field.secret && findSecret(field.place, issue.path.slice(1)));
    report([...section.path, ...issue.path], reason, top.origin);
  }
  if (refused.size === 0 && sectionIssue !== undefined) {
    // A rule about several fields. No single field can be blamed, so values from outside the file are removed first,
    // and if the file contradicts itself the section uses its defaults.
    const reason = getReason(
      sectionIssue,
      section.fields.some((field) => field.secret),
    );
    const outer = [...tops].filter(([, { origin }]) => 'name' in origin);
    for (const [name, { origin }] of outer) {
      refused.add(name);
      report([...section.path, ...sectionIssue.path], reason, origin);
    }
    if (outer.length === 0) {
      report([...section.path, ...sectionIssue.path], reason, { from: 'file' });
      for (const layers of candidates.values()) layers.length = 0;
    }
  }
  for (const name of refused) candidates.get(name)?.pop();
}

function getValue(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    const entries = typeof inner === 'object' && inner !== null ? Object.entries(inner) : [];
    return entries.find(([name]) => name === String(key))?.[1];
  }, value);
}

function unknownNames(sections: readonly Section[], { content, line }: SettingsDocument): SettingsProblem[] {
  const warnings: SettingsProblem[] = [];
  const warn = (path: readonly string[], message: string): void => {
    const lineNumber = line(path);
    warnings.push({ path: path.join('.'), message, ...(lineNumber === undefined ? {} : { line: lineNumber }) });
  };
  const check = (path: readonly string[], values: Readonly<Record<string, unknown>>): void => {
    const section = sections.find((each) => each.path.join('.') === path.join('.'));
    if (section === undefined) {
      warn(path, m.serviceUnknownIgnored());
      return;
    }
    for (const name of Object.keys(values)) {
      if (!section.fields.some((field) => field.name === name)) {
        warn([...path, name], m.settingUnknownIgnored());
      }
    }
  };
  check(['host'], content.host);
  for (const [id, values] of Object.entries(content.services)) check(['services', id], values);
  return warnings;
}

/** A misspelt HOMEPORT_PORT_… would otherwise remain unnoticed. */
function unknownVariables(sections: readonly Section[], { environment }: OuterLayers): SettingsProblem[] {
  const knownVariables = new Set(sections.flatMap((section) => section.fields.flatMap((field) => field.variables)));
  return Object.keys(environment)
    .filter((name) => /^HOMEPORT_(PORT|ENABLED)_/.test(name) && !knownVariables.has(name) && isSet(environment[name]))
    .sort()
    .map((name) => ({ path: '', message: m.variableUnknown({ name }) }));
}

/**
 * An empty variable counts as not set, as compose files and unit files omit one. It is set for a field in which empty
 * differs from the default.
 */
function isSet(text: string | undefined, field?: Pick<Field, 'emptyIsSet'>): boolean {
  return text !== undefined && (text.trim() !== '' || field?.emptyIsSet === true);
}

function getOwnProperty<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
