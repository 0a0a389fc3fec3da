import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { SettingsProblem } from '../../../services/contracts/control/settings.ts';
import { HostSettings } from './host-settings.ts';
import type { Resolved, ResolvedSection } from './layers.ts';
import { FurtherPorts, Listener, type Section } from './sections.ts';

/** Settings of one service as the host uses them. */
export interface ServiceSettings {
  readonly enabled: boolean;
  /** 0: any free port, or no listener when the service has none. */
  readonly port: number;
  /** Ports of its further listeners by setting (`sshPort`); undefined without any. */
  readonly furtherPorts?: Readonly<Record<string, number>>;
  /** Settings for the service's `create`. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Effective settings: parsed and frozen. */
export interface Settings {
  readonly host: Readonly<HostSettings>;
  readonly services: Readonly<Record<string, ServiceSettings>>;
  /** Paths of engines by name; '' when not set. */
  readonly enginePaths: Readonly<Record<string, string>>;
}

const EnginePaths = z.record(z.string(), z.string());

/** Returns the ports of a service by setting, the main listener first. */
export function portsIn({ port, furtherPorts = {} }: ServiceSettings): ReadonlyMap<string, number> {
  return new Map([['port', port], ...Object.entries(furtherPorts)]);
}

/** Effect of a change on the settings. */
export interface Change {
  /** Paths of the fields whose value or problem changed; e.g. `services.push.port`. */
  readonly changed: readonly string[];
  /** Sections of these fields: `host` or a service's id. */
  readonly sections: readonly string[];
}

export function buildSettings(resolved: Resolved): Settings {
  const services: [string, ServiceSettings][] = [];
  let host: HostSettings | undefined;
  let enginePaths: Record<string, string> = {};
  /** Fields of the host's section by the service they belong to. */
  const hostFields: Record<string, Record<string, unknown>> = {};
  for (const { section, values } of resolved.sections.values()) {
    if (section.id === 'host') {
      host = HostSettings.parse(values);
      for (const [name, owner] of Object.entries(section.owners)) (hostFields[owner] ??= {})[name] = values[name];
      const paths = Object.entries(section.enginePaths);
      enginePaths = EnginePaths.parse(Object.fromEntries(paths.map(([engine, name]) => [engine, values[name]])));
    } else {
      const { enabled, port, ...rest } = values;
      const listener = Listener.parse({ enabled, port });
      const isPort = ([name]: [string, unknown]): boolean => section.furtherPorts.includes(name);
      const entries = Object.entries(rest);
      const furtherPorts = FurtherPorts.parse(Object.fromEntries(entries.filter(isPort)));
      const ownFields = Object.fromEntries(entries.filter((entry) => !isPort(entry)));
      const settings = { ...ownFields, ...hostFields[section.id] };
      const furtherPortsPart = section.furtherPorts.length === 0 ? {} : { furtherPorts };
      services.push([section.id, { ...listener, ...furtherPortsPart, settings }]);
    }
  }
  return freeze({ host: host ?? HostSettings.parse({}), services: Object.fromEntries(services), enginePaths });
}

/** Returns the service that a problem at this path belongs to; undefined for the whole file and the host's section. */
export function getServiceSettings(path: string): string | undefined {
  const [group, id] = path.split('.');
  return group === 'services' ? id : undefined;
}

/** Returns the differences between two states of the settings. */
export function compare(before: Resolved, after: Resolved): Change {
  const changed: string[] = [];
  const sections: string[] = [];
  for (const [id, { section, values }] of after.sections) {
    const old = before.sections.get(id)?.values ?? {};
    // A refused value may be replaced by the same value as its default, so problems are compared too.
    const [problemsBefore, problemsAfter] = [problemsIn(before, section), problemsIn(after, section)];
    const paths = section.fields
      .filter(
        ({ name, path }) =>
          !isDeepStrictEqual(old[name], values[name]) || findDifferences(path, problemsBefore, problemsAfter),
      )
      .map(({ path }) => path);
    const sectionValue = section.path.join('.');
    if (paths.length === 0 && findDifferences(sectionValue, problemsBefore, problemsAfter)) paths.push(sectionValue);
    changed.push(...paths);
    if (paths.length > 0) sections.push(id);
    for (const { name, path } of section.fields) {
      const owner = section.owners[name];
      if (owner !== undefined && paths.includes(path)) sections.push(owner);
    }
  }
  return { changed, sections: [...new Set(sections)] };
}

function problemsIn({ problems }: Resolved, { path }: Section): readonly SettingsProblem[] {
  return problems.filter((problem) => isAtOrBelow(problem.path, path.join('.')));
}

/** Returns whether the problems at a path differ, ignoring line numbers. */
function findDifferences(fieldPath: string, ...lists: readonly (readonly SettingsProblem[])[]): boolean {
  const [first, second] = lists.map((list) =>
    list.filter(({ path }) => isAtOrBelow(path, fieldPath)).map(({ path, message }) => [path, message]),
  );
  return !isDeepStrictEqual(first, second);
}

function isAtOrBelow(path: string, fieldPath: string): boolean {
  return path === fieldPath || path.startsWith(`${fieldPath}.`);
}

/** Returns the value to write: the original one, completed where parsing only added defaults. */
export function writtenValue({ section, original, values }: ResolvedSection, name: string): unknown {
  const parsed = values[name];
  if (!Object.hasOwn(original, name)) return parsed;
  return isFixedPoint(section, name, parsed) ? parsed : original[name];
}

/** Returns false when the schema converts text to something else, such as a duration to a number. */
function isFixedPoint(section: Section, name: string, value: unknown): boolean {
  const reparsed = z.safeParse(section.schema.shape[name] ?? z.never(), value);
  return reparsed.success && isDeepStrictEqual(reparsed.data, value);
}

function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  const plainValue = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!plainValue) return value;
  for (const each of Object.values(value)) freeze(each);
  return Object.freeze(value);
}
